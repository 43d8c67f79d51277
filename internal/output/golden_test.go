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

	"github.com/helmdrift/helmdrift/internal/output/ci"
	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// view is one rendering of a report. Its golden file is NAME.SUFFIX beside NAME.json.
type view struct {
	suffix string
	format Format
	opts   Options
}

// All reports have views. The reports named in wide have wideViews too, and those with true also have allViews and timelineViews. Scans
// have scanViews.
var (
	views = []view{
		{"txt", Text, Options{Text: text.Options{Unicode: true}}},
		{"80.txt", Text, Options{Text: text.Options{Unicode: true, Width: 80}}},
	}
	wideViews = []view{
		{"40.txt", Text, Options{Text: text.Options{Unicode: true, Width: 40}}},
		{"120.txt", Text, Options{Text: text.Options{Unicode: true, Width: 120}}},
		{"200.txt", Text, Options{Text: text.Options{Unicode: true, Width: 200}}},
		{"ascii.txt", Text, Options{Text: text.Options{Width: 100}}},
	}
	allViews = []view{
		{"60.txt", Text, Options{Text: text.Options{Unicode: true, Width: 60}}},
		{"color.txt", Text, Options{Text: text.Options{Unicode: true, Color: true, Width: 120}}},
		{"yaml", YAML, Options{}},
		{"ignored.txt", Text, Options{Text: text.Options{Unicode: true, ShowIgnored: true}}},
	}
	// ciViews are for package ci. Everything that drifted sets the exit code.
	ciViews = []view{
		{"md", Markdown, Options{CI: ci.Options{Fails: drifted}}},
		{"junit.xml", JUnit, Options{CI: ci.Options{Fails: drifted, FailsOn: isOrphan}}},
		{"sarif", SARIF, Options{CI: ci.Options{ChartDir: "charts/web"}}},
		{"gitlab", GitLab, Options{}},
		{"github.txt", GitHub, Options{CI: ci.Options{ChartDir: "charts/web"}}},
	}
	timelineViews = []view{
		{"timeline.txt", Text, Options{Text: text.Options{Unicode: true, Timeline: true}}},
		{"timeline.80.txt", Text, Options{Text: text.Options{Unicode: true, Width: 80, Timeline: true}}},
		{"timeline.120.txt", Text, Options{Text: text.Options{Unicode: true, Width: 120, Timeline: true}}},
		{"timeline.200.txt", Text, Options{Text: text.Options{Unicode: true, Width: 200, Timeline: true}}},
		{"timeline.ascii.txt", Text, Options{Text: text.Options{Width: 100, Timeline: true}}},
		{"timeline.color.txt", Text, Options{Text: text.Options{Unicode: true, Color: true, Width: 120, Timeline: true}}},
	}
	scanViews = []view{{"verbose.txt", Text, Options{Text: text.Options{Unicode: true, Width: 120, Verbose: true}}}}

	wide = map[string]bool{
		"scan": true, "scan-clusters": true, "scan-hostile": true, "scan-unsearched": false, "scan-next": false, "scan-claims": false,
		"drift": true, "upgrade": true, "hostile": true, "inside": true,
		"noise": false, "blocked": false, "rollback": false, "install": false, "dryrun": false, "render-error": false,
		"service": false, "conflict": false, "environments": true,
	}
)

// drifted reports whether an object drifted.
func drifted(_ *report.Release, o *report.Object) bool { return o != nil && o.Drifted }

// isOrphan reports whether a word of --fail-on is orphan.
func isOrphan(word string) bool { return word == "orphan" }

func TestGolden(t *testing.T) {
	for name, report := range reports(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if most, ok := wide[name]; ok {
				all = slices.Concat(all, wideViews)
				all = slices.Concat(all, ciViews)
				if most {
					all = slices.Concat(all, allViews, timelineViews)
				}
			}
			if report.Scan != nil {
				all = append(all, scanViews...)
			}
			for _, v := range all {
				v.opts.Text.Fix, v.opts.Text.Plan = "helmdrift fix web -n prod", planFor(report)
				golden(t, filepath.Join("testdata", name+"."+v.suffix), render(t, v.format, report, v.opts))
			}
		})
	}
}

// planFor returns the part of the plan for a report of drift that the hint in the last line counts.
func planFor(r *report.Report) (plan []report.FixPlan) {
	for _, rel := range r.Releases {
		if rel.Desired == nil || rel.Desired.Source != "record" || slices.ContainsFunc(rel.Errors, isRenderError) {
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

// isRenderError reports whether a chart could not be rendered.
func isRenderError(m report.Message) bool { return m.Code == report.ErrorRender }

// reports reads the hand-written reports, and fixes the hand-written results of fixes.
func reports(t *testing.T) map[string]*report.Report {
	return reporttest.Documents[report.Report](t, "testdata")
}

func fixes(t *testing.T) map[string]*report.FixResult {
	return reporttest.Documents[report.FixResult](t, "testdata/fix")
}

// TestReportsCountRight: the summaries of hand-written reports are the ones that report.New makes. Otherwise their last lines would be
// wrong.
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
	doc, err := os.ReadFile("text/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	all := reports(t)
	for _, shown := range [][]byte{
		render(t, Text, all["preview"], Options{Text: text.Options{Unicode: true}}), render(t, Text, all["scan"], Options{Text: text.Options{Unicode: true}}),
		renderList(t, Text, lists(t)["mixed"], Options{Text: text.Options{Unicode: true, Diff: "helmdrift diff -n prod"}}),
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
	reporttest.Golden(t, *update, file, got)
}
