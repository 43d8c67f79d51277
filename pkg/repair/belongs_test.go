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
	half := map[string]any{object.ReleaseNamespaceAnnotation: "d"}
	mine := map[string]any{object.ReleaseNameAnnotation: "r", object.ReleaseNamespaceAnnotation: "d"}
	for name, c := range map[string]struct {
		namespace string
		was       string // the owner at the plan: the release if it is empty, "nobody", "half" without the name, or "named" without the namespace
		now       map[string]any
		want      string
	}{
		"taken over":          {own, "", taken, lost},
		"without owner":       {own, "", nil, ""},
		"unowned, taken over": {own, "nobody", taken, lost},
		"unowned, as it was":  {own, "nobody", nil, ""},
		"half, taken over":    {own, "half", taken, lost},
		"named, taken over":   {own, "named", taken, lost},
		"half, as it was":     {own, "half", half, ""},
		"half, by its fix":    {own, "half", mine, ""},
		"half is gone":        {own, "", half, ""},
		"outside, half":       {other, "", half, lost},
		"outside, taken over": {other, "", map[string]any{object.ReleaseNameAnnotation: "r", object.ReleaseNamespaceAnnotation: "x"}, lost},
		"outside, no owner":   {other, "", nil, lost},
		"outside, as it was":  {other, "", mine, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan, m := staged(t, clientSide, "one")
			plan.Objects[0].Ref.Namespace = c.namespace
			switch planned := object.Child(plan.Objects[0].source.Live, "metadata"); c.was {
			case "nobody":
				delete(planned, "annotations")
			case "half":
				planned["annotations"] = half
			case "named":
				planned["annotations"] = map[string]any{object.ReleaseNameAnnotation: "s"}
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
