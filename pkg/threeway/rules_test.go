package threeway

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/accept"
)

// TestRulesSilenceTheirReport: the rules of a report silence everything that counts in it and cause no warnings, and a baseline does
// the same. It runs every case of testdata/threeway.
func TestRulesSilenceTheirReport(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	got := func(in Input) *report.Report {
		return report.New("v", now, []report.Release{Compare(in).Report(Mask{})})
	}
	for _, file := range caseFiles(t, "*.txtar") {
		files := readCase(t, file)
		in := caseInput(t, files)
		before := got(in)
		rules, warnings := ignore.ReadRules("accepted", accept.Rules(before), now)
		if len(warnings) > 0 {
			t.Errorf("%s: %v", filepath.Base(file), warnings)
		}
		in.Rules = append(in.Rules, rules...)
		after := got(in)
		accepted := Compare(caseInput(t, files)).Report(Mask{})
		accept.Known(&accepted, before, "baseline")
		for name, r := range map[string]*report.Report{"rules": after, "baseline": report.New("v", now, []report.Release{accepted})} {
			if left := accept.Rules(r); len(left) > 0 || r.Summary.Missing+r.Summary.DriftedObjects+r.Summary.Managed+r.Summary.Unmanaged > 0 {
				t.Errorf("%s: %s leave %+v of %+v", filepath.Base(file), name, left, accept.Rules(before))
			}
			if name == "baseline" && findingsIn(r) != findingsIn(before) { // rules may fold findings that were separate
				t.Errorf("%s: the baseline leaves %d findings of %d", filepath.Base(file), findingsIn(r), findingsIn(before))
			}
		}
		for _, w := range after.Releases[0].Warnings {
			if w.Code == ignore.WarningCode && len(before.Releases[0].Warnings) == 0 {
				t.Errorf("%s: %s", filepath.Base(file), w.Message)
			}
		}
	}
}

func findingsIn(r *report.Report) (n int) {
	for _, o := range r.Releases[0].Objects {
		n += len(o.Fields)
	}
	return n
}

// TestRulesNameNoSecret: the rules that accept a report name an item with a secret key by its index, or not at all, and silence what they
// can name.
func TestRulesNameNoSecret(t *testing.T) {
	files := readCase(t, "../../testdata/threeway/secret-list-key.txtar")
	delete(files, "desired.yaml")
	in := caseInput(t, files)
	report := report.New("v", time.Unix(0, 0), []report.Release{Compare(in).Report(Mask{})})
	texts, err := yaml.Marshal(accept.Rules(report))
	if err != nil || strings.Contains(string(texts), "canary") || !strings.Contains(string(texts), "/spec/users/0/role") {
		t.Errorf("the rules are %s %v", texts, err)
	}
	in.Rules, _ = ignore.ReadRules("x", accept.Rules(report), time.Unix(0, 0))
	silenced := 0
	for _, f := range Compare(in).Report(Mask{}).Objects[0].Fields {
		if f.IgnoredBy != nil {
			silenced++
		}
	}
	if silenced == 0 {
		t.Error("the rules silence nothing")
	}
	byName := Compare(in)
	for _, f := range byName.Objects[0].Findings {
		shown := byName.ShownPath(&byName.Objects[0], f.Path).String()
		if strings.Contains(shown, "canary") || byName.PlaceOf(&byName.Objects[0], shown) != f.Path.String() {
			t.Errorf("%s is shown as %s", f.Path, shown)
		}
	}
}
