package output

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

func renderHistory(t testing.TB, f Format, h *past.History, opts Options) []byte {
	t.Helper()
	doc, err := HistoryDocument(f, h, opts)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// histories reads the hand-written histories.
func histories(t *testing.T) map[string]*past.History {
	return reporttest.Documents[past.History](t, "testdata/history")
}

// TestHistoryGolden compares the views of each history.
func TestHistoryGolden(t *testing.T) {
	assets := regexp.MustCompile(`(?s)(<style>|sha256-).*?(</style>|&#39;)`)
	for name, h := range histories(t) {
		for _, v := range slices.Concat(views, wideViews, allViews, scanViews) {
			if v.suffix != "ignored.txt" {
				golden(t, filepath.Join("testdata", "history", name+"."+v.suffix), renderHistory(t, v.format, h, v.opts))
			}
		}
		golden(t, filepath.Join("testdata", "history", name+".html"), assets.ReplaceAll(renderHistory(t, HTML, h, Options{}), []byte("$1…$2")))
		fromYAML, err := yaml.YAMLToJSON(renderHistory(t, YAML, h, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range [][]byte{renderHistory(t, JSON, h, Options{}), fromYAML} {
			reporttest.ValidateReport(t, doc)
			if diff := cmp.Diff(h, reporttest.Decode[past.History](t, doc)); diff != "" {
				t.Errorf("%s decodes to something else (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestHistoryFitsTheTerminal: no line is longer than the terminal is wide, whatever the names and values.
func TestHistoryFitsTheTerminal(t *testing.T) {
	for _, c := range hostile() {
		for width := 0; width < 200; width += 37 {
			for _, unicode := range []bool{true, false} {
				opts := Options{Text: text.Options{Unicode: unicode, Width: width, Verbose: true}}
				checkLines(t, renderHistory(t, Text, historyOf(c.in), opts), opts)
			}
		}
	}
}

// TestHistoryOfHostileTexts: whatever a text is, the page has no element and no attribute that another page does not have, and its policy
// allows no script.
func TestHistoryOfHostileTexts(t *testing.T) {
	plain := renderHistory(t, HTML, historyOf("plain"), Options{})
	if !strings.Contains(string(plain), "default-src &#39;none&#39;; style-src &#39;sha256-") || strings.Contains(string(plain), "<script") {
		t.Error("the page has a script, or another policy")
	}
	known := partsOf(t, plain)
	for _, in := range []string{"</style><script>alert(1)</script>", "<img src=x onerror=alert(1)>", `"><b onclick='x'>`, "</title><h1>", "{{.}}"} {
		checkHostileHistory(t, known, in)
	}
	for _, c := range hostile() {
		checkHostileHistory(t, known, c.in)
	}
}

func checkHostileHistory(t *testing.T, known map[string]bool, in string) {
	t.Helper()
	page := renderHistory(t, HTML, historyOf(in), Options{})
	checkRaw(t, page)
	for part := range partsOf(t, page) {
		if !known[part] {
			t.Errorf("%q makes %s", in, part)
		}
	}
}

// historyOf is a history. Each text in it is s.
func historyOf(s string) *past.History {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	f := past.Finding{ID: s, Object: hostileKey(s), Path: s, State: past.There, FirstSeen: at, LastSeen: at, Periods: 2,
		Flapping: true, Managers: []string{s, s + "x"}, Steps: []past.Step{
			{Time: at, State: past.There, Live: s, Managers: []string{s}}, {Time: at, State: past.State(s)},
			{Time: at, State: past.There, Live: map[string]any{s: []any{s}}},
		}}
	other := f
	other.State, other.Absence, other.Ended = past.State(s), past.Absence(s), &at
	return &past.History{Helmdrift: s, From: at, Time: at, Reports: 1,
		Points: []past.Point{{Time: at, Findings: 3}, {Time: at.Add(time.Hour)}},
		Releases: []past.Release{
			{Name: s, Namespace: s, Cluster: s, FirstSeen: at, LastSeen: at, Reports: 1, Unknown: 1, Findings: []past.Finding{f, other}},
		}}
}

// TestHistoryHasNoOtherFormat: the other formats are about one report.
func TestHistoryHasNoOtherFormat(t *testing.T) {
	for _, f := range []Format{Rules, Prometheus, SARIF} {
		if _, err := HistoryDocument(f, historyOf("x"), Options{}); err == nil || err.Error() != "a history has the formats text, json, yaml, html" {
			t.Errorf("-o %s: %v", f, err)
		}
	}
}
