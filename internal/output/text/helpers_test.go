package text

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fixedTime is the time of the reports that tests make.
var fixedTime = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// reports reads the hand-written reports.
func reports(t *testing.T) map[string]*report.Report {
	return reporttest.Documents[report.Report](t, "../testdata")
}

// encoded returns a report as JSON, so that tests can compare it before and after.
func encoded(t *testing.T, r *report.Report) []byte {
	t.Helper()
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares a text with a file.
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
