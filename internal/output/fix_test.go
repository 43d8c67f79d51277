package output

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fixes reads the hand-written results of fixes, each of which keeps the contract.
func fixes(t *testing.T) map[string]*report.FixResult {
	t.Helper()
	files, err := filepath.Glob("testdata/fix/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no results: %v", err)
	}
	all := map[string]*report.FixResult{}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reporttest.ValidateReport(t, doc)
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = decodeFix(t, doc)
	}
	return all
}

func decodeFix(t *testing.T, doc []byte) *report.FixResult {
	t.Helper()
	var r report.FixResult
	strict, err := sigsjson.UnmarshalStrict(doc, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range strict {
		t.Errorf("a key that the Go structs do not know: %v", e)
	}
	if r.After != nil {
		splitNotes(r.After)
	}
	return &r
}

// fixText is all that somebody sees of a fix on a terminal: the plan, the question where there is one, and what became of it.
func fixText(t testing.TB, r *report.FixResult, opts Options) []byte {
	t.Helper()
	var out bytes.Buffer
	errs := []error{WriteFixPlan(&out, r, opts)}
	if len(r.Plan) > 0 && r.DryRun == "" {
		errs = append(errs, WriteFixQuestion(&out, r, opts))
		out.WriteString("y\n")
	}
	errs = append(errs, WriteFix(&out, Text, r, opts))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestFixGolden: the views of each result; those of every width only where much is said.
func TestFixGolden(t *testing.T) {
	for name, r := range fixes(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if slices.Contains([]string{"mixed", "hostile"}, name) {
				all = slices.Concat(views, wideViews, allViews)
			}
			for _, v := range all {
				got := fixText(t, r, v.opts)
				if v.format != Text {
					got = renderFix(t, v.format, r)
				}
				golden(t, filepath.Join("testdata", "fix", name+"."+v.suffix), got)
			}
		})
	}
}

func renderFix(t *testing.T, f Format, r *report.FixResult) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteFix(&out, f, r, Options{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFixKeepsTheContract: JSON and YAML say the same, and nothing gets lost on the way.
func TestFixKeepsTheContract(t *testing.T) {
	for name, r := range fixes(t) {
		fromYAML, err := yaml.YAMLToJSON(renderFix(t, YAML, r))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, doc := range [][]byte{renderFix(t, JSON, r), fromYAML} {
			reporttest.ValidateReport(t, doc)
			if diff := cmp.Diff(r, decodeFix(t, doc)); diff != "" {
				t.Errorf("%s does not survive (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestFixTextFitsTheTerminal: no line is longer than the terminal is wide, and none begins with a value.
func TestFixTextFitsTheTerminal(t *testing.T) {
	for _, r := range fixes(t) {
		for width := 1; width < 200; width += 13 {
			wide := Options{Unicode: true, Width: width}
			checkLines(t, fixText(t, r, wide), wide)
			plain := Options{Width: width}
			checkLines(t, fixText(t, r, plain), plain)
		}
	}
}

// TestFixAfterCounts: hand-written comparisons count as the comparison counts.
func TestFixAfterCounts(t *testing.T) {
	for name, r := range fixes(t) {
		if r.After == nil {
			continue
		}
		want := report.New(r.Helmdrift, r.Time, r.After.Releases).Summary
		if diff := cmp.Diff(want, r.After.Summary); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
