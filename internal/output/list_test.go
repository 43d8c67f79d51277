package output

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report/listing"
)

// lists reads the hand-written lists of releases.
func lists(t *testing.T) map[string]*listing.List {
	return reporttest.Documents[listing.List](t, "testdata/list")
}

func renderList(t testing.TB, f Format, l *listing.List, opts Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteList(&out, f, l, opts); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestListGolden compares the views of each list.
func TestListGolden(t *testing.T) {
	for name, l := range lists(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if name != "none" {
				all = slices.Concat(views, wideViews, allViews)
			}
			for _, v := range all {
				v.opts.Text.Diff = "helmdrift diff -n prod"
				if v.suffix != "ignored.txt" { // nothing of a list is ignored
					golden(t, filepath.Join("testdata", "list", name+"."+v.suffix), renderList(t, v.format, l, v.opts))
				}
			}
		})
	}
}

// TestListKeepsTheContract: JSON and YAML decode to the list.
func TestListKeepsTheContract(t *testing.T) {
	for name, l := range lists(t) {
		fromYAML, err := yaml.YAMLToJSON(renderList(t, YAML, l, Options{}))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, doc := range [][]byte{renderList(t, JSON, l, Options{}), fromYAML} {
			reporttest.ValidateReport(t, doc)
			if diff := cmp.Diff(l, reporttest.Decode[listing.List](t, doc)); diff != "" {
				t.Errorf("%s decodes to something else (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestListFitsTheTerminal: no line is longer than the terminal is wide, and none begins with a value.
func TestListFitsTheTerminal(t *testing.T) {
	for _, l := range lists(t) {
		for width := 0; width < 200; width += 13 {
			for _, unicode := range []bool{true, false} {
				opts := Options{Text: text.Options{Unicode: unicode, Width: width, Diff: "helmdrift diff -A"}}
				checkLines(t, renderList(t, Text, l, opts), opts)
			}
		}
	}
}

// TestListHasNoOtherFormat: rules and metrics are about findings, so a list has none.
func TestListHasNoOtherFormat(t *testing.T) {
	for _, f := range []Format{Rules, Prometheus} {
		err := WriteList(&bytes.Buffer{}, f, &listing.List{}, Options{})
		if err == nil || !strings.Contains(err.Error(), "only a report has this format") {
			t.Errorf("-o %s: %v", f, err)
		}
	}
}
