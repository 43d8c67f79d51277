package text

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestPipedTextIsWhole: without a terminal nothing is shortened.
func TestPipedTextIsWhole(t *testing.T) {
	for name, r := range reports(t) {
		out := string(Report(r, Options{Unicode: true}))
		if strings.Contains(out, "…") {
			t.Errorf("%s is shortened:\n%s", name, out)
		}
	}
}

// TestColorIsOnlyColor: without its colours a coloured report is the plain one.
func TestColorIsOnlyColor(t *testing.T) {
	for name, r := range reports(t) {
		plain := Report(r, Options{Unicode: true, Width: 100})
		coloured := Report(r, Options{Unicode: true, Width: 100, Color: true})
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
	if out := Report(r, Options{Now: r.Time.Add(5 * time.Minute)}); !bytes.Contains(out, []byte("kubectl-set, 5 min ago")) {
		t.Errorf("%s", out)
	}
	if out := Report(r, Options{}); !bytes.Contains(out, []byte("kubectl-set, just now")) {
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
		if got := age(d); got != want {
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
			out := string(Report(&r, Options{Unicode: true}))
			if strings.Contains(out, canary) || !strings.Contains(out, "•••") {
				t.Errorf("%s, %s:\n%s", v, c, out)
			}
		}
	}
}

// TestLastLines compares the last lines of reports.
func TestLastLines(t *testing.T) {
	text := func(r report.Report) string {
		return string(Report(&r, Options{Unicode: true}))
	}
	missing := report.Object{Kind: "Service", Name: "web", Action: report.ActionCreate, Missing: true, Drifted: true}
	unseen := report.Object{Kind: "Secret", Name: "s", Action: report.ActionNone, Error: &report.ObjectError{Message: "no"}}
	for _, c := range []struct {
		name   string
		report report.Report
		want   string
	}{
		{"nothing at all", report.Report{}, "no release compared\n"},
		{"an empty release", report.Report{Summary: report.Summary{Releases: 1}, Releases: make([]report.Release, 1)},
			"\nno drift: 0 objects compared\n"},
		{
			"several releases", report.Report{
				Summary:  report.Summary{Releases: 3, DriftedReleases: 1, Objects: 9, DriftedObjects: 1, Missing: 1},
				Releases: []report.Release{{Objects: []report.Object{missing}}, {}, {Operation: report.OperationUpgrade}},
			},
			"\n1 object drifted in 1 of 3 releases; Helm re-creates 1 object\n",
		},
		{
			"drift, and an object that was not seen", report.Report{
				Summary:  report.Summary{Releases: 1, DriftedReleases: 1, Objects: 9, DriftedObjects: 1, Missing: 1, Errors: 1},
				Releases: []report.Release{{Objects: []report.Object{missing, unseen}}},
			},
			"\n1 object drifted; the next upgrade re-creates 1 object\n1 object could not be compared\n",
		},
		{
			"an error that is only counted", report.Report{
				Summary: report.Summary{Releases: 1, Objects: 9, Errors: 1}, Releases: make([]report.Release, 1),
			},
			"\nno drift seen in 9 of 9 objects\nthe comparison is incomplete: 1 error\n",
		},
		{
			"a chart that does not render", report.Report{
				Summary:  report.Summary{Releases: 1, Objects: 9, Errors: 1},
				Releases: []report.Release{{Operation: report.OperationDrift, Errors: []report.Message{{Code: "render"}}}},
			},
			"\nno drift: 9 objects compared\nthe chart could not be rendered, so what it would change is not known\n",
		},
		{
			"an installation that does not render", report.Report{
				Summary:  report.Summary{Releases: 1, Errors: 1},
				Releases: []report.Release{{Operation: report.OperationInstall, Errors: []report.Message{{Code: "render", Message: "no"}}}},
			},
			"\nerror: no\n\nthe chart could not be rendered, so what it would change is not known\n",
		},
		{
			"an upgrade of nothing", report.Report{
				Summary: report.Summary{Releases: 1, Objects: 9}, Releases: []report.Release{{Operation: report.OperationUpgrade}},
			},
			"\nno drift: 9 objects compared; the upgrade changes nothing\n",
		},
		{
			"only what each rendering changes", report.Report{
				Summary: report.Summary{Releases: 1, Objects: 9, Ignored: 1},
				Releases: []report.Release{{Operation: report.OperationUpgrade, Objects: []report.Object{{
					Kind: "Secret", Name: "s", Action: report.ActionUpdate,
					Fields: []report.Finding{{Path: "data.p", Verdict: report.Overwrite, Cause: report.CauseChange, Class: report.ClassVolatile}},
				}}}},
			},
			"\nno drift: 9 objects compared; the upgrade changes only what is ignored; 1 volatile field\n",
		},
		{
			"rules and a baseline", report.Report{
				Summary: report.Summary{Releases: 1, Objects: 9, Ignored: 3}, Releases: []report.Release{{Objects: []report.Object{
					{Action: report.ActionCreate, Missing: true, IgnoredBy: &report.IgnoreRule{Baseline: true}},
					{Action: report.ActionUpdate, Fields: []report.Finding{
						{IgnoredBy: &report.IgnoreRule{}}, {IgnoredBy: &report.IgnoreRule{Baseline: true}},
					}},
				}}},
			},
			"\nno drift: 9 objects compared; the next upgrade re-creates 1 object; " +
				"1 ignored by rules, 2 known from the baseline (see --show-ignored)\n",
		},
		{
			"an upgrade that fails halfway", report.Report{
				Summary: report.Summary{Releases: 1, Objects: 9, DriftedObjects: 1, DriftedReleases: 1},
				Releases: []report.Release{{Operation: report.OperationUpgrade, Objects: []report.Object{
					missing, {Kind: "Job", Name: "j", Action: report.ActionFail, DryRun: &report.DryRun{Result: "agrees"}},
				}}},
			},
			"\n1 object drifted; the upgrade fails on 1 object and re-creates 1 object\nthe server agrees on 1 object\n",
		},
	} {
		if got := text(c.report); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: ends with\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestSharedNotes: the remarks with which the notes of all findings end are written once, and nothing else is taken out.
func TestSharedNotes(t *testing.T) {
	notes := func(texts ...string) (out report.Notes) {
		for _, text := range texts {
			out.Add(report.NotePatch, text)
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
