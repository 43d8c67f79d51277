package threeway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A client-side creation or patch of a custom resource loses its nulls: the server prunes those that the schema does not take
// (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults). What comes out of a
// server-side apply does not go that way. A null there becomes the field's default, stays where the schema says nullable or says
// nothing, and else fails the whole apply (pkg/apiserver/schema/defaulting Default, then validation).

// nullsRefused is what the server says of the nulls in what an apply of a custom resource makes of live; empty where it takes them
// all. Asks tells that it depends on the kind's definition, which was not read.
func (c comparer) nullsRefused(ref Ref, live, result map[string]any) (reason string, asks bool) {
	if c.catalog.native(gvkOf(ref)) != nil || !bringsNull(result, live) {
		return "", false
	}
	definition := c.in.Schemas[groupKind(ref)]
	if definition == nil {
		return "", true
	}
	var faults []string
	eachDeclared(result, definition.roots[ref.Version], nil, func(path Path, v any, schema map[string]any) {
		if v != nil || schema == nil || !refusesNull(schema) {
			return
		}
		if was, has := lookup(live, path); has && was == nil {
			return // what stands there already is not looked at again
		}
		faults = append(faults, fmt.Sprintf("%s: Invalid value: \"null\": %s in body must be of type %s: \"null\"", path, path, jsonType(schema)))
	})
	if len(faults) == 0 {
		return "", false
	}
	for _, more := range uncheckedRules(definition.parsedRoot(ref.Version)) {
		faults = append(faults, more.Error())
	}
	return applyFailed(ref, errors.New(invalidObject(ref, faults))).Error(), false
}

// invalidObject says in the server's words that an object is invalid (k8s.io/apimachinery pkg/api/errors NewInvalid).
func invalidObject(ref Ref, faults []string) string {
	said := strings.Join(faults, ", ")
	if len(faults) > 1 {
		said = "[" + said + "]"
	}
	return fmt.Sprintf("%s %q is invalid: %s", kindOf(ref.Key), ref.Name, said)
}

// refusesNull tells whether a schema takes no null, nor makes it something else.
func refusesNull(schema map[string]any) bool {
	return schema["nullable"] != true && schema["default"] == nil && jsonType(schema) != ""
}

func jsonType(schema map[string]any) string {
	if schema["x-kubernetes-int-or-string"] == true {
		return "integer,string"
	}
	name, _ := schema["type"].(string)
	return name
}

// bringsNull tells whether a value has nulls where live has none.
func bringsNull(v, live any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for name, below := range v {
			if was, had := fieldOf(live, name), has(live, name); below == nil && had && was == nil {
				continue
			}
			if name != "metadata" && name != "status" && bringsNull(below, fieldOf(live, name)) {
				return true
			}
		}
	case []any:
		list, _ := live.([]any)
		return !equal(v, list) && slices.ContainsFunc(v, func(item any) bool { return bringsNull(item, nil) })
	}
	return false
}

// eachDeclared visits every value of a custom resource with its schema; that is nil, and nothing below is visited, where the schema
// has no such field. What it leaves open is not visited, nor what every object has, and the status, which no apply writes.
func eachDeclared(v any, schema map[string]any, path Path, visit func(path Path, v any, schema map[string]any)) {
	visitNext := func(path Path, v any, schema map[string]any) {
		visit(path, v, schema)
		if schema != nil {
			eachDeclared(v, schema, path, visit)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if below, said := declared(schema, name, len(path) == 0); said {
				visitNext(path.Field(name), v[name], below)
			}
		}
	case []any:
		if items := child(schema, "items"); items != nil {
			for i, item := range v {
				visitNext(path.At(i), item, items)
			}
		}
	}
}

// declared gives the schema of a field; false where the schema leaves it open, as one that says nothing does. Root tells that it is the whole object's.
func declared(schema map[string]any, name string, root bool) (below map[string]any, said bool) {
	isMeta := name == "apiVersion" || name == "kind" || name == "metadata"
	if isMeta && (root || schema["x-kubernetes-embedded-resource"] == true) || root && name == "status" {
		return nil, false
	}
	if below = child(child(schema, "properties"), name); below != nil {
		return below, true
	}
	if below = child(schema, "additionalProperties"); below != nil {
		return below, true
	}
	closed := len(child(schema, "properties")) > 0 && schema["additionalProperties"] == nil
	return nil, closed && schema["x-kubernetes-preserve-unknown-fields"] != true
}
