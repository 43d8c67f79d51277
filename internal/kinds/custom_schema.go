package kinds

import (
	"encoding/json"
	"errors"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// CustomSchema is what a CustomResourceDefinition says of the versions of its kind. A nil CustomSchema knows no version. It is safe for
// concurrent use, and makes what it needs of a version at the first question for it.
type CustomSchema struct {
	// versions has one entry for each version that the definition names, be it served or not.
	versions map[string]customVersion
	// Webhook reports whether a webhook converts between the versions. Without one, an object differs between versions only in its
	// apiVersion.
	Webhook bool
}

// customVersion is one version of a custom kind.
type customVersion struct {
	schema      map[string]any
	shape       func() *Shape
	parsed      func() ParsedSchema
	plainStatus bool
}

// ParsedSchema is one schema in the two forms by which the API server checks values. They are nil if there is no schema, or an invalid one.
type ParsedSchema struct {
	OpenAPI    *spec.Schema
	Structural *structuralschema.Structural
}

// NewCustomSchema returns the schema of a CustomResourceDefinition of apiextensions.k8s.io/v1.
func NewCustomSchema(crd map[string]any) (*CustomSchema, error) {
	if _, ok := object.Child(crd, "spec")["versions"].([]any); !ok {
		return nil, errors.New("the CustomResourceDefinition has no spec.versions")
	}
	out := &CustomSchema{versions: map[string]customVersion{}}
	out.Webhook = object.Child(object.Child(crd, "spec"), "conversion")["strategy"] == "Webhook"
	for _, version := range object.Items(object.Child(crd, "spec"), "versions") {
		name, _ := version["name"].(string)
		schema := object.Child(object.Child(version, "schema"), "openAPIV3Schema")
		plainStatus := object.Child(version, "subresources")["status"] == nil
		out.versions[name] = customVersion{
			schema: schema, shape: sync.OnceValue(func() *Shape { return customRoot(schema, plainStatus) }),
			parsed: sync.OnceValue(func() ParsedSchema { return parseSchema(schema) }), plainStatus: plainStatus,
		}
	}
	return out, nil
}

// version returns what the definition says of a version; the zero customVersion if it does not name it.
func (s *CustomSchema) version(name string) (customVersion, bool) {
	if s == nil {
		return customVersion{}, false
	}
	v, known := s.versions[name]
	return v, known
}

// Shape returns the shape of a version; nil if it has no schema.
func (s *CustomSchema) Shape(version string) *Shape {
	v, known := s.version(version)
	if !known {
		return nil
	}
	return v.shape()
}

// Schema returns the schema of a version as the definition has it, and reports whether the definition names the version.
func (s *CustomSchema) Schema(version string) (schema map[string]any, known bool) {
	v, known := s.version(version)
	return v.schema, known
}

// Parsed returns the schema of a version, ready to check values.
func (s *CustomSchema) Parsed(version string) ParsedSchema {
	v, known := s.version(version)
	if !known {
		return ParsedSchema{}
	}
	return v.parsed()
}

// PlainStatus reports whether the status of a version is a field like any other, because the version has no status subresource.
func (s *CustomSchema) PlainStatus(version string) bool {
	v, _ := s.version(version)
	return v.plainStatus
}

// parseSchema parses a schema as the API server does.
func parseSchema(schema map[string]any) ParsedSchema {
	out := ParsedSchema{OpenAPI: ParseOpenAPI(schema)}
	typeIntOrStrings(out.OpenAPI)
	written, internal := &apiextensionsv1.JSONSchemaProps{}, &apiextensions.JSONSchemaProps{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(schema, written) == nil &&
		apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(written, internal, nil) == nil {
		out.Structural, _ = structuralschema.NewStructural(internal)
	}
	return out
}

// ParseOpenAPI parses a schema of a CustomResourceDefinition as it is written there; nil if there is none or it cannot be parsed.
func ParseOpenAPI(schema map[string]any) *spec.Schema {
	text, err := json.Marshal(schema)
	out := &spec.Schema{}
	if schema == nil || err != nil || json.Unmarshal(text, out) != nil {
		return nil
	}
	return out
}

// typeIntOrStrings sets the types of values that may be an integer or a string, which a definition does not name.
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
