package consequences

import (
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestSplit checks which findings of a Service stand below the change of its type. What somebody edited, and what would hide drift, does
// not.
func TestSplit(t *testing.T) {
	edit := report.Finding{Path: "spec.type", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Old: "ClusterIP", Live: "NodePort",
		Owners: []report.Owner{{Manager: "kubectl-edit"}}}
	gone := report.Finding{Path: "spec.ports[port=80,protocol=TCP].nodePort", Verdict: report.Remove, Cause: report.CauseDrift, Live: int64(30123)}
	with := func(f report.Finding, change func(*report.Finding)) report.Finding {
		change(&f)
		return f
	}
	person, other := []report.Owner{{Manager: "kubectl-edit"}}, []report.Owner{{Manager: "k9s"}}
	policy := with(gone, func(f *report.Finding) { f.Path, f.Live, f.Owners = "spec.externalTrafficPolicy", "Cluster", person })
	for name, tt := range map[string]struct {
		kind   string
		edit   report.Finding
		field  report.Finding
		isMade bool
	}{
		"a node port":                {"Service", edit, gone, true},
		"a node port of the chart":   {"Service", edit, with(gone, func(f *report.Finding) { f.Managed, f.Old, f.Live = true, int64(30123), nil }), true},
		"a default under the editor": {"Service", edit, policy, true},
		"a default of somebody else": {"Service", edit, with(policy, func(f *report.Finding) { f.Owners = other }), false},
		"another value":              {"Service", edit, with(policy, func(f *report.Finding) { f.Live = "Local" }), false},
		"a number that was changed":  {"Service", edit, with(gone, func(f *report.Finding) { f.Old = int64(30080) }), false},
		"a number of a person":       {"Service", edit, with(gone, func(f *report.Finding) { f.Owners = person }), false},
		"another field":              {"Service", edit, with(gone, func(f *report.Finding) { f.Path = "spec.externalName" }), false},
		"silenced":                   {"Service", edit, with(gone, func(f *report.Finding) { f.IgnoredBy = &report.IgnoreRule{} }), false},
		"a silenced edit":            {"Service", with(edit, func(f *report.Finding) { f.IgnoredBy = &report.IgnoreRule{} }), gone, false},
		"drift below what is none":   {"Service", with(edit, func(f *report.Finding) { f.Managed = false }), with(gone, func(f *report.Finding) { f.Managed = true }), false},
		"without a change of type":   {"Service", with(edit, func(f *report.Finding) { f.Path = "spec.selector.a" }), gone, false},
		"another kind":               {"Ingress", edit, gone, false},
	} {
		o := report.Object{APIVersion: "v1", Kind: tt.kind, Fields: []report.Finding{tt.field, tt.edit}}
		rest, made := Split(o)
		if isMade := len(made) == 1; isMade != tt.isMade || len(rest)+len(made) != 2 || !slices.ContainsFunc(rest, func(f report.Finding) bool { return f.Path == tt.edit.Path }) {
			t.Errorf("%s: %d findings are consequences: %+v", name, len(made), made)
		}
	}
}
