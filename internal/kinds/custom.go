package kinds

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// CustomSchema is what a CustomResourceDefinition says of the versions of its kind: defaults, list types, int-or-strings.
type CustomSchema struct {
	versions map[string]*Shape
	// Roots are the schemas as they are written, one of each version that the definition names, be it served or not.
	Roots  map[string]map[string]any
	parsed map[string]func() ParsedSchema
	// Status names the versions whose status is a subresource.
	Status map[string]bool
	// Webhook tells that a webhook converts between the versions. Without it they are the same but for their name.
	Webhook bool
}

// ParsedSchema is one schema in the two forms by which the API server checks values. They are nil if there is no schema, or an invalid one.
type ParsedSchema struct {
	OpenAPI    *spec.Schema
	Structural *structuralschema.Structural
}

// NewCustomSchema reads a CustomResourceDefinition of apiextensions.k8s.io/v1.
func NewCustomSchema(crd map[string]any) (*CustomSchema, error) {
	versions, ok := object.Child(crd, "spec")["versions"].([]any)
	if !ok {
		return nil, fmt.Errorf("the CustomResourceDefinition has no spec.versions")
	}
	out := &CustomSchema{
		versions: map[string]*Shape{}, Roots: map[string]map[string]any{}, parsed: map[string]func() ParsedSchema{}, Status: map[string]bool{},
	}
	out.Webhook = object.Child(object.Child(crd, "spec"), "conversion")["strategy"] == "Webhook"
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		out.Status[name] = object.Child(version, "subresources")["status"] != nil
		out.Roots[name] = object.Child(object.Child(version, "schema"), "openAPIV3Schema")
		out.parsed[name] = sync.OnceValue(func() ParsedSchema { return parseRoot(out.Roots[name]) })
		if root := out.Roots[name]; root != nil {
			out.versions[name] = customRoot(root)
		}
	}
	return out, nil
}

// Shape returns the shape of one version, nil where the schema has none.
func (s *CustomSchema) Shape(version string) *Shape {
	if s == nil {
		return nil
	}
	return s.versions[version]
}

// Parsed returns the schema of one version, ready to check values.
func (s *CustomSchema) Parsed(version string) ParsedSchema {
	if s == nil || s.parsed[version] == nil {
		return ParsedSchema{}
	}
	return s.parsed[version]()
}

