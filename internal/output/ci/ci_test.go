package ci

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// severity is one thing that a report may say of an object, and what each consumer takes it for. Silence is an empty text.
type severity struct {
	name   string
	object report.Object
	// junit is the outcome of the test case, github the word of the annotation, and markdown the first cell of the line in the comment.
	junit, sarif, gitlab, github, markdown string
}

// severities has one object for each level: two errors, because GitLab tells them apart, a warning, a note, and what a rule silences. The
// objects "owned" and "drifted" set the exit code.
func severities() []severity {
	finding := func(verdict report.Verdict, cause report.Cause) []report.Finding {
		return []report.Finding{{ID: "1", Path: "data.a", Verdict: verdict, Cause: cause, Managed: true, Old: "1", Desired: "2", Live: "7"}}
	}
	silenced := finding(report.Overwrite, report.CauseDrift)
	silenced[0].IgnoredBy = &report.IgnoreRule{Rule: "ours", Reason: "set by an operator"}
	return []severity{
		{"broken", report.Object{Error: &report.ObjectError{Message: "timeout"}}, "error", "error", "blocker", "error", "error"},
		{"owned", report.Object{Fields: finding(report.Conflict, report.CauseDrift)}, "failure", "error", "critical", "error", "conflict"},
		{"drifted", report.Object{Fields: finding(report.Overwrite, report.CauseDrift)}, "failure", "warning", "major", "warning", "overwrite"},
		{"changed", report.Object{Fields: finding(report.Overwrite, report.CauseChange)}, "passed", "note", "info", "notice", "overwrite"},
		{"silenced", report.Object{Fields: silenced}, "skipped", "note, suppressed", "", "", ""},
	}
}

// TestHeadlineCountsWhatIsLeftOut checks that a comment on a report without drift says what flags have left out.
func TestHeadlineCountsWhatIsLeftOut(t *testing.T) {
	only := &report.IgnoreRule{Rule: "--only", LeftOut: true}
	r := report.New("test", time.Time{}, []report.Release{{Name: "web", Objects: []report.Object{
		{Missing: true, IgnoredBy: only},
		{Fields: []report.Finding{{Path: "data.a", IgnoredBy: only}, {Path: "data.b", IgnoredBy: &report.IgnoreRule{Rule: "ours"}}}},
	}}})
	phrases := text.NewPhrases(r)
	if got := headline(r, phrases, phrases.Answer(r)); !strings.HasSuffix(got, ": no drift in 0 objects, 2 left out") {
		t.Errorf("headline %q", got)
	}
}

// TestLevels checks what each consumer reads of each severity: its level, and the template and line that it shows.
func TestLevels(t *testing.T) {
	for _, format := range []struct {
		name string
		read func(t *testing.T, text []byte) map[string]string
		make func(*report.Report, Options) ([]byte, error)
		want func(severity) string
		// located is set if the consumer shows a finding at a file.
		located bool
	}{
		{"JUnit", readJUnit, JUnit, func(s severity) string { return s.junit }, false},
		{"SARIF", readSARIF, SARIF, func(s severity) string { return s.sarif }, true},
		{"GitLab", readGitLab, GitLab, func(s severity) string { return s.gitlab }, true},
		{"GitHub", readGitHub, GitHub, func(s severity) string { return s.github }, true},
		{"Markdown", readMarkdown, Markdown, func(s severity) string { return s.markdown }, false},
	} {
		t.Run(format.name, func(t *testing.T) {
			want := map[string]string{}
			for _, s := range severities() {
				if level := format.want(s); level != "" {
					want[s.name] = level
					if format.located {
						want[s.name] += " at charts/web/templates/" + s.name + ".yaml:1"
					}
				}
			}
			if diff := cmp.Diff(want, format.read(t, written(t, format.make))); diff != "" {
				t.Error("want -, got +\n" + diff)
			}
		})
	}
}

// TestCounts checks the sums. A consumer judges a run by them without reading its entries.
func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		make func(*report.Report, Options) ([]byte, error)
		want string
	}{
		// The sixth test is the release itself, which passes.
		{JUnit, `<testsuites name="helmdrift" tests="6" failures="2" errors="1" skipped="1">`},
		{JUnit, `<testsuite name="prod/web" tests="6" failures="2" errors="1" skipped="1" timestamp="2026-01-02T03:04:05">`},
		{SARIF, `"executionSuccessful": false`}, // an object could not be compared
		{Markdown, "### helmdrift: `web in prod`: drifted: 2 fields in 2 of 9 objects, 1 could not be compared, 1 conflict, not everything was seen: 1 error\n"},
		{Markdown, "- **Clean:** 5 objects\n"}, // four of the five have something to say
	} {
		if text := written(t, tt.make); !strings.Contains(string(text), tt.want) {
			t.Errorf("the format lacks %s:\n%s", tt.want, text)
		}
	}
}

