package text

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestPipedTextIsWhole: without a terminal nothing is shortened.
func TestPipedTextIsWhole(t *testing.T) {
	for name, r := range reports(t) {
		out := string(Report(r, layout.Options{Unicode: true}))
		if strings.Contains(out, "…") {
			t.Errorf("%s is shortened:\n%s", name, out)
		}
	}
}

// TestColorIsOnlyColor: without its colours a coloured report is the plain one.
func TestColorIsOnlyColor(t *testing.T) {
	for name, r := range reports(t) {
		plain := Report(r, layout.Options{Unicode: true, Width: 100})
		coloured := Report(r, layout.Options{Unicode: true, Width: 100, Color: true})
		if !bytes.Contains(coloured, []byte("\x1b[")) {
			t.Errorf("%s has no colour", name)
		}
		if diff := cmp.Diff(string(plain), uncolour(string(coloured))); diff != "" {
			t.Errorf("%s (-plain +coloured):\n%s", name, diff)
		}
	}
}

// uncolour drops each "\x1b[…m". Values cannot hold one, so all of them are colours.
func uncolour(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

// TestAgesCountFromNow: ages count from the time of the options, or else from the time of the report.
func TestAgesCountFromNow(t *testing.T) {
	r := reports(t)["contract"]
	if out := Report(r, layout.Options{Now: r.Time.Add(5 * time.Minute)}); !bytes.Contains(out, []byte("kubectl-set, 5 min ago")) {
		t.Errorf("%s", out)
	}
	if out := Report(r, layout.Options{}); !bytes.Contains(out, []byte("kubectl-set, just now")) {
		t.Errorf("%s", out)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour:        "just now",
		59 * time.Second:  "just now",
		time.Minute:       "1 min ago",
		119 * time.Minute: "119 min ago",
		2 * time.Hour:     "2 h ago",
		47 * time.Hour:    "47 h ago",
		48 * time.Hour:    "2 d ago",
	} {
		if got := layout.Age(d); got != want {
			t.Errorf("age(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestMaskHolds: text does not print the value of a masked finding, even if one came with it.
func TestMaskHolds(t *testing.T) {
	const canary = "canary-7Q"
	r := report.Report{Releases: []report.Release{
		{Objects: []report.Object{{Kind: "Secret", Name: "s"}}},
		{Operation: report.OperationUpgrade, Objects: []report.Object{{Kind: "Secret", Name: "s"}}},
	}}
	for _, v := range []report.Verdict{report.Add, report.Remove, report.Overwrite, report.Ignore, report.Conflict} {
		for _, c := range []report.Cause{report.CauseDrift, report.CauseChange, report.CauseBoth} {
			fields := []report.Finding{{Path: "data.k", Verdict: v, Cause: c, Managed: true, Masked: true,
				Old: canary, Desired: canary + "\n", Live: canary + "\n2", After: canary}}
			r.Releases[0].Objects[0].Fields, r.Releases[1].Objects[0].Fields = fields, fields
			out := string(Report(&r, layout.Options{Unicode: true, Verbose: true}))
			if strings.Contains(out, canary) || !strings.Contains(out, "•••") {
				t.Errorf("%s, %s:\n%s", v, c, out)
			}
		}
	}
}

// wantLines checks that a text has some lines.
func wantLines(t *testing.T, name, text string, want ...string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for _, l := range want {
		if !slices.Contains(lines, l) {
			t.Errorf("%s: no line %q in\n%s", name, l, text)
		}
	}
}

// TestAnswers compares the answers and the last lines of reports.
func TestAnswers(t *testing.T) {
	missing := report.Object{Kind: "Service", Name: "web", Action: report.ActionCreate, Missing: true, Drifted: true}
	unseen := report.Object{Kind: "Secret", Name: "s", Action: report.ActionNone, Error: &report.ObjectError{Message: "no"}}
	one := func(r report.Release) report.Report {
		r.Name, r.Namespace, r.Compared = "web", "prod", 9
		return *report.New("v0", fixedTime, []report.Release{r})
	}
	uncounted := one(report.Release{})
	uncounted.Summary.Errors = 1
	for name, c := range map[string]struct {
		report report.Report
		want   []string
	}{
		"nothing at all": {report.Report{}, []string{"no releases found"}},
		"clean": {one(report.Release{}), []string{
			"release web in prod", "  CLEAN     no drift in 9 objects", "  upgrade   changes nothing", "  do        nothing",
		}},
		"several releases": {
			report.Report{
				Summary:  report.Summary{Releases: 3, DriftedReleases: 1, Objects: 9, DriftedObjects: 1, Missing: 1},
				Releases: []report.Release{{Objects: []report.Object{missing}, Drifted: true}, {}, {Operation: report.OperationUpgrade}},
			},
			[]string{"3 releases: 1 drifted, 2 clean", "  DRIFTED   1 of 9 objects missing", "  by        deletions: see the audit log"},
		},
		"drift, and an object that was not seen": {
			one(report.Release{Drifted: true, Objects: []report.Object{missing, unseen}}), []string{
				"  ERROR     1 of 9 objects missing, 1 could not be compared", "  upgrade   re-creates 1 object",
				"  do        helmdrift fix web -n prod --dry-run, or keep the edits: helmdrift absorb", "1 object could not be compared",
			},
		},
		"an error that is only counted": {
			uncounted, []string{"  ERROR     no drift in 9 objects, incomplete", "the comparison is incomplete: 1 error"},
		},
		"a chart that does not render": {
			one(report.Release{Errors: []report.Message{{Code: "render"}}}), []string{
				"  ERROR     no drift in 9 objects, the chart could not be rendered",
				"  do        correct the chart or its values: the error says where",
				"the chart could not be rendered, so what it would change is not known",
			},
		},
		"an installation that does not render": {
			one(report.Release{Operation: report.OperationInstall, Errors: []report.Message{{Code: "render", Message: "no"}}}),
			[]string{"  ERROR     not installed yet, the chart could not be rendered", "error: no"},
		},
		"an upgrade of nothing": {
			one(report.Release{Operation: report.OperationUpgrade}),
			[]string{"  CLEAN     no drift in 9 objects", "  upgrade   changes nothing", "  do        nothing"},
		},
		"only what each rendering changes": {
			one(report.Release{Operation: report.OperationUpgrade, Objects: []report.Object{{
				Kind: "Secret", Name: "s", Action: report.ActionUpdate,
				Fields: []report.Finding{{Path: "data.p", Verdict: report.Overwrite, Cause: report.CauseChange, Class: report.ClassVolatile}},
			}}}),
			[]string{"  upgrade   changes only what does not count as drift", "1 volatile field"},
		},
		"rules and a baseline": {
			one(report.Release{Objects: []report.Object{
				{Action: report.ActionCreate, Missing: true, IgnoredBy: &report.IgnoreRule{KnownSince: &fixedTime}},
				{Action: report.ActionUpdate, Fields: []report.Finding{
					{IgnoredBy: &report.IgnoreRule{}}, {IgnoredBy: &report.IgnoreRule{KnownSince: &fixedTime}},
				}},
			}}),
			[]string{"  KNOWN     nothing new (2 known since 2026-11-20) in 9 objects", "  upgrade   re-creates 1 object", "1 ignored by rules, 2 known from the baseline (see --show-ignored)"},
		},
		"an upgrade that fails halfway": {
			one(report.Release{Operation: report.OperationUpgrade, Drifted: true, Objects: []report.Object{
				missing, {Kind: "Job", Name: "j", Action: report.ActionFail, DryRun: &report.DryRun{Result: "agrees"}},
			}}),
			[]string{
				"  DRIFTED   1 of 9 objects missing", "  upgrade   fails on 1 object and re-creates 1 object", "  server    agrees on 1 object",
				"  do        resolve what the upgrade fails on, then compare again",
			},
		},
	} {
		wantLines(t, name, string(Report(&c.report, layout.Options{Unicode: true})), c.want...)
	}
}

// TestSharedNotes: remarks that end the notes of all findings are written once, and nothing else is taken out.
func TestSharedNotes(t *testing.T) {
	notes := func(texts ...string) (out report.Notes) {
		for _, text := range texts {
			out.Add(text)
		}
		return out
	}
	field := func(certain bool, texts ...string) report.Finding {
		return report.Finding{Notes: notes(texts...), Certain: certain}
	}
	for _, c := range []struct {
		fields    []report.Finding
		want      string
		uncertain bool
	}{
		{nil, "", false},
		{[]report.Finding{field(false, "a")}, "", false},
		{[]report.Finding{field(true, "a"), field(true, "a")}, "a", false},
		{[]report.Finding{field(false, "a", "b"), field(false, "c", "a", "b")}, "a; b", true},
		{[]report.Finding{field(false, "xa"), field(false, "a")}, "", true},
		{[]report.Finding{field(false, "a"), field(false)}, "", true},
		{[]report.Finding{field(true, "a"), field(false, "b", "a")}, "a", false},
	} {
		if got := sharedNoteOf(c.fields); got.notes.String() != c.want || got.uncertain != c.uncertain {
			t.Errorf("%v: %+v, want %q, %v", c.fields, got, c.want, c.uncertain)
		}
	}
	left := sharedNote{notes("a"), true}.without([]report.Finding{field(false, "b", "a"), field(false, "a")})
	if left[0].Notes.String() != "b" || len(left[1].Notes) > 0 || !left[0].Certain {
		t.Errorf("left are %+v", left)
	}
}

// TestOriginElsewhere checks what the header calls that which a release comes from, if it is in another namespace: Argo CD has no record.
func TestOriginElsewhere(t *testing.T) {
	application := &report.Deployer{Kind: "Application", Controller: report.ControllerArgo, Action: report.DeployerNone}
	for want, by := range map[string]*report.Deployer{
		" · record in ops": nil, " · Application in ops": application,
	} {
		r := &report.Report{Releases: []report.Release{{Name: "web", Namespace: "prod", StorageNamespace: "ops", Deployer: by}}}
		first, _, _ := strings.Cut(string(Report(r, layout.Options{Unicode: true})), "\n")
		if !strings.HasSuffix(first, want) {
			t.Errorf("the header is %q, and should end with %q", first, want)
		}
	}
}
