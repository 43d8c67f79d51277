package text

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestLookAlikesInReports: the sides of a finding, the items of lists and the lines of texts are distinguished in a report.
func TestLookAlikesInReports(t *testing.T) {
	of := func(old, live any) report.Finding {
		return report.Finding{ID: "f", Path: "data.k", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true,
			Old: old, Desired: old, Live: live}
	}
	long := strings.Repeat("x", 24)
	for name, c := range map[string]struct {
		field report.Finding
		want  []string
	}{
		"side": {of("caf\u00e9", "cafe\u0301"), []string{`"caf\u00e9" → "cafe\u0301"`}},
		"map":  {of(map[string]any{"a": "\u0430"}, map[string]any{"a": "a"}), []string{`{"a":"\u0430"} → {"a":"a"}`}},
		"item": {of([]any{long, "admin"}, []any{long, "\u0430dmin"}), []string{`- admin`, `+ "\u0430dmin"`}},
		"line": {of("user admin\nend\n", "user \u0430dmin\nend\n"), []string{`- user admin`, `+ "user \u0430dmin"`}},
	} {
		r := &report.Report{Releases: []report.Release{{Name: "r", Objects: []report.Object{{
			Kind: "ConfigMap", Name: "c", Action: report.ActionUpdate, Drifted: true, Fields: []report.Finding{c.field},
		}}}}}
		out := string(Report(r, layout.Options{Unicode: true}))
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %s in\n%s", name, want, out)
			}
		}
	}
}
