package fixing

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithoutServerFields: what somebody can write again is kept, what the server or a tool keeps about the object is not, and the object
// itself stays as it is.
func TestWithoutServerFields(t *testing.T) {
	object := func() map[string]any {
		return map[string]any{
			"kind": "ConfigMap", "data": map[string]any{"status": "kept"}, "status": map[string]any{"phase": "Ready"},
			"metadata": map[string]any{
				"name": "web", "uid": "1f", "resourceVersion": "7", "generation": int64(2), "creationTimestamp": "2026-01-01T00:00:00Z",
				"selfLink": "/x", "managedFields": []any{}, "finalizers": []any{"a/b"},
				"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": `{"kind":"Secret"}`, "mine": "kept"},
			},
		}
	}
	live := object()
	want := map[string]any{
		"kind": "ConfigMap", "data": map[string]any{"status": "kept"},
		"metadata": map[string]any{"name": "web", "finalizers": []any{"a/b"}, "annotations": map[string]any{"mine": "kept"}},
	}
	if diff := cmp.Diff(want, withoutServerFields(live)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(object(), live); diff != "" {
		t.Errorf("the object changed (-before +after):\n%s", diff)
	}
}
