package values

import (
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// TestNulls wants a warning where a merge patch would lose a null, and none elsewhere.
func TestNulls(t *testing.T) {
	for _, test := range []struct {
		overlay map[string]any
		want    bool
	}{
		{nil, false},
		{map[string]any{"a": map[string]any{"b": "null"}, "l": []any{nil}}, false}, // a merge patch keeps the nulls of lists
		{map[string]any{"a": map[string]any{"b": nil}}, true},
	} {
		r := &absorption.Result{Name: "web", Namespace: "prod", Overlay: test.overlay}
		for _, document := range []Document{Flux(r), ArgoCD(r)} {
			if got := slices.Contains(document.Comment, nullComment); got != test.want {
				t.Errorf("%v: %t", test.overlay, got)
			}
		}
		if slices.Contains(Helmfile(r).Comment, nullComment) {
			t.Errorf("%v: a helmfile is no merge patch", test.overlay)
		}
	}
}
