package threeway

import "fmt"

// refusesCustom says why the API server refuses a custom resource with a value of another type than its schema has, or without a field
// that it requires; empty where it does not, or where the schema was not read. What live holds is not looked at again
// (apiextensions-apiserver v0.36.3 pkg/apiserver/validation, ratcheting). Of types in a server-side apply the field manager speaks.
func (c comparer) refusesCustom(ref Ref, was, is map[string]any) string {
	definition := c.in.Schemas[groupKind(ref)]
	if definition == nil {
		return ""
	}
	stood := func(path Path, v any) bool {
		before, has := lookup(was, path)
		return has && equal(before, v)
	}
	var faults []string
	for _, m := range mistypedIn(is, definition.roots[ref.Version]) {
		if got := jsonTypeOf(m.value); !c.in.serverSide() && !stood(m.path, m.value) {
			faults = append(faults, fmt.Sprintf("%s: Invalid value: %q: %s in body must be of type %s: %q", m.path, got, m.path, m.want, got))
		}
	}
	eachDeclared(is, definition.roots[ref.Version], nil, func(path Path, v any, schema map[string]any) {
		object, _ := v.(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if name := fmt.Sprint(name); object != nil && !has(object, name) && !stood(path, v) {
				faults = append(faults, path.Field(name).String()+": Required value")
			}
		}
	})
	if len(faults) == 0 {
		return ""
	}
	return invalidObject(ref, faults)
}

// mistyped is a value of another type than the schema has.
type mistyped struct {
	path  Path
	value any
	want  string
}

// mistypedIn lists such values of a custom resource.
func mistypedIn(object, root map[string]any) (out []mistyped) {
	eachDeclared(object, root, nil, func(path Path, v any, schema map[string]any) {
		got := jsonTypeOf(v)
		want, _ := schema["type"].(string)
		if v != nil && want != "" && got != want && (want != "number" || got != "integer") {
			out = append(out, mistyped{path, v, want})
		}
	})
	return out
}

// jsonTypeOf is what a schema calls the type of a value.
func jsonTypeOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return ""
}
