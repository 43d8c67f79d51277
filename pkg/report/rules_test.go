package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRules checks that each object with something that counts gets one rule, which names the paths that count or the whole object.
func TestRules(t *testing.T) {
	drift := Finding{Verdict: Overwrite, Cause: CauseDrift, Managed: true, Pattern: "/spec/replicas"}
	silenced := Finding{Verdict: Overwrite, Cause: CauseDrift, Managed: true, Pattern: "/spec/paused", IgnoredBy: &IgnoreRule{}}
	conflict := Finding{Verdict: Conflict, Cause: CauseChange, Managed: true, Pattern: "/spec/x", IgnoredBy: &IgnoreRule{}}
	secret := Finding{Verdict: Remove, Cause: CauseDrift, Managed: true} // has no pattern
	rule := func(version string, paths ...string) []RuleText {
		target := &TargetText{Version: version, Kind: "Thing", Namespace: "n", Name: `a\.b`}
		if version == "" {
			target.Group = `ex\.com`
		}
		return []RuleText{{Paths: paths, Target: target, Releases: []string{"web"}, Reason: "accepted on 2026-11-22"}}
	}
	onConflict := func(rules []RuleText) []RuleText { rules[0].Conflicts = true; return rules }
	for name, c := range map[string]struct {
		in   Object
		want []RuleText
	}{
		"a field":                   {Object{Fields: []Finding{drift, silenced, secret}}, rule("", "/spec/replicas")},
		"a field of the core group": {Object{APIVersion: "v1", Fields: []Finding{drift}}, rule("v1", "/spec/replicas")},
		"nothing that counts":       {Object{Fields: []Finding{silenced}}, []RuleText{}},
		"nothing that can be named": {Object{Fields: []Finding{secret}}, []RuleText{}},
		"missing":                   {Object{Missing: true, Action: ActionCreate}, rule("", "")},
		"missing and ignored":       {Object{Missing: true, Action: ActionCreate, IgnoredBy: &IgnoreRule{}}, []RuleText{}},
		"being deleted":             {Object{Terminating: true, Fields: []Finding{drift}}, rule("", "")},
		"failing":                   {Object{Action: ActionFail, Fields: []Finding{drift}}, rule("", "")},
		"failing on conflicts": {Object{Action: ActionFail, OnlyConflicts: true, Fields: []Finding{conflict, drift}},
			onConflict(rule("", "/spec/x", "/spec/replicas"))},
	} {
		if c.in.APIVersion == "" {
			c.in.APIVersion = "ex.com/v1"
		}
		c.in.Kind, c.in.Namespace, c.in.Name = "Thing", "n", "a.b"
		r := &Report{Time: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Releases: []Release{{Name: "web", Objects: []Object{c.in}}}}
		if diff := cmp.Diff(c.want, r.Rules()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
