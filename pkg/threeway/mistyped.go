package threeway

import "fmt"

// refusesTypes says why the API server refuses a custom resource with a value of another type than its schema has; empty where it
// does not, or where the schema was not read. What live holds is not looked at again (apiextensions-apiserver v0.36.3
// pkg/apiserver/validation, ratcheting). What a server-side apply says of it, the field manager says.
func (c comparer) refusesTypes(ref Ref, was, is map[string]any) string {
	definition := c.in.Schemas[groupKind(ref)]
	if definition == nil || c.in.serverSide() {
		return ""
	}
	var faults []string
	for _, m := range mistypedIn(is, definition.roots[ref.Version]) {
		if before, has := lookup(was, m.path); has && equal(before, m.value) {
			continue
		}
		got := jsonTypeOf(m.value)
		faults = append(faults, fmt.Sprintf("%s: Invalid value: %q: %s in body must be of type %s: %q", m.path, got, m.path, m.want, got))
	}
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
