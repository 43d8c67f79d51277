package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestFirstScreenAnswers: the first 24 lines of 80 columns of each report say whether something drifted, who edited it, what the upgrade
// does and what to do.
func TestFirstScreenAnswers(t *testing.T) {
	for name, r := range reports(t) {
		for _, opts := range []layout.Options{{Unicode: true, Width: 80}, {Width: 80}, {Unicode: true, Width: 120}, {}} {
			lines := strings.SplitAfterN(string(Report(r, opts)), "\n", screen+1)
			first := "\n" + strings.Join(lines[:min(len(lines), screen)], "")
			has := func(labels ...string) bool {
				return slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(first, "\n  "+l+" ") })
			}
			isDrifted := slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return rel.Drifted && !rel.Terminating })
			isKnown := slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return !rel.HasError() })
			switch {
			case len(r.Releases) == 0:
			case !has("DRIFTED", "CLEAN", "CHANGED", "ERROR", "BLOCKED"):
				t.Errorf("%s does not say whether something drifted:\n%s", name, first)
			case isDrifted && !has("by"):
				t.Errorf("%s does not say who:\n%s", name, first)
			case isKnown && !has("upgrade", "rollback", "install"):
				t.Errorf("%s does not say what the upgrade does:\n%s", name, first)
			case !has("do"):
				t.Errorf("%s does not say what to do:\n%s", name, first)
			}
		}
	}
}

// manyFields is a release with one object of n drifted fields.
func manyFields(n int) report.Release {
	o := report.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "prod", Name: "web", Action: report.ActionUpdate, Drifted: true}
	for i := range n {
		at := fixedTime
		o.Fields = append(o.Fields, report.Finding{
			ID: fmt.Sprint("f", i), Path: fmt.Sprintf("spec.template.spec.containers[name=c%d].image", i), Verdict: report.Overwrite, Cause: report.CauseDrift,
			Managed: true, Certain: true, Old: "registry.example.com/shop/web:1.25.3", Desired: "registry.example.com/shop/web:1.25.3",
			Live: fmt.Sprintf("registry.example.com/shop/web:1.27.%d", i), Owners: []report.Owner{{Manager: "kubectl-set", Time: &at}},
		})
	}
	return report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift, Drifted: true, Compared: 9, Objects: []report.Object{o}}
}

// relabelled is a release with n objects that have the same two labels from somebody.
func relabelled(n int) report.Release {
	rel := report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift, Drifted: true, Compared: n}
	for i := range n {
		o := report.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "prod", Name: fmt.Sprint("c", i), Action: report.ActionUpdate, Drifted: true}
		for _, label := range []string{"team", "tier"} {
			at := fixedTime
			o.Fields = append(o.Fields, report.Finding{
				ID: fmt.Sprint(label, i), Path: "metadata.labels." + label, Pointer: "/metadata/labels/" + label, Verdict: report.Overwrite,
				Cause: report.CauseDrift, Managed: true, Certain: true, Old: "shop", Desired: "shop", Live: "ops",
				Owners: []report.Owner{{Manager: "kubectl-label", Time: &at}},
			})
		}
		rel.Objects = append(rel.Objects, o)
	}
	return rel
}

// TestReportsFitOnAScreen: a report has at most 40 lines on a terminal, and one of a fleet at most 60. With -v it has all.
func TestReportsFitOnAScreen(t *testing.T) {
	var fleet []report.Release
	for i := range 300 {
		rel := cleanRelease(i)
		if i < 20 {
			rel = changedRelease(i, 3, true)
		}
		fleet = append(fleet, rel)
	}
	for name, c := range map[string]struct {
		report *report.Report
		most   int
		all    string
	}{
		"60 fields":            {report.New("v0", fixedTime, []report.Release{manyFields(60)}), 40, "[name=c59].image"},
		"17 relabelled":        {report.New("v0", fixedTime, []report.Release{relabelled(17)}), 40, "ConfigMap c16"},
		"300 with 20 drifted":  {scanOf(fleet), 60, "Deployment app-19"},
		"the reports together": {scanOf(append(slices.Clone(fleet[:2]), manyFields(60))), 60, "[name=c59].image"},
	} {
		for _, width := range []int{80, 120, 200} {
			for _, unicode := range []bool{true, false} {
				opts := layout.Options{Unicode: unicode, Width: width}
				out := string(Report(c.report, opts))
				if n := strings.Count(out, "\n"); n > c.most || strings.Contains(out, c.all) {
					t.Errorf("%s has %d lines at %d columns:\n%s", name, n, width, out)
				}
				opts.Verbose = true
				if out := string(Report(c.report, opts)); !strings.Contains(out, c.all) {
					t.Errorf("%s lacks %s with -v:\n%s", name, c.all, out)
				}
			}
		}
	}
}

// TestEditsThatObjectsShare: an edit of many objects is one line.
func TestEditsThatObjectsShare(t *testing.T) {
	out := string(Report(report.New("v0", fixedTime, []report.Release{relabelled(17)}), layout.Options{Unicode: true}))
	wantLines(t, "17 objects", out,
		"  DRIFTED   34 fields in 17 of 17 objects; newest edit just now",
		"in 17 objects:  ± puts back  metadata.labels.team  shop → ops  kubectl-label, just now · 17 ConfigMaps",
		"in 17 objects:  ± puts back  metadata.labels.tier  shop → ops  kubectl-label, just now",
		"17 more objects: nothing but what is listed above")
}

