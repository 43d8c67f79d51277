package apiserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// A client-side creation or patch of a custom resource loses its nulls: the server prunes those that the schema does not allow
// (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults). It does not prune the result of a
// server-side apply. A null there becomes the field's default, is stored if the schema says nullable or nothing, and else fails the whole
// apply (pkg/apiserver/schema/defaulting Default, then validation).

// NullsReason returns the server's error for the nulls in the result of applying a custom resource to live; empty if it accepts them all.
// WantsSchema is set if that depends on the kind's definition, which was not read.
func NullsReason(definition *kinds.CustomSchema, ref object.Ref, live, result map[string]any) (reason string, wantsSchema bool) {
	if kinds.Native().Shape(ref.GVK()) != nil || !addsNull(result, live) {
		return "", false
	}
	if definition == nil {
		return "", true
	}
	var errs []string
	definition.WalkDeclared(ref.Version, result, func(path object.Path, v any, schema map[string]any) {
		if v != nil || schema == nil || !refusesNull(schema) {
			return
		}
		if was, has := path.Lookup(live); has && was == nil {
			return // the server does not check again what is stored already
		}
		const refusal = `%[1]s: Invalid value: "null": %[1]s in body must be of type %[2]s: "null"`
		errs = append(errs, fmt.Sprintf(refusal, path, jsonType(schema)))
	})
	if len(errs) == 0 {
		return "", false
	}
	for _, more := range uncheckedRules(definition.Parsed(ref.Version).OpenAPI) {
		errs = append(errs, more.Error())
	}
	return invalidObject(ref, errs), false
}

// invalidObject returns the server's error for an invalid object (k8s.io/apimachinery pkg/api/errors NewInvalid).
func invalidObject(ref object.Ref, errs []string) string {
	text := strings.Join(errs, ", ")
	if len(errs) > 1 {
		text = "[" + text + "]"
	}
	return fmt.Sprintf("%s %q is invalid: %s", ref.GroupKind().String(), ref.Name, text)
}

// refusesNull reports whether the server neither accepts a null by a schema nor replaces it by a default.
func refusesNull(schema map[string]any) bool {
	return schema["nullable"] != true && schema["default"] == nil && jsonType(schema) != ""
}

// jsonType returns the type that a schema asks for, as the API server names it in errors; empty if it accepts any.
func jsonType(schema map[string]any) string {
	if schema["x-kubernetes-int-or-string"] == true {
		return "integer,string"
	}
	name, _ := schema["type"].(string)
	return name
}

// addsNull reports whether a value has nulls where live has none.
func addsNull(v, live any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for name, below := range v {
			if was, had := object.Field(live, name), object.Has(live, name); below == nil && had && was == nil {
				continue
			}
			if name != "metadata" && name != "status" && addsNull(below, object.Field(live, name)) {
				return true
			}
		}
	case []any:
		list, _ := live.([]any)
		return !object.Equal(v, list) && slices.ContainsFunc(v, func(item any) bool { return addsNull(item, nil) })
	}
	return false
}
