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

// view is one way of looking at a report: its golden file is NAME.SUFFIX beside NAME.json.
type view struct {
	suffix string
	format Format
	opts   Options
}

// views of every report. Reports named in wide have those of the second group as well, and some of them those of the third.
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
	wide = map[string]bool{
		"drift": true, "upgrade": true, "hostile": true,
		"noise": false, "blocked": false, "rollback": false, "install": false, "dryrun": false, "render-error": false,
	}
)

func TestGolden(t *testing.T) {
	for name, report := range reports(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if most, ok := wide[name]; ok {
				all = slices.Concat(all, wideViews)
				if most {
					all = append(all, allViews...)
				}
			}
			for _, v := range all {
				v.opts.Fix, v.opts.Plan = "helmdrift fix web -n prod", planFor(report)
				golden(t, filepath.Join("testdata", name+"."+v.suffix), render(t, v.format, report, v.opts))
			}
		})
	}
}

// planFor is what a fix would put back of a report of drift, in so far as the hint below it counts it.
func planFor(r *report.Report) (plan []report.FixPlan) {
	for _, rel := range r.Releases {
		if rel.Desired == nil || rel.Desired.Source != "record" || countRender(rel.Errors) > 0 {
			continue
		}
		for _, o := range rel.Objects {
			if drifted, missing := o.ToPutBack(); missing || len(drifted) > 0 {
				plan = append(plan, report.FixPlan{Object: o.Kind + " " + o.Name, Create: missing, Fields: drifted})
			}
		}
	}
	return plan
}

// reports reads the hand-written reports, each of which keeps the contract.
func reports(t *testing.T) map[string]*report.Report {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	all := map[string]*report.Report{}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reporttest.ValidateReport(t, doc)
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = decode(t, doc)
	}
	return all
}

// TestReportsCountRight: hand-written reports count as the comparison counts, or their last lines would teach us wrong. Those
// that say little stand for releases with more objects than they list.
func TestReportsCountRight(t *testing.T) {
	for name, r := range reports(t) {
		want := report.New(r.Helmdrift, r.Time, r.Releases).Summary
		if diff := cmp.Diff(want, r.Summary); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDocShowsAPreview: the example in the package comment is what we print.
func TestDocShowsAPreview(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var example strings.Builder
	for _, l := range strings.Split(strings.TrimSpace(string(render(t, Text, reports(t)["preview"], Options{Unicode: true}))), "\n") {
		example.WriteString(strings.TrimRight("//\t"+l, "\t") + "\n")
	}
	if !strings.Contains(string(doc), example.String()) {
		t.Errorf("doc.go does not show\n%s", example.String())
	}
}

// decode reads a report as the comparison makes it: with int64 where encoding/json would say float64.
func decode(t *testing.T, doc []byte) *report.Report {
	t.Helper()
	var r report.Report
	strict, err := json.UnmarshalStrict(doc, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range strict {
		t.Errorf("a key that the Go structs do not know: %v", e)
	}
	splitNotes(&r)
	return &r
}

// splitNotes makes of the one text that JSON has the several notes that a comparison makes.
func splitNotes(r *report.Report) {
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
