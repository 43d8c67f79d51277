package reporttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/json"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Documents reads the JSON files of a folder by name, and checks that each of them keeps the contract.
func Documents[T any](t testing.TB, folder string) map[string]*T {
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
		ValidateReport(t, doc)
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = Decode[T](t, doc)
	}
	return all
}

// Decode reads a document with integers as int64, as the comparison has them; encoding/json would make them float64.
func Decode[T any](t testing.TB, doc []byte) *T {
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
			notes.Add(text)
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

// Golden compares a text with a file, and writes the file first if update is set.
func Golden(t testing.TB, update bool, file string, got []byte) {
	t.Helper()
	if update {
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
