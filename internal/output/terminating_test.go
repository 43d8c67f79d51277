package output

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestWhatIsBeingDeleted is told in the first line and in the last, and keeps to the contract, also where it is the namespace alone.
func TestWhatIsBeingDeleted(t *testing.T) {
	release := report.Release{
		Name: "web", Namespace: "prod", Operation: report.OperationDrift, Terminating: true, Drifted: true, Compared: 2,
		Warnings: []report.Message{}, Errors: []report.Message{}, NotCompared: []report.NotCompared{}, StorageNamespace: "prod",
	}
	object := report.Object{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: "prod", Name: "a", Action: report.ActionNone, Terminating: true, Drifted: true,
		Notes: report.Notes{{Text: "it is being deleted"}}, Fields: []report.Finding{},
	}
	for name, c := range map[string]struct {
		objects []report.Object
		want    []string
	}{
		"an object": {[]report.Object{object}, []string{
			"release web in prod: its namespace is being deleted, 1 of 2 objects drifted, 1 being deleted",
			"ConfigMap a: being deleted; the next upgrade leaves it as it is", "1 object drifted, 1 being deleted",
		}},
		"the namespace alone": {[]report.Object{}, []string{
			"its namespace is being deleted, no drift in 2 objects", "a namespace is being deleted: 2 objects compared",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			release.Objects = c.objects
			r := report.New("v0", time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), []report.Release{release})
			var text, doc bytes.Buffer
			if err := Write(&text, Text, r, Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(text.String(), want) {
					t.Errorf("%q is not in\n%s", want, text.String())
				}
			}
			if err := Write(&doc, JSON, r, Options{}); err != nil {
				t.Fatal(err)
			}
			reporttest.ValidateReport(t, doc.Bytes())
		})
	}
}
