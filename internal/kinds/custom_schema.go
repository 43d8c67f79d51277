package kinds

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// CustomSchema is what a CustomResourceDefinition says about the versions of its kind. A nil CustomSchema knows no version. It is safe
// for concurrent use, and parses a version on first use.
type CustomSchema struct {
	// versions has one entry for each version that the definition names, served or not.
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
	served      bool
}

// ParsedSchema is one schema in the two forms that the API server checks values with. They are nil if there is no schema, or an invalid
// one.
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
			parsed: sync.OnceValue(func() ParsedSchema { return parseSchema(schema) }), plainStatus: plainStatus, served: version["served"] == true,
		}
	}
	return out, nil
}

// version returns what the definition says about a version, or the zero customVersion and false if it does not name it.
func (s *CustomSchema) version(name string) (customVersion, bool) {
	if s == nil {
		return customVersion{}, false
	}
	v, known := s.versions[name]
	return v, known
}

// Shape returns the shape of a version, or nil if it has no schema.
func (s *CustomSchema) Shape(version string) *Shape {
	if v, known := s.version(version); known {
		return v.shape()
	}
	return nil
}

// Schema returns the schema of a version as the definition has it, and reports whether the definition names the version.
func (s *CustomSchema) Schema(version string) (schema map[string]any, known bool) {
	v, known := s.version(version)
	return v.schema, known
}

// Parsed returns the schema of a version, ready to check values.
func (s *CustomSchema) Parsed(version string) ParsedSchema {
	if v, known := s.version(version); known {
		return v.parsed()
	}
	return ParsedSchema{}
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

// ParseOpenAPI parses a schema of a CustomResourceDefinition as it is written there. It returns nil if there is none or it cannot
// be parsed.
func ParseOpenAPI(schema map[string]any) *spec.Schema {
	text, err := json.Marshal(schema)
	out := &spec.Schema{}
	if schema == nil || err != nil || json.Unmarshal(text, out) != nil {
		return nil
	}
	return out
}

// typeIntOrStrings sets the types of values that may be an integer or a string. A definition does not name them.
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

// customRoot returns the shape of a whole custom resource. Its metadata has the API's own type, whatever the schema says.
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

// customStruct returns the shape of an object with properties. The shape is closed, because the server prunes other fields, unless the
// schema preserves unknown fields.
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

// customList returns the shape of a list whose items have keys, or of a list that is compared as one value. The order of a set has no
// meaning.
func customList(schema map[string]any) *Shape {
	s := &Shape{Form: FormList, Elem: customShape(object.Child(schema, "items")), nulls: nullIsAbsent}
	switch schema["x-kubernetes-list-type"] {
	case "map":
		s.List.Keys = object.Texts(schema["x-kubernetes-list-map-keys"])
	case "set":
		s.alike = object.EqualSets
	}
	return s
}

// quantityUnits is a part of the pattern that controller-gen writes for every resource.Quantity of a Go type. A port or a percentage is an
// int-or-string too, but has no pattern.
const quantityUnits = "[KMGTPE]i"

// customIntOrString returns the shape of a value that is an integer or a text. The server stores both as they are written. If the schema
// asks for a quantity, 0.5 and 500m mean the same: a controller may decode one and write the other. Otherwise 8080 and "8080" are two
// values.
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

// quantityOf parses a text or an integer as a quantity.
func quantityOf(v any) (resource.Quantity, bool) {
	switch v := v.(type) {
	case string:
		return ParseQuantity(v)
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), true
	}
	return resource.Quantity{}, false
}

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

// Pruned returns an object without the fields that the schema of a version does not have, as the API server reads it from its store. The
// object does not change.
func (s *CustomSchema) Pruned(version string, obj map[string]any) map[string]any {
	structural := s.Parsed(version).Structural
	if structural == nil {
		return obj
	}
	out, _ := object.Copy(obj).(map[string]any)
	structuralpruning.Prune(out, structural, true)
	return out
}

// Lost lists what another definition of the kind takes from its objects: the served versions that it does not serve, and the fields of the
// others that it does not have. An item of a list or a map is written as [*].
func (s *CustomSchema) Lost(next *CustomSchema) (lost []string) {
	for _, name := range object.SortedKeys(s.versions) {
		before, after := s.versions[name], next.versions[name]
		switch {
		case !before.served:
		case !after.served:
			lost = append(lost, "version "+name)
		default:
			for _, path := range lostFields(before.schema, after.schema, "") {
				lost = append(lost, path+" of "+name)
			}
		}
	}
	return lost
}

// lostFields lists the fields that a schema names and that the API server drops by another schema.
func lostFields(before, after map[string]any, path string) (lost []string) {
	if isPreserving(after) {
		return nil
	}
	properties, values := object.Child(after, "properties"), object.Child(after, "additionalProperties")
	for _, name := range object.SortedKeys(object.Child(before, "properties")) {
		if path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		below := object.Child(properties, name)
		if below == nil {
			below = values
		}
		inside := name // which may begin with a dot
		if path != "" {
			inside = path + "." + name
		}
		if below == nil && after["additionalProperties"] != true {
			lost = append(lost, inside)
			continue
		}
		lost = append(lost, lostFields(object.Child(object.Child(before, "properties"), name), below, inside)...)
	}
	for _, key := range []string{"additionalProperties", "items"} {
		if next := object.Child(after, key); next != nil {
			lost = append(lost, lostFields(object.Child(before, key), next, path+"[*]")...)
		}
	}
	return lost
}
