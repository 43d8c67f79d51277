package output

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/json"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// view is one way of looking at a report: its golden file is NAME.SUFFIX beside NAME.json.
type view struct {
	suffix string
	format Format
	opts   Options
}

// views of every report. Reports named in wide have all of them, the others those of the first group.
var (
	views = []view{
		{"txt", Text, Options{Unicode: true}},
		{"80.txt", Text, Options{Unicode: true, Width: 80}},
	}
	moreViews = []view{
		{"40.txt", Text, Options{Unicode: true, Width: 40}},
		{"60.txt", Text, Options{Unicode: true, Width: 60}},
		{"120.txt", Text, Options{Unicode: true, Width: 120}},
		{"ascii.txt", Text, Options{Width: 100}},
		{"color.txt", Text, Options{Unicode: true, Color: true, Width: 120}},
		{"yaml", YAML, Options{}},
	}
	wide = map[string]bool{"drift": true, "upgrade": true, "hostile": true}
)

func TestGolden(t *testing.T) {
	for name, report := range reports(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if wide[name] {
				all = append(all[:len(all):len(all)], moreViews...)
			}
			for _, v := range all {
				golden(t, filepath.Join("testdata", name+"."+v.suffix), render(t, v.format, report, v.opts))
			}
		})
	}
}

// reports reads the hand-written reports, each of which keeps the contract.
func reports(t *testing.T) map[string]*threeway.Report {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	all := map[string]*threeway.Report{}
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

// decode reads a report as the comparison makes it: with int64 where encoding/json would say float64.
func decode(t *testing.T, doc []byte) *threeway.Report {
	t.Helper()
	var r threeway.Report
	strict, err := json.UnmarshalStrict(doc, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range strict {
		t.Errorf("a key that the Go structs do not know: %v", e)
	}
	return &r
}

func render(t testing.TB, f Format, r *threeway.Report, opts Options) []byte {
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
