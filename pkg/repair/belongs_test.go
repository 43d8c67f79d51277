package repair

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestOwnershipChangesMeanwhile checks that an object that another release takes over between plan and write keeps what it has, and that
// in the release's own namespace missing annotations prevent nothing.
func TestOwnershipChangesMeanwhile(t *testing.T) {
	const lost = "its annotations no longer name this release: they changed after the plan was made"
	own, other := "d", "e"
	for name, c := range map[string]struct {
		namespace string
		now       map[string]any
		want      string
	}{
		"taken over":          {own, map[string]any{object.ReleaseNameAnnotation: "s", object.ReleaseNamespaceAnnotation: "d"}, lost},
		"without owner":       {own, nil, ""},
		"outside, taken over": {other, map[string]any{object.ReleaseNameAnnotation: "r", object.ReleaseNamespaceAnnotation: "x"}, lost},
		"outside, no owner":   {other, nil, lost},
		"outside, as it was":  {other, map[string]any{object.ReleaseNameAnnotation: "r", object.ReleaseNamespaceAnnotation: "d"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan, m := staged(t, clientSide, "one")
			plan.Objects[0].Ref.Namespace = c.namespace
			metadata := m.objects["one"]["metadata"].(map[string]any)
			if metadata["annotations"] = c.now; c.now == nil {
				delete(metadata, "annotations")
			}
			out := plan.Run(t.Context(), m, RunOptions{})
			written := len(m.writes) > 0 && out[0].Status == report.FixFixed
			if out[0].Reason != c.want || written != (c.want == "") {
				t.Errorf("%q, written: %q", told(out), m.writes)
			}
		})
	}
}
