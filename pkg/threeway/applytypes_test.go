package threeway

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// applyTypesOf reads CustomResourceDefinitions as the API server publishes them: one OpenAPI document for each served group and
// version.
func applyTypesOf(t testing.TB, text string) map[schema.GroupVersion]*engine.ApplyTypes {
	t.Helper()
	schemas := map[schema.GroupVersion]map[string]any{}
	for _, o := range objectsOf(t, text) {
		spec := object.Child(o.Content, "spec")
		group, _ := spec["group"].(string)
		kind, _ := object.Child(spec, "names")["kind"].(string)
		versions, _ := spec["versions"].([]any)
		for _, v := range versions {
			version, _ := v.(map[string]any)
			name, _ := version["name"].(string)
			if version["served"] == false {
				continue
			}
			gv := schema.GroupVersion{Group: group, Version: name}
			if schemas[gv] == nil {
				schemas[gv] = map[string]any{"ObjectMeta": publishedMeta()}
			}
			schemas[gv][kind] = published(gv.WithKind(kind), object.Child(object.Child(version, "schema"), "openAPIV3Schema"))
		}
	}
	out := map[schema.GroupVersion]*engine.ApplyTypes{}
	for gv, named := range schemas {
		text, err := json.Marshal(map[string]any{"openapi": "3.0.0", "components": map[string]any{"schemas": named}})
		if err != nil {
			t.Fatal(err)
		}
		if out[gv], err = engine.NewApplyTypes(text); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// published returns the schema of a definition as a document has it.
func published(gvk schema.GroupVersionKind, root map[string]any) map[string]any {
	out, _ := object.Copy(root).(map[string]any)
	kinds.SetDefault(out, "properties", map[string]any{})
	properties := object.Child(out, "properties")
	properties["apiVersion"], properties["kind"] = map[string]any{"type": "string"}, map[string]any{"type": "string"}
	properties["metadata"] = map[string]any{"allOf": []any{map[string]any{"$ref": "#/components/schemas/ObjectMeta"}}}
	out[engine.KindExtension] = []any{map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
	return out
}

// publishedMeta returns as much of the metadata's schema as cases need.
func publishedMeta() map[string]any {
	text := map[string]any{"type": "string"}
	texts := map[string]any{"type": "object", "additionalProperties": text}
	return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": map[string]any{
		"name": text, "namespace": text, "labels": texts, "annotations": texts,
		"finalizers": map[string]any{"type": "array", "items": text, "x-kubernetes-list-type": "set"},
	}}
}
