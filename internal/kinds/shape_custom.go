package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// customRoot returns the shape of a whole custom resource. Its metadata is of the API's own type, whatever the schema says.
func customRoot(schema map[string]any, plainStatus bool) *Shape {
	root := customShape(schema)
	if root == nil || root.Form != FormStruct {
		return nil
	}
	if root.PlainStatus = plainStatus; !plainStatus {
		delete(root.Fields, "status")
	}
	return withMetadata(root)
}

// customShape returns the shape of a value with a structural schema: properties, additionalProperties, items and the x-kubernetes
// extensions.
func customShape(schema map[string]any) *Shape {
	properties := object.Child(schema, "properties")
	switch {
	case schema["x-kubernetes-int-or-string"] == true:
		return customIntOrString(schema)
	case len(properties) > 0:
		return customStruct(schema, properties)
	case schema["additionalProperties"] != nil:
		elem := object.Child(schema, "additionalProperties")
		return &Shape{Form: FormMap, Elem: customShape(elem), nulls: customNulls(elem == nil || elem["nullable"] == true)}
	case schema["type"] == "array":
		return customList(schema)
	case schema["type"] == "object":
		return customStruct(schema, nil)
	case isPreserving(schema):
		return openShape
	}
	return nil
}

// isPreserving reports whether the server keeps fields that the schema does not name.
func isPreserving(schema map[string]any) bool {
	return schema["x-kubernetes-preserve-unknown-fields"] == true
}

// customNulls returns the rule for nulls that the server stores or drops (apiextensions-apiserver v0.36.3
// pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults).
func customNulls(stored bool) nullRule {
	if stored {
		return nullIsStored
	}
	return nullIsAbsent
}

// customStruct returns the shape of an object with properties. It is closed, which means that the server prunes other fields, unless the
// schema says that unknown fields are preserved.
func customStruct(schema, properties map[string]any) *Shape {
	open := isPreserving(schema)
	s := &Shape{Form: FormStruct, closed: !open, nulls: customNulls(open), Fields: map[string]*structField{}, defaults: map[string]any{}}
	// An embedded resource may have these fields without naming them.
	if schema["x-kubernetes-embedded-resource"] == true {
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			s.Fields[name] = &structField{wire: keepAll}
		}
	}
	for name := range properties {
		property := object.Child(properties, name)
		s.Fields[name] = &structField{Shape: customShape(property), wire: keepAll, nullable: property["nullable"] == true}
		if value, ok := property["default"]; ok && value != nil {
			s.defaults[name] = value
		}
	}
	return s
}

// customList returns the shape of a list whose items have keys, or of one that is compared as one value. The order of a set means nothing.
func customList(schema map[string]any) *Shape {
	s := &Shape{Form: FormList, Elem: customShape(object.Child(schema, "items")), nulls: nullIsAbsent}
	switch schema["x-kubernetes-list-type"] {
	case "map":
		keys, _ := schema["x-kubernetes-list-map-keys"].([]any)
		for _, k := range keys {
			if name, ok := k.(string); ok {
				s.List.Keys = append(s.List.Keys, name)
			}
		}
	case "set":
		s.alike = object.EqualSets
	}
	return s
}

// quantityUnits is a part of the pattern that controller-gen writes for every resource.Quantity of a Go type. A port or a percentage is an
// int-or-string too, and has no pattern.
const quantityUnits = "[KMGTPE]i"

// customIntOrString returns the shape of a value that is an integer or a text. The server stores both as they are written. If the schema
// asks for a quantity, a controller that decodes 0.5 and writes 500m has changed nothing. Otherwise they are plain JSON: 8080 and "8080"
// are two values.
func customIntOrString(schema map[string]any) *Shape {
	s := &Shape{Form: FormLeaf, Canonical: unchanged}
	if pattern, _ := schema["pattern"].(string); strings.Contains(pattern, quantityUnits) {
		s.alike = sameQuantity
	}
	return s
}

// sameQuantity reports whether two values are equal quantities.
func sameQuantity(a, b any) bool {
	p, ok := quantityOf(a)
	q, alsoOK := quantityOf(b)
	return ok && alsoOK && p.Cmp(q) == 0
}

// quantityOf returns the quantity that a text or an integer is.
func quantityOf(v any) (resource.Quantity, bool) {
	switch v := v.(type) {
	case string:
		return ParseQuantity(v)
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), true
	}
	return resource.Quantity{}, false
}
