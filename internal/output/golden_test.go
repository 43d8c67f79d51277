package output

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/json"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// view is one rendering of a report. Its golden file is NAME.SUFFIX beside NAME.json.
type view struct {
	suffix string
	format Format
	opts   Options
}

// All reports have views. Those named in wide have wideViews too, and those with true have allViews as well. Scans have scanViews.
var (
	views = []view{
		{"txt", Text, Options{Unicode: true}},
		{"80.txt", Text, Options{Unicode: true, Width: 80}},
	}
	wideViews = []view{
		{"40.txt", Text, Options{Unicode: true, Width: 40}},
		{"120.txt", Text, Options{Unicode: true, Width: 120}},
		{"ascii.txt", Text, Options{Width: 100}},
	}
	allViews = []view{
		{"60.txt", Text, Options{Unicode: true, Width: 60}},
		{"color.txt", Text, Options{Unicode: true, Color: true, Width: 120}},
		{"yaml", YAML, Options{}},
		{"ignored.txt", Text, Options{Unicode: true, ShowIgnored: true}},
	}
	// ciViews are for package ci. Everything that drifted sets the exit code.
	ciViews = []view{
		{"md", Markdown, Options{Fails: drifted}},
		{"junit.xml", JUnit, Options{Fails: drifted}},
		{"sarif", SARIF, Options{ChartDir: "charts/web"}},
		{"gitlab", GitLab, Options{}},
		{"github.txt", GitHub, Options{ChartDir: "charts/web"}},
	}
	scanViews = []view{{"verbose.txt", Text, Options{Unicode: true, Width: 120, Verbose: true}}}

	wide = map[string]bool{
		"scan": true, "scan-clusters": true, "scan-hostile": true, "scan-unsearched": false,
		"drift": true, "upgrade": true, "hostile": true,
		"noise": false, "blocked": false, "rollback": false, "install": false, "dryrun": false, "render-error": false,
	}
)

// drifted reports whether an object drifted.
func drifted(_ *report.Release, o *report.Object) bool { return o != nil && o.Drifted }

func TestGolden(t *testing.T) {
	for name, report := range reports(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if most, ok := wide[name]; ok {
				all = slices.Concat(all, wideViews)
				all = slices.Concat(all, ciViews)
				if most {
					all = append(all, allViews...)
				}
			}
			if report.Scan != nil {
				all = append(all, scanViews...)
			}
			for _, v := range all {
				v.opts.Fix, v.opts.Plan = "helmdrift fix web -n prod", planFor(report)
				golden(t, filepath.Join("testdata", name+"."+v.suffix), render(t, v.format, report, v.opts))
			}
		})
	}
}

// planFor returns as much of the plan for a report of drift as the hint in the last line counts.
func planFor(r *report.Report) (plan []report.FixPlan) {
	for _, rel := range r.Releases {
		if rel.Desired == nil || rel.Desired.Source != "record" || countsOf([]report.Release{rel}).renderErrors > 0 {
			continue
		}
		for _, o := range rel.Objects {
			if drifted, missing := o.ToPutBack(); missing || len(drifted) > 0 {
				plan = append(plan, report.FixPlan{Object: report.ObjectKey{Key: o.Key()}, Create: missing, Fields: drifted})
			}
		}
	}
	return plan
}

// reports reads the hand-written reports, and fixes the hand-written results of fixes.
func reports(t *testing.T) map[string]*report.Report { return documents[report.Report](t, "testdata") }

func fixes(t *testing.T) map[string]*report.FixResult {
	return documents[report.FixResult](t, "testdata/fix")
}

// documents reads the JSON files of a folder by name, and checks that each of them keeps the contract.
func documents[T any](t *testing.T, folder string) map[string]*T {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in %s: %v", folder, err)
	}
	all := map[string]*T{}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reporttest.ValidateReport(t, doc)
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = decode[T](t, doc)
	}
	return all
}

// TestReportsCountRight: the summaries of hand-written reports are those that report.New makes. Otherwise their last lines would be wrong.
func TestReportsCountRight(t *testing.T) {
	for name, r := range reports(t) {
		want := report.New(r.Helmdrift, r.Time, r.Releases).Summary
		want.Errors += len(r.Errors)
		if diff := cmp.Diff(want, r.Summary); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDocShowsReports: the examples in the package comment are what is written.
func TestDocShowsReports(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	all := reports(t)
	for _, shown := range [][]byte{
		render(t, Text, all["preview"], Options{Unicode: true}), render(t, Text, all["scan"], Options{Unicode: true}),
		renderList(t, Text, lists(t)["mixed"], Options{Unicode: true, Diff: "helmdrift diff -n prod"}),
	} {
		var example strings.Builder
		for _, l := range strings.Split(strings.TrimSpace(string(shown)), "\n") {
			example.WriteString(strings.TrimRight("//\t"+l, "\t") + "\n")
		}
		if !strings.Contains(string(doc), example.String()) {
			t.Errorf("doc.go does not show\n%s", example.String())
		}
	}
}

// decode reads a document with integers as int64, as the comparison has them; encoding/json would make them float64.
func decode[T any](t *testing.T, doc []byte) *T {
	t.Helper()
	var r T
	strict, err := json.UnmarshalStrict(doc, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range strict {
		t.Errorf("the Go structs lack a key: %v", e)
	}
	switch v := any(&r).(type) {
	case *report.Report:
		splitNotes(v)
	case *report.FixResult:
		splitNotes(v.After)
	}
	return &r
}

// splitNotes makes of the one text that JSON has the several notes that a comparison makes.
func splitNotes(r *report.Report) {
	if r == nil {
		return
	}
	split := func(notes *report.Notes) {
		texts := strings.Split(notes.String(), "; ")
		*notes = nil
		for _, text := range texts {
			notes.Add("", text)
		}
	}
	for _, release := range r.Releases {
		for i := range release.Objects {
			split(&release.Objects[i].Notes)
			for k := range release.Objects[i].Fields {
				split(&release.Objects[i].Fields[k].Notes)
			}
		}
	}
}

func render(t testing.TB, f Format, r *report.Report, opts Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, f, r, opts); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