// parseRoot reads the schema of a version as the API server does.
func parseRoot(root map[string]any) ParsedSchema {
	out := ParsedSchema{OpenAPI: ParseSchema(root)}
	typeIntOrStrings(out.OpenAPI)
	written, internal := &apiextensionsv1.JSONSchemaProps{}, &apiextensions.JSONSchemaProps{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(root, written) == nil &&
		apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(written, internal, nil) == nil {
		out.Structural, _ = structuralschema.NewStructural(internal)
	}
	return out
}

// ParseSchema reads a schema as a CustomResourceDefinition has it; nil where there is none or it cannot be read.
func ParseSchema(root map[string]any) *spec.Schema {
	text, err := json.Marshal(root)
	out := &spec.Schema{}
	if root == nil || err != nil || json.Unmarshal(text, out) != nil {
		return nil
	}
	return out
}

// customRoot is the shape of a whole custom resource. Its metadata is the API's own type, whatever the schema says.
func customRoot(schema map[string]any) *Shape {
	root := customShape(schema)
	if root == nil || root.Form != FormStruct {
		return nil
	}
	delete(root.Fields, "status")
	return root
}

// WithMetadata gives a custom kind's shape the API's own metadata; a kind without any schema has nothing else.
func (c *Catalog) WithMetadata(root *Shape) *Shape {
	out := &Shape{Form: FormStruct, Fields: map[string]*shapeField{}}
	if root != nil {
		out.defaults, out.Closed, out.nulls = root.defaults, root.Closed, root.nulls
		for name, f := range root.Fields {
			out.Fields[name] = f
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out.Fields["metadata"] = &shapeField{Shape: c.ofType(reflect.TypeFor[metav1.ObjectMeta]())}
	return out
}

// customShape follows a structural schema: properties, additionalProperties, items and the x-kubernetes extensions.
func customShape(schema map[string]any) *Shape {
	properties := object.Child(schema, "properties")
	switch {
	case schema["x-kubernetes-int-or-string"] == true:
		return &Shape{Form: FormLeaf, Leaf: keepLeaf, alike: alikeQuantity(schema)}
	case len(properties) > 0:
		return customStruct(schema, properties)
	case schema["additionalProperties"] != nil:
		elem := object.Child(schema, "additionalProperties")
		return &Shape{Form: FormMap, Elem: customShape(elem), nulls: nullsOf(elem == nil || elem["nullable"] == true)}
	case schema["type"] == "array":
		return customList(schema)
	case schema["type"] == "object":
		return customStruct(schema, nil)
	case isPreserving(schema):
		return openShape
	}
	return nil
}

// isPreserving reports whether a schema keeps the fields that it does not name.
func isPreserving(schema map[string]any) bool {
	return schema["x-kubernetes-preserve-unknown-fields"] == true
}

// nullsOf is the rule for nulls that the server stores or drops (apiextensions-apiserver v0.36.3
// pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults).
func nullsOf(stored bool) nullRule {
	if stored {
		return nullIsStored
	}
	return nullIsAbsent
}

func customStruct(schema, properties map[string]any) *Shape {
	open := isPreserving(schema)
	s := &Shape{Form: FormStruct, Closed: !open, nulls: nullsOf(open), Fields: map[string]*shapeField{}, defaults: map[string]any{}}
	if schema["x-kubernetes-embedded-resource"] == true {
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			s.Fields[name] = &shapeField{wire: keepAll}
		}
	}
	for name := range properties {
		property := object.Child(properties, name)
		s.Fields[name] = &shapeField{Shape: customShape(property), wire: keepAll, nullable: property["nullable"] == true}
		if value, ok := property["default"]; ok && value != nil {
			s.defaults[name] = value
		}
	}
	return s
}

// customList is a list whose items have keys, or one that is compared as a whole. The order of a set means nothing.
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
		s.alike = AlikeSet
	}
	return s
}

// AlikeSet tells lists that are the same set.
func AlikeSet(a, b any) bool {
	left, ok := a.([]any)
	right, alsoOK := b.([]any)
	return ok && alsoOK && len(left) == len(right) && object.ContainsAll(left, right) && object.ContainsAll(right, left)
}

// alikeQuantity tells equal quantities, where a schema takes an integer or a string. The server stores such a text as it was
// written, so a controller that rewrites 0.5 as 500m has changed nothing. An integer equals a text only where the schema asks
// for quantities: for a port, 8080 and "8080" are different things.
func alikeQuantity(schema map[string]any) func(a, b any) bool {
	pattern, _ := schema["pattern"].(string)
	integers := strings.Contains(pattern, "[KMGTPE]i")
	return func(a, b any) bool {
		p, ok := quantityOf(a, integers)
		q, alsoOK := quantityOf(b, integers)
		return ok && alsoOK && p.Cmp(q) == 0
	}
}

func quantityOf(v any, integers bool) (resource.Quantity, bool) {
	switch v := v.(type) {
	case string:
		return ParseQuantity(v)
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), integers
	}
	return resource.Quantity{}, false
}

// typeIntOrStrings gives the values of a schema that may be an integer or a text those types, of which a definition is silent.
func typeIntOrStrings(s *spec.Schema) {
	if s == nil {
		return
	}
	if both, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); both {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	for name, below := range s.Properties {
		typeIntOrStrings(&below)
		s.Properties[name] = below
	}
	if s.AdditionalProperties != nil {
		typeIntOrStrings(s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		typeIntOrStrings(s.Items.Schema)
	}
}
