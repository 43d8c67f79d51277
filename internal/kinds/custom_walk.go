package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// RefusesNull tells whether a schema takes no null, nor makes it something else.
func RefusesNull(schema map[string]any) bool {
	return schema["nullable"] != true && schema["default"] == nil && JSONType(schema) != ""
}

// JSONType returns the type that a schema asks for, as the API server names it in errors; empty if it takes any.
func JSONType(schema map[string]any) string {
	if schema["x-kubernetes-int-or-string"] == true {
		return "integer,string"
	}
	name, _ := schema["type"].(string)
	return name
}

// WalkDeclared visits every value of a custom resource with its schema; that is nil, and nothing below is visited, where the schema
// has no such field. What it leaves open is not visited, nor what every object has, and the status, which no apply writes.
func WalkDeclared(v any, schema map[string]any, path object.Path, visit func(path object.Path, v any, schema map[string]any)) {
	visitNext := func(path object.Path, v any, schema map[string]any) {
		visit(path, v, schema)
		if schema != nil {
			WalkDeclared(v, schema, path, visit)
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
				visitNext(path.Index(i), item, items)
			}
		}
	}
}

// declared gives the schema of a field; false where the schema leaves it open, as one that says nothing does. Root tells that it is the
// whole object's.
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
