package output

import (
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestKnownIsNotClean checks that no format says "no drift" of releases with findings that a baseline knows, and that all formats name the
// earlier value of a finding that moved since.
func TestKnownIsNotClean(t *testing.T) {
	since := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	rule := &report.IgnoreRule{Rule: "--baseline b.json", Reason: "known since 2026-11-20 10:00", KnownSince: &since}
	replicas := report.Finding{ID: "f", Path: "spec.replicas", Verdict: report.Overwrite, Cause: report.CauseDrift,
		Managed: true, Certain: true, Old: int64(3), Desired: int64(3), Live: int64(0)}
	known, moved := replicas, replicas
	known.IgnoredBy, moved.KnownLive = rule, int64(5)
	missing := report.Object{Kind: "Service", Name: "old", Action: report.ActionCreate, Missing: true, IgnoredBy: rule}
	of := func(errors []report.ScanError, field report.Finding) *report.Report {
		rel := report.Release{Name: "web", StorageNamespace: "prod", Namespace: "prod", Operation: report.OperationDrift, Compared: 4,
			Old: &report.Revision{Revision: 1}, Objects: []report.Object{missing, {APIVersion: "apps/v1", Kind: "Deployment", Name: "web",
				Action: report.ActionUpdate, Fields: []report.Finding{field}}}}
		r := report.NewScan("v", since, []report.Release{rel}, errors, report.Scan{})
		r.Recount()
		return r
	}
	unsearched := []report.ScanError{{Namespace: "secret", Code: "forbidden", Message: "no"}}
	const words, seen = "nothing new (2 known since 2026-11-20)", "nothing new (2 known since 2026-11-20) seen in 4 of 4 objects"
	opts := Options{Text: text.Options{Unicode: true, Verbose: true}}
	for _, format := range []Format{Text, Markdown, HTML} {
		for _, c := range []struct {
			report *report.Report
			want   string
		}{{of(nil, known), words}, {of(unsearched, known), map[bool]string{false: seen, true: words}[format == Markdown]}} {
			out := string(render(t, format, c.report, opts))
			if !strings.Contains(out, c.want) || strings.Contains(out, "no drift") {
				t.Errorf("%s lacks %q or says no drift:\n%.3000s", format, c.want, out)
			}
		}
	}
	for format, want := range map[Format]string{
		Text: "known, value changed 5 → 0", Markdown: "known, value changed 5 → 0", HTML: "known, value changed 5 → 0",
		GitHub: "known, value changed 5 → 0", SARIF: "known, value changed 5 → 0", JUnit: "known, value changed 5 → 0",
		JSON: `"knownLive": 5`,
	} {
		if out := string(render(t, format, of(nil, moved), opts)); !strings.Contains(out, want) {
			t.Errorf("%s lacks %q:\n%.3000s", format, want, out)
		}
	}
}
