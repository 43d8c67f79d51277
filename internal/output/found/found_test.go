package found

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestIn: each object and each finding counts once, and what is silenced is said only if nothing else is.
func TestIn(t *testing.T) {
	rule := &report.IgnoreRule{Rule: "r"}
	drifted := report.Finding{Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true}
	ignored, same, clash, unmanaged, change := drifted, drifted, drifted, drifted, drifted
	ignored.IgnoredBy, same.Equivalent, unmanaged.Managed, change.Cause = rule, true, false, report.CauseChange
	clash.Verdict, clash.Cause = report.Conflict, report.CauseChange
	updated := func(fields ...report.Finding) report.Object {
		return report.Object{Action: report.ActionUpdate, Fields: fields}
	}
	for _, c := range []struct {
		objects []report.Object
		want    string
	}{
		{nil, ""},
		{[]report.Object{updated(drifted, drifted), updated(drifted, ignored), updated(ignored)}, "3 fields in 2 objects"},
		{[]report.Object{updated(ignored, ignored), {Action: report.ActionFail, IgnoredBy: rule}}, "3 ignored"},
		{[]report.Object{updated(same, change), {Action: report.ActionCreate}}, "3 changes"},
		{[]report.Object{updated(clash, unmanaged, unmanaged)}, "2 unmanaged, 1 conflict"},
		{[]report.Object{{Action: report.ActionFail, Fields: []report.Finding{drifted}}}, "1 field in 1 object, fails on 1"},
		{[]report.Object{
			{Action: report.ActionCreate, Missing: true, Fields: []report.Finding{drifted}}, {Action: report.ActionNone, Terminating: true},
		}, "1 missing, 1 being deleted"},
		{[]report.Object{
			{Action: report.ActionCreate, Missing: true, IgnoredBy: rule, Fields: []report.Finding{drifted}},
		}, "1 field in 1 object"},
		{[]report.Object{{Action: report.ActionNone, DryRun: &report.DryRun{Result: report.DryRunDisagrees}}}, "server disagrees on 1"},
	} {
		if got := In(report.Release{Objects: c.objects}).String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.objects, got, c.want)
		}
	}
}
