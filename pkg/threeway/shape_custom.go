package threeway

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CustomSchema is what a CustomResourceDefinition says of the versions of its kind: defaults, list types, int-or-strings.
type CustomSchema struct {
	versions map[string]*shape
}

// NewCustomSchema reads a CustomResourceDefinition of apiextensions.k8s.io/v1.
func NewCustomSchema(crd map[string]any) (*CustomSchema, error) {
	versions, ok := child(crd, "spec")["versions"].([]any)
	if !ok {
		return nil, fmt.Errorf("the CustomResourceDefinition has no spec.versions")
	}
	out := &CustomSchema{versions: map[string]*shape{}}
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if root := child(child(version, "schema"), "openAPIV3Schema"); root != nil {
			out.versions[name] = customRoot(root)
		}
	}
	return out, nil
}

// at gives the shape of one version, nil where the schema has none.
func (s *CustomSchema) at(version string) *shape {
	if s == nil {
		return nil
	}
	return s.versions[version]
}

// customRoot is the shape of a whole custom resource. Its metadata is the API's own type, whatever the schema says.
func customRoot(schema map[string]any) *shape {
	root := customShape(schema)
	if root == nil || root.form != formStruct {
		return nil
	}
	delete(root.fields, "status")
	return root
}

// withMetadata gives a custom kind's shape the API's own metadata; a kind without any schema has nothing else.
func (c *catalog) withMetadata(root *shape) *shape {
	out := &shape{form: formStruct, fields: map[string]*shapeField{}}
	if root != nil {
		out.defaults, out.closed = root.defaults, root.closed
		for name, f := range root.fields {
			out.fields[name] = f
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out.fields["metadata"] = &shapeField{shape: c.ofType(reflect.TypeFor[metav1.ObjectMeta]())}
	return out
}

// customShape follows a structural schema: properties, additionalProperties, items and the x-kubernetes extensions.
func customShape(schema map[string]any) *shape {
	properties, _ := schema["properties"].(map[string]any)
	closed := schema["x-kubernetes-preserve-unknown-fields"] != true && schema["x-kubernetes-embedded-resource"] != true
	switch {
	case schema["x-kubernetes-int-or-string"] == true:
		return &shape{form: formLeaf, leaf: quantityText}
	case len(properties) > 0:
		return customStruct(properties, closed)
	case child(schema, "additionalProperties") != nil:
		return &shape{form: formMap, elem: customShape(child(schema, "additionalProperties")), nulls: nullIsAbsent}
	case schema["type"] == "array":
		return &shape{form: formList, elem: customShape(child(schema, "items")), list: customList(schema)}
	case schema["type"] == "object":
		return customStruct(nil, closed)
	}
	return nil
}

func customStruct(properties map[string]any, closed bool) *shape {
	s := &shape{form: formStruct, closed: closed, fields: map[string]*shapeField{}, defaults: map[string]any{}}
	for name, p := range properties {
		property, _ := p.(map[string]any)
		s.fields[name] = &shapeField{shape: customShape(property), wire: keepAll}
		if value, ok := property["default"]; ok {
			s.defaults[name] = value
		}
	}
	return s
}

func customList(schema map[string]any) listRule {
	if schema["x-kubernetes-list-type"] != "map" {
		return listRule{}
	}
	keys, _ := schema["x-kubernetes-list-map-keys"].([]any)
	rule := listRule{}
	for _, k := range keys {
		if name, ok := k.(string); ok {
			rule.keys = append(rule.keys, name)
		}
	}
	return rule
}

// quantityText makes equal quantities equal where a schema takes an integer or a string. The server stores such a text as it
// was written, so a controller that rewrites 0.5 as 500m has changed nothing. Other texts stay as they are.
func quantityText(v any) (any, bool) {
	text, ok := v.(string)
	if !ok {
		return v, true
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return v, true
	}
	return q.String(), true
}
