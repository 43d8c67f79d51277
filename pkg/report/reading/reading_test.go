package reading

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestReadKeepsEverything reads the reports of internal/output, as JSON and as YAML, writes them again, and checks that
// nothing is lost.
func TestReadKeepsEverything(t *testing.T) {
	files, err := filepath.Glob("../../../internal/output/testdata/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d reports, %v", len(files), err)
	}
	for _, file := range files {
		saved, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(saved), `"FixResult"`) {
			continue
		}
		var want any
		if err := json.Unmarshal(saved, &want); err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{saved}
		if text, err := os.ReadFile(strings.TrimSuffix(file, "json") + "yaml"); err == nil {
			texts = append(texts, text)
		}
		for _, text := range texts {
			r, err := Report(text)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			again, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var got any
			if err := json.Unmarshal(again, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-saved +read):\n%s", file, diff)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "it has no apiVersion",
		"a":                                      "it has no apiVersion",
		"{":                                      "it is neither JSON nor YAML",
		`{"apiVersion":"v1","kind":"ConfigMap"}`: "it is a v1 ConfigMap",
		`{"apiVersion":"helmdrift.io/v1","kind":"FixResult"}`:                 "it is a helmdrift.io/v1 FixResult",
		`{"apiVersion":"helmdrift.io/v2","kind":"Report"}`:                    "a newer helmdrift may have written it",
		`{"apiVersion":"helmdrift.io/v1","kind":"Report","releases":{"a":1}}`: "it does not have the form of a report",
		`{"apiVersion":"helmdrift.io/v1","kind":"Report","time":"today"}`:     "it does not have the form of a report",
	} {
		if _, err := Report([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestReadRefusesTwo checks that of two reports in one text, none hides the other. Marks of YAML around one document are no second one.
func TestReadRefusesTwo(t *testing.T) {
	const asJSON = `{"apiVersion": "helmdrift.io/v1", "kind": "Report", "time": "2026-11-20T10:00:00Z", "releases": []}` + "\n"
	const asYAML = "apiVersion: helmdrift.io/v1\nkind: Report\ntime: \"2026-11-20T10:00:00Z\"\nreleases: []\n"
	for _, text := range []string{
		asJSON + asJSON, asJSON + asYAML, asJSON + "rest", asYAML + asYAML, asYAML + "---\n" + asYAML, asYAML + "...\n" + asJSON,
		asYAML + "---\na: b", asYAML + "summary: {errors: 1, errors: 0}\n",
	} {
		const want = "it has a second document, or a key twice; each report needs a file of its own"
		if _, err := Report([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Time([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("time of %s: %v", text, err)
		}
	}
	for _, text := range []string{asJSON, asYAML, "---\n" + asYAML + "...\n", "# a\n---\n" + asYAML + "# b\n", "---\n" + asJSON} {
		if _, err := Report([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestIsOtherKind checks that Report recognises every other document of helmdrift, as in a folder of reports.
func TestIsOtherKind(t *testing.T) {
	for _, kind := range []string{report.KindFixResult, report.KindReleaseList, report.KindHistory, report.KindAbsorbResult} {
		if _, err := Report([]byte(`{"apiVersion":"helmdrift.io/v1","kind":"` + kind + `"}`)); !IsOtherKind(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, text := range []string{`{"apiVersion":"helmdrift.io/v1","kind":"Pod"}`, "a"} {
		if _, err := Report([]byte(text)); err == nil || IsOtherKind(err) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
