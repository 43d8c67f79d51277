package threeway

import (
	"path/filepath"
	"testing"
	"time"
)

// TestRulesSilenceTheirReport: the rules of a report silence all that counts in it and say nothing odd of themselves, and a baseline
// does the same. Every case of testdata/threeway is one.
func TestRulesSilenceTheirReport(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	report := func(in Input) *Report { return NewReport("v", now, []ReleaseReport{Compare(in).Report(Mask{})}) }
	for _, file := range caseFiles(t, "*.txtar") {
		files := readCase(t, file)
		in := caseInput(t, files)
		before := report(in)
		rules, warnings := ReadRules("accepted", before.Rules(), now)
		if len(warnings) > 0 {
			t.Errorf("%s: %v", filepath.Base(file), warnings)
		}
		in.Rules = append(in.Rules, rules...)
		after := report(in)
		accepted := Compare(caseInput(t, files)).Report(Mask{})
		accepted.Accept(before, "baseline")
		for name, r := range map[string]*Report{"rules": after, "baseline": NewReport("v", now, []ReleaseReport{accepted})} {
			if left := r.Rules(); len(left) > 0 || r.Summary.Missing+r.Summary.DriftedObjects+r.Summary.Managed+r.Summary.Unmanaged > 0 {
				t.Errorf("%s: %s leave %+v of %+v", filepath.Base(file), name, left, before.Rules())
			}
			if name == "baseline" && findingsIn(r) != findingsIn(before) { // rules may fold what was told apart
				t.Errorf("%s: the baseline leaves %d findings of %d", filepath.Base(file), findingsIn(r), findingsIn(before))
			}
		}
		for _, w := range after.Releases[0].Warnings {
			if w.Code == WarnIgnoreRule && len(before.Releases[0].Warnings) == 0 {
				t.Errorf("%s: %s", filepath.Base(file), w.Message)
			}
		}
	}
}

func findingsIn(r *Report) (n int) {
	for _, o := range r.Releases[0].Objects {
		n += len(o.Fields)
	}
	return n
}
