package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Before it writes anything, Helm has kubectl's schema check the documents that the API server cannot check itself, as no request
// is made of them: those are Lists (k8s.io/kubectl v0.37.1 pkg/validation/schema.go paramVerifyingSchema.ValidateBytes;
// k8s.io/kube-openapi pkg/util/proto/validation). So the items of a List fail for what would cost a lone object a warning at most.
// A rollback checks nothing (helm v3.22.0 pkg/action/rollback.go).

// passesKubectl tells whether kubectl takes a value of another type than the field's: a number or a boolean for a text, and any number for
// an integer (k8s.io/kube-openapi pkg/util/proto/validation primitiveItem.VisitPrimitive).
func passesKubectl(v any, leaf func(any) (any, bool)) bool {
	takes := func(values ...any) bool {
		return slices.ContainsFunc(values, func(v any) bool { _, ok := leaf(v); return ok })
	}
	_, fraction := v.(float64)
	return object.IsScalar(v) && takes("", "1", "2020-01-01T00:00:00Z") || fraction && takes(int64(1))
}

// publishedSchema is the schema of a custom resource as kubectl gets it: open, without a word of what is below, where it may be null or
// keeps unknown fields (apiextensions-apiserver v0.36.3 pkg/controller/openapi/v2/conversion.go ToStructuralOpenAPIV2).
func publishedSchema(schema map[string]any) map[string]any {
	if schema["nullable"] == true || schema["x-kubernetes-preserve-unknown-fields"] == true {
		return map[string]any{}
	}
	out := maps.Clone(schema)
	for _, name := range []string{"items", "additionalProperties"} {
		if below := object.Child(schema, name); below != nil {
			out[name] = publishedSchema(below)
		}
	}
	if properties := object.Child(schema, "properties"); properties != nil {
		fields := make(map[string]any, len(properties))
		for name := range properties {
			fields[name] = publishedSchema(object.Child(properties, name))
		}
		out["properties"] = fields
	}
	return out
}

// faultOfListed is what the schema says first of a value; empty where it takes it. A null as a field's value is nothing to it, one in
// a map or a list is an error.
func faultOfListed(v any, s *kinds.Shape, at string, root bool) string {
	if s == nil || s.Form == kinds.FormPlain || v == nil {
		return ""
	}
	if len(undecoded(v, &kinds.Shape{Form: s.Form, Leaf: s.Leaf, Quantity: s.Quantity}, nil)) > 0 && !(s.Form == kinds.FormLeaf && passesKubectl(v, s.Leaf)) {
		return invalidTypeOfListed(at)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			below := at + "." + name
			switch {
			case root && (name == "apiVersion" || name == "kind" || name == "status"), v[name] == nil && s.Form != kinds.FormMap:
			case s.Prunes(name):
				return fmt.Sprintf("ValidationError(%s): unknown field %q", at, name)
			case v[name] == nil:
				return nilIn(below)
			default:
				if fault := faultOfListed(v[name], s.Field(name), below, false); fault != "" {
					return fault
				}
			}
		}
	case []any:
		for i, item := range v {
			below := fmt.Sprintf("%s[%d]", at, i)
			if item == nil {
				return nilIn(below)
			}
			if fault := faultOfListed(item, s.Item(), below, false); fault != "" {
				return fault
			}
		}
	}
	return ""
}

func invalidTypeOfListed(at string) string {
	return fmt.Sprintf("ValidationError(%s): invalid type", at)
}

func nilIn(at string) string { return `unknown object type "nil" in ` + at }

// mistyped is a value of another type than the schema has.
type mistyped struct {
	path  object.Path
	value any
	want  string
}

// mistypedIn lists such values of a custom resource.
func mistypedIn(obj, root map[string]any) (out []mistyped) {
	kinds.WalkDeclared(obj, root, nil, func(path object.Path, v any, schema map[string]any) {
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

// missingIn lists the fields that the schema of a custom resource requires and the object does not have. To kubectl a null is none.
func missingIn(obj, root map[string]any) (out []object.Path) {
	look := func(path object.Path, v any, schema map[string]any) {
		fields, isMap := v.(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if name := fmt.Sprint(name); isMap && fields[name] == nil {
				out = append(out, path.Field(name))
			}
		}
	}
	look(nil, obj, root)
	kinds.WalkDeclared(obj, root, nil, look)
	return out
}

// ListItemReason says what kubectl's schema has against an item of a List; empty if it takes it. Text is the item as it is written, place
// where it stands: ConfigMapList.items[2].
func ListItemReason(gvk schema.GroupVersionKind, definition *kinds.CustomSchema, text map[string]any, place string) string {
	root := definition.Root(gvk.Version)
	if root["x-kubernetes-preserve-unknown-fields"] == true {
		return "" // kubectl gets nothing of such a schema, not even the metadata (apiextensions-apiserver, controller/openapi/builder buildKubeNative)
	}
	s, published := kinds.Native().Shape(gvk), publishedSchema(root)
	if s == nil {
		s = kinds.Native().WithMetadata(kinds.CustomRoot(published))
	}
	if fault := faultOfListed(text, s, place, true); fault != "" {
		return fault
	}
	for _, odd := range mistypedIn(text, published) {
		if !(object.IsScalar(odd.value) && odd.want == "string") {
			return invalidTypeOfListed(place + "." + odd.path.String())
		}
	}
	for _, path := range missingIn(text, published) {
		above, field := path[:len(path)-1], path[len(path)-1].Name
		return fmt.Sprintf("ValidationError(%s): missing required field %q", strings.TrimSuffix(place+"."+above.String(), "."), field)
	}
	return ""
}
