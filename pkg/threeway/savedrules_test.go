package threeway

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/ignore/findings"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

var every = flag.Int("savedrules.every", 20, "the part of the rules that TestRulesOfSavedReports tries")

// TestRulesOfSavedReports compares each case with a rule, and applies the same rule to the saved report of a comparison without it. The
// two reports are the same, or the rule is refused. The rules are made from the findings of the case.
func TestRulesOfSavedReports(t *testing.T) {
	applied, refused := 0, 0
	for _, file := range caseFiles(t, "*.txtar") {
		in := caseInput(t, readCase(t, file))
		before := Compare(in)
		saved := savedReport(t, before)
		for i, text := range rulesFor(before) {
			if i%*every != 0 {
				continue
			}
			rules, warnings := ignore.ReadRules("x", []report.RuleText{text}, time.Unix(0, 0))
			if len(warnings) > 0 {
				continue // it would ignore everything
			}
			got := readReport(t, saved)
			if err := findings.Apply(rules, got); err != nil {
				refused++
				continue
			}
			applied++
			with := in
			with.Rules = append(rules[:1:1], in.Rules...)
			want := readReport(t, savedReport(t, Compare(with)))
			if regexp.MustCompile(`"(ignoredBy|controllers|forgotten)":|moves from `).Match(saved) {
				withoutSilenced(want)
				withoutSilenced(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %+v (-live +saved):\n%s", filepath.Base(file), text, diff)
			}
		}
	}
	t.Logf("%d rules applied, %d refused", applied, refused)
	if applied**every < 8000 || refused > applied/2 {
		t.Errorf("%d rules applied, %d refused", applied, refused)
	}
}

// rulesFor returns rules about each finding. Some match more, less or something else.
func rulesFor(c *Comparison) (out []report.RuleText) {
	paths := map[string]bool{"/metadata": true, "/spec/*": true, "/spec/template/spec/containers/0": true, "/data/0": true}
	managers := map[string]bool{"kubectl*": true}
	for _, o := range c.Report(Mask{}).Objects {
		kind := &report.TargetText{Kind: o.Kind, Version: "v1"}
		out = append(out, report.RuleText{Target: kind}, report.RuleText{Target: kind, Conflicts: true})
		for _, f := range o.Fields {
			for end := f.Pattern; end != ""; end = end[:max(0, strings.LastIndex(end, "/"))] {
				paths[end] = true
			}
			paths[f.Pattern+"/*"], paths[f.Pattern+"/a"] = true, true
			paths[f.Pointer] = true
			for _, owner := range f.Owners {
				managers[owner.Manager] = true
			}
		}
	}
	for _, path := range object.SortedKeys(paths) {
		out = append(out, report.RuleText{Paths: []string{path}}, report.RuleText{Paths: []string{path}, Conflicts: true})
	}
	for _, manager := range object.SortedKeys(managers) {
		out = append(out, report.RuleText{Managers: []string{manager}}, report.RuleText{Managers: []string{manager}, Paths: []string{"/spec", "/data"}})
	}
	return out
}

// savedReport is the report of a comparison as diff -o json writes it, without warnings of rules that match nothing.
func savedReport(t *testing.T, c *Comparison) []byte {
	t.Helper()
	raw, err := json.Marshal(report.New("test", time.Unix(0, 0), []report.Release{c.Report(Mask{})}))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func readReport(t *testing.T, raw []byte) *report.Report {
	t.Helper()
	r, err := reading.Report(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Releases {
		r.Releases[i].Warnings = nil
	}
	return r
}

// withoutSilenced removes the silenced findings, because a saved report differs in them. What a rule silenced when the report was made
// keeps the name of that rule, and findings that such a rule kept apart stay apart. What controllers and forgotten writers wrote becomes
// a finding if a rule silences it, and is only counted without a rule.
func withoutSilenced(r *report.Report) {
	r.Summary.Ignored = 0
	for i := range r.Releases {
		for j := range r.Releases[i].Objects {
			o := &r.Releases[i].Objects[j]
			o.Controllers, o.Forgotten = 0, 0
			o.Fields = slices.DeleteFunc(o.Fields, report.Finding.Silenced)
			if o.IgnoredBy != nil {
				o.IgnoredBy.Rule = ""
			}
		}
	}
}
