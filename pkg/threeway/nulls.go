package threeway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// valueOf is a side as a finding has it.
func (w *walker) valueOf(s side) any {
	if w.custom && s.present && s.value == nil {
		return object.Null{}
	}
	return object.Copy(s.orNil())
}

// settleNulls decides what the nulls of manifests have become at one place of a custom resource whose schema lets the server store them.
// An apply stores a null each time. Client-side Helm stores it where it creates the object; a patch that brings it takes the field away,
// so that it is absent or has its default, and later patches do not mention it. Which of these happened long ago is not known, so
// neither an absent field nor a default that the release itself caused is drift.
func (w *walker) settleNulls(path object.Path, n sides) sides {
	_, was := n.old.value.(object.CustomNull)
	_, is := n.desired.value.(object.CustomNull)
	if was {
		n.old.value, n.old.present = w.storedNull(path, n.live)
	}
	switch {
	case is && n.storesNulls:
		n.desired.value = nil
	case is && was:
		n.desired.value, n.desired.present = n.old.value, n.old.present
	case is:
		n.desired.value, n.desired.present = n.result.value, n.result.present
	}
	for _, s := range []*side{&n.last, &n.again, &n.atOnce} {
		if _, null := s.value.(object.CustomNull); null {
			s.value, s.present = nil, !is || n.desired.present
			if is {
				s.value = n.desired.value
			}
		}
	}
	return n
}

// storedNull is what the null of old's manifest was stored as, false where it left nothing.
func (w *walker) storedNull(path object.Path, live side) (any, bool) {
	switch {
	case w.nullsStored:
		return nil, true
	case !live.present:
		return nil, false
	case live.value != nil && w.isDefault(path, live.value) && !w.isEdit(w.owners.OwnersOf(path)):
		return live.value, true
	}
	return nil, true
}

// plainNulls is a normal form with the nulls of a custom resource's manifest as the server stores them when it creates the object.
func plainNulls(v any) any {
	switch v := v.(type) {
	case object.CustomNull:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = plainNulls(below)
		}
		return out
	}
	return v
}

// A client-side creation or patch of a custom resource loses its nulls: the server prunes those that the schema does not take
// (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults). What comes out of a
// server-side apply does not go that way. A null there becomes the field's default, stays where the schema says nullable or says
// nothing, and else fails the whole apply (pkg/apiserver/schema/defaulting Default, then validation).

// nullsRefused is what the server says of the nulls in what an apply of a custom resource makes of live; empty where it takes them
// all. Asks tells that it depends on the kind's definition, which was not read.
func (c comparer) nullsRefused(ref object.Ref, live, result map[string]any) (reason string, asks bool) {
	if c.catalog.native(ref.GVK()) != nil || !bringsNull(result, live) {
		return "", false
	}
	definition := c.in.Schemas[ref.GroupKind()]
	if definition == nil {
		return "", true
	}
	var faults []string
	eachDeclared(result, definition.roots[ref.Version], nil, func(path object.Path, v any, schema map[string]any) {
		if v != nil || schema == nil || !refusesNull(schema) {
			return
		}
		if was, has := path.Lookup(live); has && was == nil {
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
func invalidObject(ref object.Ref, faults []string) string {
	said := strings.Join(faults, ", ")
	if len(faults) > 1 {
		said = "[" + said + "]"
	}
	return fmt.Sprintf("%s %q is invalid: %s", ref.GroupKind().String(), ref.Name, said)
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
			if was, had := object.Field(live, name), object.Has(live, name); below == nil && had && was == nil {
				continue
			}
			if name != "metadata" && name != "status" && bringsNull(below, object.Field(live, name)) {
				return true
			}
		}
	case []any:
		list, _ := live.([]any)
		return !object.Equal(v, list) && slices.ContainsFunc(v, func(item any) bool { return bringsNull(item, nil) })
	}
	return false
}

// eachDeclared visits every value of a custom resource with its schema; that is nil, and nothing below is visited, where the schema
// has no such field. What it leaves open is not visited, nor what every object has, and the status, which no apply writes.
func eachDeclared(v any, schema map[string]any, path object.Path, visit func(path object.Path, v any, schema map[string]any)) {
	visitNext := func(path object.Path, v any, schema map[string]any) {
		visit(path, v, schema)
		if schema != nil {
			eachDeclared(v, schema, path, visit)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if below, said := declared(schema, name, len(path) == 0); said {
				visitNext(path.Field(name), v[name], below)
			}
		}
	case []any:
		if items := object.Child(schema, "items"); items != nil {
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
	if below = object.Child(object.Child(schema, "properties"), name); below != nil {
		return below, true
	}
	if below = object.Child(schema, "additionalProperties"); below != nil {
		return below, true
	}
	closed := len(object.Child(schema, "properties")) > 0 && schema["additionalProperties"] == nil
	return nil, closed && schema["x-kubernetes-preserve-unknown-fields"] != true
}
