package kinds

import (
	"maps"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// visitDeclared is called for a value of a custom resource with the schema of the value; nil if the schema of the resource does not declare
// the field.
type visitDeclared = func(path object.Path, v any, schema map[string]any)

// WalkDeclared calls visit for every value of a custom resource. It does not visit what is below a value that the schema does not declare,
// values that the schema leaves open, the fields that every object has, or a status that is a subresource, which no write of the object
// changes.
func (s *CustomSchema) WalkDeclared(version string, obj map[string]any, visit visitDeclared) {
	v, _ := s.version(version)
	if object.Has(obj, "status") && !v.plainStatus {
		obj = maps.Clone(obj)
		delete(obj, "status")
	}
	walkDeclared(obj, v.schema, nil, visit)
}

func walkDeclared(v any, schema map[string]any, path object.Path, visit visitDeclared) {
	visitNext := func(path object.Path, v any, schema map[string]any) {
		visit(path, v, schema)
		if schema != nil {
			walkDeclared(v, schema, path, visit)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if below, decided := declared(schema, name, len(path) == 0); decided {
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

// declared returns the schema of a field, nil if the schema does not declare it. Decided is false if the schema leaves the field open, as
// one without properties does. IsRoot reports whether the schema is that of the whole object.
func declared(schema map[string]any, name string, isRoot bool) (below map[string]any, decided bool) {
	isMeta := name == "apiVersion" || name == "kind" || name == "metadata"
	if isMeta && (isRoot || schema["x-kubernetes-embedded-resource"] == true) {
		return nil, false
	}
	if below = object.Child(object.Child(schema, "properties"), name); below != nil {
		return below, true
	}
	if below = object.Child(schema, "additionalProperties"); below != nil {
		return below, true
	}
	closed := len(object.Child(schema, "properties")) > 0 && schema["additionalProperties"] == nil
	return nil, closed && !isPreserving(schema)
}