// TestAnswerFits: the answer of each report has at most six lines of 80 columns, apart from a few whose content needs more.
func TestAnswerFits(t *testing.T) {
	const most = 6
	longer := map[string]int{
		"hostile":       7, // names and values that are made to be long, and each of them quoted
		"rollback":      7, // a revision that failed, against another revision
		"scan-clusters": 8, // several clusters, drift and errors
		"scan-next":     7, // what controllers do, drift and errors
		"upgrade":       7, // each thing that an upgrade can do, and a server that disagrees
	}
	for name, r := range reports(t) {
		lines := strings.Count(string(Head(r, layout.Options{Unicode: true, Width: 80})), "\n")
		if helps := newText(layout.Options{Width: 80}, r.Time).helpLine(withScan(r)) != ""; helps {
			lines--
		}
		if want := max(most, longer[name]); lines > want || longer[name] > 0 && lines < want {
			t.Errorf("%s: the answer has %d lines, want at most %d:\n%s", name, lines, want, Head(r, layout.Options{Unicode: true, Width: 80}))
		}
	}
	if len(longer) > 5 {
		t.Errorf("%d reports are exceptions", len(longer))
	}
}

// TestHelpLine: on a terminal a report with findings, and what is left of it after the pager, names the help about them.
func TestHelpLine(t *testing.T) {
	const help = "what to do about each line: helmdrift help verdicts\n"
	drifted, clean := report.New("v0", fixedTime, []report.Release{manyFields(60)}), report.New("v0", fixedTime, []report.Release{cleanRelease(1)})
	for name, tt := range map[string]struct {
		out  []byte
		want bool
	}{
		"terminal": {Report(drifted, layout.Options{Width: 80}), true},
		"pager":    {Head(drifted, layout.Options{Width: 80}), true},
		"fleet":    {Report(scanOf([]report.Release{manyFields(1), cleanRelease(2)}), layout.Options{Width: 80}), true},
		"file":     {Report(drifted, layout.Options{}), false},
		"clean":    {Report(clean, layout.Options{Width: 80}), false},
	} {
		if got := strings.HasSuffix(string(tt.out), help); got != tt.want {
			t.Errorf("%s ends with the help: %t, want %t:\n%s", name, got, tt.want, tt.out)
		}
	}
}

// TestUrgentObjectsStandFirst: what fails stands before what is missing, and labels stand last.
func TestUrgentObjectsStandFirst(t *testing.T) {
	named := func(name string, o report.Object) report.Object {
		o.APIVersion, o.Kind, o.Name = "v1", "Thing", name
		return o
	}
	field := manyFields(1).Objects[0].Fields
	rel := report.Release{Name: "web", Namespace: "prod", Objects: []report.Object{
		named("label", report.Object{Action: report.ActionUpdate, Fields: relabelled(1).Objects[0].Fields}),
		named("field", report.Object{Action: report.ActionUpdate, Fields: field}),
		named("pods", report.Object{Action: report.ActionUpdate, Fields: field, Effect: &report.Effect{Restarts: 1}}),
		named("missing", report.Object{Action: report.ActionCreate, Missing: true}),
		named("fails", report.Object{Action: report.ActionFail}),
	}}
	out := string(Report(report.New("v0", fixedTime, []report.Release{rel}), layout.Options{Unicode: true}))
	last := -1
	for _, name := range []string{"fails", "missing", "pods", "field", "label"} {
		at := strings.Index(out, "Thing "+name)
		if at < last {
			t.Errorf("%s stands too early:\n%s", name, out)
		}
		last = at
	}
}

// TestTextsAreDiffs: two changed lines of a long text are two hunks, and unchanged lines are neither removed nor added.
func TestTextsAreDiffs(t *testing.T) {
	lines := func(changed string) string {
		var all strings.Builder
		for i := range 200 {
			value := ""
			if i == 3 || i == 150 {
				value = changed
			}
			fmt.Fprintf(&all, "key%d: %d%s\n", i, i, value)
		}
		return all.String()
	}
	rel := manyFields(1)
	f := &rel.Objects[0].Fields[0]
	f.Path, f.Old, f.Desired, f.Live = `data["app.conf"]`, lines(""), lines(""), lines("0")
	out := string(Report(report.New("v0", fixedTime, []report.Release{rel}), layout.Options{Unicode: true}))
	wantLines(t, "a long text", out, `  ± puts back  data["app.conf"]  2 of 200 lines  kubectl-set, just now`,
		"    │ @@ 3", "    │   key2: 2", "    │ - key3: 3", "    │ + key3: 30", "    │   key4: 4", "    │ @@ 150", "    │ - key150: 150")
	if n := strings.Count(out, "\n"); n > 20 {
		t.Errorf("%d lines:\n%s", n, out)
	}
	f.Live = strings.TrimSuffix(lines(""), "\n")
	out = string(Report(report.New("v0", fixedTime, []report.Release{rel}), layout.Options{Unicode: true}))
	wantLines(t, "the last line break", out, `    │ \ no line break at the end`)
}

// TestCutWithoutBegins: lines that begin no object stay whole, also behind those of another release.
func TestCutWithoutBegins(t *testing.T) {
	text := newText(layout.Options{Width: 80}, fixedTime)
	text.begins = []begin{{}}
	text.Line("an object of another release")
	from := text.Out.Len()
	for range 2 * maxBody {
		text.Line("created objects of some kind")
	}
	whole := text.Out.String()
	if text.cutBody(from); text.Out.String() != whole {
		t.Errorf("cut to\n%s", text.Out.String())
	}
}

// TestAdviceIsSafeToPaste: a command does not name a release whose name a shell could run.
func TestAdviceIsSafeToPaste(t *testing.T) {
	rel := manyFields(1)
	rel.Name = "$(reboot)"
	out := string(Report(report.New("v0", fixedTime, []report.Release{rel}), layout.Options{Unicode: true}))
	wantLines(t, "a name of a command", out, "  do        helmdrift fix NAME -n NAMESPACE --dry-run, or keep the edits: helmdrift absorb")
}
