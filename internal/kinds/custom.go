package kinds

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
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
