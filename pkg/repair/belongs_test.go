package repair

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestOwnershipChangesMeanwhile checks that an object that another release takes over between plan and write keeps what it has, and that
// in the release's own namespace missing annotations prevent nothing.
func TestOwnershipChangesMeanwhile(t *testing.T) {
	const lost = "its annotations do not name this release: they changed after the plan was made"
	own, other := "d", "e"
	taken := map[string]any{object.ReleaseNameAnnotation: "s", object.ReleaseNamespaceAnnotation: "d"}
	for name, c := range map[string]struct {
		namespace string
		unowned   bool // at the plan
		now       map[string]any
		want      string
	}{
		"taken over":          {own, false, taken, lost},
		"without owner":       {own, false, nil, ""},
		"unowned, taken over": {own, true, taken, lost},
		"unowned, as it was":  {own, true, nil, ""},
		"outside, taken over": {other, false, map[string]any{object.ReleaseNameAnnotation: "r", object.ReleaseNamespaceAnnotation: "x"}, lost},
		"outside, no owner":   {other, false, nil, lost},
		"outside, as it was":  {other, false, map[string]any{object.ReleaseNameAnnotation: "r", object.ReleaseNamespaceAnnotation: "d"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan, m := staged(t, clientSide, "one")
			plan.Objects[0].Ref.Namespace = c.namespace
			if c.unowned {
				delete(object.Child(plan.Objects[0].source.Live, "metadata"), "annotations")
			}
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