// TestErrorsAreToldApart checks that GitLab and SARIF have each error once, also errors of the same code in the same place.
func TestErrorsAreToldApart(t *testing.T) {
	refused := func(resource string) report.ScanError {
		return report.ScanError{Cluster: "dev", Namespace: "prod", Code: "forbidden", Message: resource + " are forbidden"}
	}
	r := &report.Report{
		Errors: []report.ScanError{refused("secrets"), refused("configmaps")},
		Releases: []report.Release{{Name: "web", Errors: []report.Message{{Code: "read", Message: "a"}, {Code: "read", Message: "b"}},
			Objects: []report.Object{{ID: "1", Kind: "ConfigMap", Name: "c", Error: &report.ObjectError{Message: "timeout"}}}}},
	}
	for name, format := range map[string]struct {
		make        func(*report.Report, Options) ([]byte, error)
		fingerprint string
	}{"GitLab": {GitLab, `"fingerprint": "(\w+)"`}, "SARIF": {SARIF, `"helmdrift/v1": "(\w+)"`}} {
		text, err := format.make(r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, found := range regexp.MustCompile(format.fingerprint).FindAllStringSubmatch(string(text), -1) {
			seen[found[1]] = true
		}
		if len(seen) != 5 {
			t.Errorf("%s has %d fingerprints, want 5:\n%s", name, len(seen), text)
		}
	}
}

// TestUnseenIsCountedByItsKind checks that a name that no release has does not count as a place that could not be searched.
func TestUnseenIsCountedByItsKind(t *testing.T) {
	for want, errors := range map[string][]report.ScanError{
		"1 cluster could not be searched":                   {{Cluster: "a", Code: "unreachable"}},
		"1 other error":                                     {{Code: report.ErrorNotFound}},
		"some orphans may be missing; 2 other errors":       {{Code: report.ErrorSelection}, {Code: report.ErrorOrphans}, {Code: report.ErrorSource}},
		"1 namespace could not be searched; 1 other error":  {{Namespace: "a", Code: "forbidden"}, {Namespace: "a", Code: report.ErrorNotFound}},
		"1 namespace could not be searched; 2 other errors": {{Namespace: "a"}, {Code: report.ErrorSource}, {Code: report.ErrorSource}},
	} {
		if got := unseen(&report.Report{Errors: errors}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestJUnitSaysWhy checks that a case has the reason of its failure: what the API server says of an object that is created, and what Flux
// does to a release.
func TestJUnitSaysWhy(t *testing.T) {
	created := report.Object{
		Kind: "ConfigMap", Name: "c", Action: report.ActionCreate, Missing: true,
		DryRun: &report.DryRun{Result: report.DryRunDisagrees, Message: "quota exceeded"},
	}
	r := &report.Report{Releases: []report.Release{{
		Name: "web", Namespace: "prod", StorageNamespace: "prod", Operation: report.OperationUpgrade, Objects: []report.Object{created},
		Deployer: &report.Deployer{Kind: "HelmRelease", Controller: report.ControllerFlux, Action: report.DeployerUninstall, Reason: "it is being deleted"},
	}}}
	text, err := JUnit(r, Options{Fails: func(_ *report.Release, o *report.Object) bool { return o == nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`errors="1"`, "quota exceeded", `type="uninstall"`, "it is being deleted"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %s:\n%s", want, text)
		}
	}
}

// TestForeignVerdict checks that a verdict that is no word of ours, as a saved report may have, stands for none of the rules that are known.
func TestForeignVerdict(t *testing.T) {
	const foreign = "x |\n::stop-commands::t\n@team <img src=//e>"
	finding := report.Finding{ID: "f", Path: "data.a", Verdict: foreign, Cause: report.CauseDrift, Managed: true, Old: "1", Live: "7"}
	r := &report.Report{Releases: []report.Release{{
		Name: "web", Objects: []report.Object{{Kind: "ConfigMap", Name: "c", Drifted: true, Fields: []report.Finding{finding}}},
	}}}
	index := slices.IndexFunc(rules(), func(r rule) bool { return r.id == "unknown" })
	for _, tt := range []struct {
		make func(*report.Report, Options) ([]byte, error)
		want string
	}{
		{SARIF, fmt.Sprintf("\"ruleId\": \"unknown\",\n          \"ruleIndex\": %d,", index)},
		{GitLab, `"check_name": "helmdrift/unknown"`},
		{Markdown, "\n| unknown | `ConfigMap c` | `data.a` |"},
	} {
		if text, err := tt.make(r, Options{}); err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("the format lacks %s: %v\n%s", tt.want, err, text)
		}
	}
}

// TestExitCodeIsInFiles checks that neither JUnit nor SARIF is green if the exit code is not 0: because of a write of what an ignore rule
// silences, or because effects are not known.
func TestExitCodeIsInFiles(t *testing.T) {
	silenced := report.Object{
		ID: "w", Kind: "Deployment", Name: "w", Action: report.ActionUpdate,
		Fields: []report.Finding{{ID: "f", Path: "spec.replicas", Verdict: report.Overwrite, Managed: true, IgnoredBy: &report.IgnoreRule{Rule: "scaled"}}},
	}
	r := &report.Report{Releases: []report.Release{{Name: "web", Operation: report.OperationUpgrade, Objects: []report.Object{silenced}}}}
	fails := func(_ *report.Release, o *report.Object) bool { return o != nil }
	lacks := func(*report.Release) bool { return true }
	for name, test := range map[string]struct {
		o                   Options
		inJUnit, successful string
	}{
		"nothing fails":         {Options{}, `failures="0" errors="0"`, "true"},
		"a silenced write":      {Options{Fails: fails}, `failures="1" errors="0"`, "true"},
		"effects are not known": {Options{Lacks: lacks}, `failures="0" errors="1"`, "false"},
	} {
		junit, err := JUnit(r, test.o)
		if err != nil || !strings.Contains(string(junit), test.inJUnit) {
			t.Errorf("%s: %v\n%s", name, err, junit)
		}
		sarif, err := SARIF(r, test.o)
		if err != nil || !strings.Contains(string(sarif), `"executionSuccessful": `+test.successful) {
			t.Errorf("%s: %v\n%s", name, err, sarif)
		}
	}
}

// TestDisputeIsInFiles checks that a contradiction of the API server is an error in the files if it sets the exit code: if the prediction is
// certain.
func TestDisputeIsInFiles(t *testing.T) {
	for isCertain, want := range map[bool][4]string{
		true:  {`errors="1"`, `"level": "error"`, `"severity": "critical"`, "::error "},
		false: {`errors="0"`, `"level": "note"`, `"severity": "info"`, "::notice "},
	} {
		o := report.Object{
			ID: "w", Kind: "Deployment", Name: "w", Action: report.ActionUpdate,
			DryRun: &report.DryRun{Result: report.DryRunDisagrees, Message: "the server's answer differs at spec"},
			Fields: []report.Finding{{ID: "f", Path: "spec", Verdict: report.Overwrite, Cause: report.CauseChange, Managed: true, Certain: isCertain}},
		}
		r := &report.Report{Releases: []report.Release{{Name: "web", Operation: report.OperationUpgrade, Objects: []report.Object{o}}}}
		if o.Disputed() != isCertain {
			t.Errorf("certain %t: disputed %t", isCertain, o.Disputed())
		}
		for i, format := range []func(*report.Report, Options) ([]byte, error){JUnit, SARIF, GitLab, GitHub} {
			if text, err := format(r, Options{}); err != nil || !strings.Contains(string(text), want[i]) {
				t.Errorf("certain %t: no %s: %v\n%s", isCertain, want[i], err, text)
			}
		}
	}
}

// TestUncertainDisputeIsNoFailure checks that drift is what a failure of JUnit says, if the API server contradicts an uncertain prediction
// about the same object.
func TestUncertainDisputeIsNoFailure(t *testing.T) {
	o := report.Object{
		ID: "w", Kind: "Deployment", Name: "w", Action: report.ActionUpdate, Drifted: true,
		DryRun: &report.DryRun{Result: report.DryRunDisagrees, Message: "the server's answer differs at spec"},
		Fields: []report.Finding{
			{ID: "f", Path: "spec.a", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Certain: true},
			{ID: "g", Path: "spec.b", Verdict: report.Overwrite, Cause: report.CauseChange, Managed: true},
		},
	}
	r := &report.Report{Releases: []report.Release{{Name: "web", Operation: report.OperationUpgrade, Drifted: true, Objects: []report.Object{o}}}}
	text, err := JUnit(r, Options{Fails: func(*report.Release, *report.Object) bool { return true }})
	if err != nil || o.Disputed() || !strings.Contains(string(text), `type="overwrite"`) || strings.Contains(string(text), `type="disputed"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// written returns the report of all severities in a format.
func written(t *testing.T, format func(*report.Report, Options) ([]byte, error)) []byte {
	t.Helper()
	r := &report.Report{Summary: report.Summary{Releases: 1, DriftedReleases: 1, Errors: 1, Fields: report.FieldCounts{Conflict: 1}}}
	if err := r.Time.UnmarshalText([]byte("2026-01-02T03:04:05Z")); err != nil {
		t.Fatal(err)
	}
	release := report.Release{Name: "web", Namespace: "prod", StorageNamespace: "prod", Operation: report.OperationUpgrade, Compared: 9}
	for _, s := range severities() {
		s.object.ID, s.object.Kind, s.object.Name, s.object.Source = s.name, "ConfigMap", s.name, "web/templates/"+s.name+".yaml"
		s.object.Drifted = s.name == "owned" || s.name == "drifted"
		release.Objects = append(release.Objects, s.object)
	}
	r.Releases = []report.Release{release}
	text, err := format(r, Options{
		ChartDir: "charts/web", Fails: func(_ *report.Release, o *report.Object) bool { return o != nil && o.Drifted },
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestMarkdownAnswersFirst checks that a reviewer has the answer before the first fold, within 60 lines, however large the report is, and
// that what is clean has no row.
func TestMarkdownAnswersFirst(t *testing.T) {
	drift := report.Finding{ID: "1", Path: "data.a", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Old: "1", Live: "7",
		Owners: []report.Owner{{Manager: "k9s"}}}
	config := strings.Repeat("line\n", 200)
	document := drift
	document.Path, document.Old, document.Live = "data.file", config, config+"```\n::error::x\n"
	r := &report.Report{Scan: &report.Scan{}}
	for i := range 60 {
		rel := report.Release{Name: fmt.Sprint("web-", i), StorageNamespace: "prod", Operation: report.OperationDrift, Compared: 3}
		if i%2 == 0 {
			rel.Drifted = true
			rel.Objects = []report.Object{{Kind: "ConfigMap", Name: "c", Drifted: true, Fields: []report.Finding{drift, document}}}
		}
		r.Releases = append(r.Releases, rel)
		r.Errors = append(r.Errors, report.ScanError{Namespace: fmt.Sprint("ns-", i), Message: "forbidden"})
	}
	r.Summary = report.New("", r.Time, r.Releases).Summary
	one := &report.Report{Releases: []report.Release{r.Releases[0]}}
	for range 100 {
		one.Releases[0].Objects = append(one.Releases[0].Objects, r.Releases[0].Objects[0])
	}
	one.Summary = report.New("", one.Time, one.Releases).Summary
	for _, tt := range []struct {
		name   string
		report *report.Report
		want   []string
	}{
		{"a scan", r, []string{
			"### helmdrift: drifted: 60 fields in 30 of 180 objects (30 of 60 releases)\n", "- **Who:** `k9s`\n", "- **What Helm does:** the next upgrade puts back 60 drifted fields\n",
			"- **Not seen:** 60 namespaces could not be searched\n", "- **Clean:** 30 releases, 150 objects\n", "| `helmdrift fix web-0 -n prod` |",
			"5 more releases below.\n",
		}},
		{"a release", one, []string{
			"### helmdrift: `web-0 in prod`: drifted: 202 fields in 101 of 3 objects\n", "`helmdrift fix web-0 -n prod` puts back what drifted", "200 lines → 202 lines, see below",
		}},
	} {
		text, err := Markdown(tt.report, Options{})
		if err != nil {
			t.Fatal(err)
		}
		top, folds, _ := strings.Cut(string(text), "<details>")
		if n := strings.Count(top, "\n"); n > 60 {
			t.Errorf("%s: %d lines stand above the first fold", tt.name, n)
		}
		for _, want := range tt.want {
			if !strings.Contains(top, want) {
				t.Errorf("%s: above the first fold there is no %s:\n%s", tt.name, want, top)
			}
		}
		if !strings.Contains(folds, "````diff\n@@ -198,3 +198,5 @@\n line\n line\n line\n+```\n+\\x3a:error::x\n````\n") {
			t.Errorf("%s: the folds lack the diff of the text, in a fence that it cannot close", tt.name)
		}
		if strings.Contains(string(text), "web-1 ") || strings.Contains(string(text), "`web-1`") {
			t.Errorf("%s: a clean release has a row", tt.name)
		}
	}
}

// TestMarkdownOffersPlainCommands checks when a comment names the command that puts back what drifted.
func TestMarkdownOffersPlainCommands(t *testing.T) {
	drift := []report.Object{{Kind: "Pod", Drifted: true, Fields: []report.Finding{{Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true}}}}
	for _, tt := range []struct {
		name    string
		release report.Release
		want    string
	}{
		{"drift", report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift, Objects: drift}, "`helmdrift fix web -n prod`"},
		{"the namespace of the record", report.Release{Name: "web", Namespace: "a", StorageNamespace: "b", Operation: report.OperationDrift, Objects: drift},
			"`helmdrift fix web -n b`"},
		{"a preview", report.Release{Name: "web", Namespace: "prod", Operation: report.OperationUpgrade, Objects: drift}, "`helmdrift absorb web -n prod CHART`"},
		{"a name for a shell", report.Release{Name: "web;reboot", Namespace: "prod", Operation: report.OperationDrift, Objects: drift}, ""},
		{"no drift", report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift}, ""},
		{"a copy of the record", report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift, Objects: drift,
			Warnings: []report.Message{{Code: report.WarnRecordElsewhere}}}, ""},
	} {
		text, err := Markdown(&report.Report{Releases: []report.Release{tt.release}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), "What to do"); got != (tt.want != "") || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s: want %q in\n%s", tt.name, tt.want, text)
		}
	}
}

// named finds the object in a text that names it.
var named = regexp.MustCompile(`ConfigMap (\w+)`)

// nameIn returns the name of the object in a text; empty if it names none.
func nameIn(text string) string {
	if m := named.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// readJUnit returns the outcome of each test case about an object.
func readJUnit(t *testing.T, text []byte) map[string]string {
	var doc struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Error   *struct{} `xml:"error"`
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range doc.Cases {
		outcome := "passed"
		switch {
		case c.Error != nil:
			outcome = "error"
		case c.Failure != nil:
			outcome = "failure"
		case c.Skipped != nil:
			outcome = "skipped"
		}
		if name := nameIn(c.Name); name != "" {
			out[name] = outcome
		}
	}
	return out
}

// readSARIF returns the level and the place of each result, and checks that its rule is the one that its index points to.
func readSARIF(t *testing.T, text []byte) map[string]string {
	var doc struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				Suppressions []struct{ Kind string }
			}
		}
	}
	decode(t, text, &doc)
	out := map[string]string{}
	for _, r := range doc.Runs[0].Results {
		if rule := doc.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID; rule != r.RuleID {
			t.Errorf("the index of rule %s is that of %s", r.RuleID, rule)
		}
		if len(r.Suppressions) > 0 {
			r.Level += ", suppressed"
		}
		at := r.Locations[0].PhysicalLocation
		out[nameIn(r.Message.Text)] = fmt.Sprintf("%s at %s:%d", r.Level, at.ArtifactLocation.URI, at.Region.StartLine)
	}
	return out
}

