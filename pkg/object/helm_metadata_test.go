package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHelmMetadata checks that unusual metadata becomes what Helm makes of it.
func TestHelmMetadata(t *testing.T) {
	owned := map[string]any{ReleaseNameAnnotation: "web", ReleaseNamespaceAnnotation: "prod"}
	managed := map[string]any{ManagedByLabel: "Helm"}
	tests := []struct {
		name string
		in   map[string]any
		want any
	}{
		{"none", map[string]any{"name": "a"}, map[string]any{"name": "a", "labels": managed, "annotations": owned}},
		{"null", map[string]any{"labels": nil, "annotations": nil}, map[string]any{"labels": managed, "annotations": owned}},
		{"kept", map[string]any{"labels": map[string]any{"a": "1"}, "annotations": map[string]any{"b": "2"}}, map[string]any{
			"labels":      map[string]any{"a": "1", ManagedByLabel: "Helm"},
			"annotations": map[string]any{"b": "2", ReleaseNameAnnotation: "web", ReleaseNamespaceAnnotation: "prod"}}},
		{"overwritten", map[string]any{"labels": map[string]any{ManagedByLabel: "Custom"}}, map[string]any{
			"labels": managed, "annotations": owned}},
		{"null value", map[string]any{"labels": map[string]any{"a": nil}}, map[string]any{
			"labels": map[string]any{"a": "", ManagedByLabel: "Helm"}, "annotations": owned}},
		{"number drops the map", map[string]any{"labels": map[string]any{"a": int64(1), "b": "2"}}, map[string]any{
			"labels": managed, "annotations": owned}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj := map[string]any{"kind": "ConfigMap", "metadata": tt.in, "data": map[string]any{"k": "v"}}
			got := HelmMetadata(obj, "web", "prod")
			want := map[string]any{"kind": "ConfigMap", "metadata": tt.want, "data": map[string]any{"k": "v"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("HelmMetadata (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHelmMetadataKeepsItsInput checks that the input does not change, and what absent metadata and null become.
func TestHelmMetadataKeepsItsInput(t *testing.T) {
	obj := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}}}
	HelmMetadata(obj, "web", "prod")
	want := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}}}
	if diff := cmp.Diff(want, obj); diff != "" {
		t.Errorf("input changed (-want +got):\n%s", diff)
	}
	if got := HelmMetadata(map[string]any{"metadata": nil}, "web", "prod"); got["metadata"] != nil {
		t.Errorf("metadata: null: got %v, want null as Helm leaves it", got["metadata"])
	}
	if got := HelmMetadata(map[string]any{}, "web", "prod"); got["metadata"] == nil {
		t.Error("no metadata: Helm creates it")
	}
}
