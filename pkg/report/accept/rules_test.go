package accept

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestRules checks that each object with something that counts gets one rule, which names the paths that count or the whole object.
func TestRules(t *testing.T) {
	drift := report.Finding{Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Pattern: "/spec/replicas"}
	silenced := report.Finding{Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Pattern: "/spec/paused", IgnoredBy: &report.IgnoreRule{}}
	conflict := report.Finding{Verdict: report.Conflict, Cause: report.CauseChange, Managed: true, Pattern: "/spec/x", IgnoredBy: &report.IgnoreRule{}}
	secret := report.Finding{Verdict: report.Remove, Cause: report.CauseDrift, Managed: true} // has no pattern
	rule := func(version string, paths ...string) []report.RuleText {
		target := &report.TargetText{Version: version, Kind: "Thing", Namespace: "n", Name: `a\.b`}
		if version == "" {
			target.Group = `ex\.com`
		}
		return []report.RuleText{{Paths: paths, Target: target, Releases: []string{"web"}, Reason: "accepted on 2026-11-22"}}
	}
	onConflict := func(rules []report.RuleText) []report.RuleText { rules[0].Conflicts = true; return rules }
	for name, c := range map[string]struct {
		in   report.Object
		want []report.RuleText
	}{
		"a field":                   {report.Object{Fields: []report.Finding{drift, silenced, secret}}, rule("", "/spec/replicas")},
		"a field of the core group": {report.Object{APIVersion: "v1", Fields: []report.Finding{drift}}, rule("v1", "/spec/replicas")},
		"nothing that counts":       {report.Object{Fields: []report.Finding{silenced}}, []report.RuleText{}},
		"nothing that can be named": {report.Object{Fields: []report.Finding{secret}}, []report.RuleText{}},
		"missing":                   {report.Object{Missing: true, Action: report.ActionCreate}, rule("", "")},
		"missing and ignored":       {report.Object{Missing: true, Action: report.ActionCreate, IgnoredBy: &report.IgnoreRule{}}, []report.RuleText{}},
		"being deleted":             {report.Object{Terminating: true, Fields: []report.Finding{drift}}, rule("", "")},
		"failing":                   {report.Object{Action: report.ActionFail, Fields: []report.Finding{drift}}, rule("", "")},
		"failing on conflicts": {report.Object{Action: report.ActionFail, OnlyConflicts: true, Fields: []report.Finding{conflict, drift}},
			onConflict(rule("", "/spec/x", "/spec/replicas"))},
	} {
		if c.in.APIVersion == "" {
			c.in.APIVersion = "ex.com/v1"
		}
		c.in.Kind, c.in.Namespace, c.in.Name = "Thing", "n", "a.b"
		r := &report.Report{Time: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Releases: []report.Release{{Name: "web", Objects: []report.Object{c.in}}}}
		if diff := cmp.Diff(c.want, Rules(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