// readGitLab returns the severity and the place of each issue, and checks that no two share a fingerprint: GitLab drops the report then.
func readGitLab(t *testing.T, text []byte) map[string]string {
	var issues []struct {
		Description, Fingerprint, Severity string
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	decode(t, text, &issues)
	out, seen := map[string]string{}, map[string]bool{}
	for _, i := range issues {
		if seen[i.Fingerprint] {
			t.Errorf("two issues have the fingerprint %s", i.Fingerprint)
		}
		seen[i.Fingerprint] = true
		out[nameIn(i.Description)] = fmt.Sprintf("%s at %s:%d", i.Severity, i.Location.Path, i.Location.Lines.Begin)
	}
	return out
}

// readGitHub returns the word and the place of each annotation.
func readGitHub(_ *testing.T, text []byte) map[string]string {
	out := map[string]string{}
	command := regexp.MustCompile(`(?m)^::(\w+) file=([^,]*),line=(\d+),title=([^:]*)::.*$`)
	for _, m := range command.FindAllStringSubmatch(string(text), -1) {
		out[nameIn(m[4])] = m[1] + " at " + m[2] + ":" + m[3]
	}
	return out
}

// readMarkdown returns the first cell of each line of the table about an object.
func readMarkdown(_ *testing.T, text []byte) map[string]string {
	out := map[string]string{}
	for line := range bytes.Lines(text) {
		if cells := strings.Split(string(line), " | "); len(cells) > 1 && nameIn(cells[1]) != "" {
			out[nameIn(cells[1])] = strings.TrimPrefix(cells[0], "| ")
		}
	}
	return out
}

// decode reads a JSON document. The structs that it fills have the names that a consumer knows, not those of this package.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
