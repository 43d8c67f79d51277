package kinds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// largeDefinition returns a CustomResourceDefinition of about 0.2 MB as JSON, as large as the larger ones of operators: two
// versions, each with 400 fields with descriptions on five levels.
func largeDefinition(b *testing.B) []byte {
	var schema func(levels int) map[string]any
	schema = func(levels int) map[string]any {
		properties := map[string]any{}
		description := strings.Repeat("What this field means to the controller, and when to set it. ", 3)
		for i, leaf := range []map[string]any{
			{"type": "string", "enum": []any{"Always", "Never"}}, {"type": "integer", "format": "int64", "minimum": int64(0)},
			{"type": "boolean", "default": true}, {"type": "array", "items": map[string]any{"type": "string"}, "x-kubernetes-list-type": "set"},
			{"x-kubernetes-int-or-string": true, "anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}},
			{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
		} {
			leaf["description"] = description
			properties[fmt.Sprintf("field%d", i)] = leaf
		}
		if levels > 0 {
			for i := range 2 {
				properties[fmt.Sprintf("below%d", i)] = schema(levels - 1)
			}
		}
		return map[string]any{"type": "object", "description": description, "properties": properties, "required": []any{"field0"}}
	}
	var versions []any
	for _, name := range []string{"v1", "v1beta1"} {
		root := map[string]any{"type": "object", "properties": map[string]any{"spec": schema(5), "status": map[string]any{"type": "object"}}}
		versions = append(versions, map[string]any{"name": name, "schema": map[string]any{"openAPIV3Schema": root}})
	}
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": versions}})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkDefinition reads one large CustomResourceDefinition: its text, the shape of a version, which each comparison needs, and the
// parsed schema, which only predictions of refusals need.
func BenchmarkDefinition(b *testing.B) {
	text := largeDefinition(b)
	var crd map[string]any
	decode := func() {
		if err := utiljson.Unmarshal(text, &crd); err != nil {
			b.Fatal(err)
		}
	}
	decode()
	b.Logf("%d bytes", len(text))
	for name, read := range map[string]func() bool{
		"decode": func() bool { decode(); return true },
		"shape":  func() bool { s, _ := NewCustomSchema(crd); return s.Shape("v1") != nil },
		"parsed": func() bool { s, _ := NewCustomSchema(crd); return s.Parsed("v1").Structural != nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !read() {
					b.Fatal(object.Child(crd, "spec"))
				}
			}
		})
	}
}
