package apiserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// A client-side creation or patch of a custom resource loses its nulls: the server prunes those that the schema does not take
// (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults). What comes out of a
// server-side apply does not go that way. A null there becomes the field's default, stays where the schema says nullable or says
// nothing, and else fails the whole apply (pkg/apiserver/schema/defaulting Default, then validation).

// NullsReason is what the server says of the nulls in what an apply of a custom resource makes of live; empty where it takes them
// all. Asks tells that it depends on the kind's definition, which was not read.
func NullsReason(definition *kinds.CustomSchema, ref object.Ref, live, result map[string]any) (reason string, asks bool) {
	if kinds.Native().Shape(ref.GVK()) != nil || !bringsNull(result, live) {
		return "", false
	}
	if definition == nil {
		return "", true
	}
	var faults []string
	kinds.WalkDeclared(result, definition.Roots[ref.Version], nil, func(path object.Path, v any, schema map[string]any) {
		if v != nil || schema == nil || !kinds.RefusesNull(schema) {
			return
		}
		if was, has := path.Lookup(live); has && was == nil {
			return // what stands there already is not looked at again
		}
		faults = append(faults, fmt.Sprintf("%s: Invalid value: \"null\": %s in body must be of type %s: \"null\"", path, path, kinds.JSONType(schema)))
	})
	if len(faults) == 0 {
		return "", false
	}
	for _, more := range uncheckedRules(definition.ParsedRoot(ref.Version)) {
		faults = append(faults, more.Error())
	}
	return invalidObject(ref, faults), false
}

// invalidObject says in the server's words that an object is invalid (k8s.io/apimachinery pkg/api/errors NewInvalid).
func invalidObject(ref object.Ref, faults []string) string {
	said := strings.Join(faults, ", ")
	if len(faults) > 1 {
		said = "[" + said + "]"
	}
	return fmt.Sprintf("%s %q is invalid: %s", ref.GroupKind().String(), ref.Name, said)
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
