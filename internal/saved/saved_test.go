package saved

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadWhole reads every report of the tests of the output.
func TestReadWhole(t *testing.T) {
	names, err := filepath.Glob("../output/testdata/*")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	read := 0
	for _, name := range names {
		if !slices.Contains([]string{".json", ".yaml"}, filepath.Ext(name)) {
			continue
		}
		_, err := Read(name, nil)
		switch {
		case err == nil:
			read++
		case strings.Contains(err.Error(), "FixResult"):
		default:
			t.Error(err)
		}
	}
	if read < 20 {
		t.Errorf("%d reports", read)
	}
}

// TestReadCutOff checks that a report of one release in YAML is refused wherever it is cut off.
func TestReadCutOff(t *testing.T) {
	text, err := os.ReadFile("../output/testdata/drift.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	for n := range lines {
		if _, err := Read("-", bytes.NewReader(bytes.Join(lines[:n], nil))); err == nil {
			t.Errorf("no error with %d of %d lines", n, len(lines))
		}
	}
}

// TestReadNotWhole checks each count.
func TestReadNotWhole(t *testing.T) {
	const head = `{"apiVersion": "helmdrift.io/v1", "kind": "Report", "time": "2026-11-20T10:00:00Z"`
	for _, row := range [][2]string{
		{`}`, "it has no releases"},
		{`, "releases": null}`, "it has no releases"},
		{`, "releases": [], "errors": [{}]}`, "its summary counts 0 errors, and the report has 1;"},
		{`, "releases": [], "summary": {"releases": 2}}`, "counts 2 releases, and the report has 0;"},
		{`, "releases": [{"drifted": true}], "summary": {"releases": 1}}`, "counts 0 drifted releases, and the report has 1;"},
		{`, "releases": [{"compared": 2}], "summary": {"releases": 1, "objects": 3}}`, "counts 3 objects, and the report has 2;"},
		{`, "releases": [{}], "summary": {"releases": 1, "driftedObjects": 1}}`, "counts 1 drifted object, and the report has 0;"},
		{`, "releases": [{}], "summary": {"releases": 1, "managed": 1, "unmanaged": 1}}`, "counts 2 findings, and the report has 0;"},
	} {
		rest, want := row[0], row[1]
		if _, err := Read("-", strings.NewReader(head+rest)); err == nil || !strings.Contains(err.Error(), "- is not a whole report: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rest, err, want)
		}
	}
}
