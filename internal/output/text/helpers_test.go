package text

import (
	"encoding/json"
	"flag"
	"testing"
	"time"

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
