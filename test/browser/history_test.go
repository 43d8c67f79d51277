package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/history"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestHistoryPage: the page of a history runs no script, its policy lets the style apply, the chart has a size, hostile names are texts, and
// a person opens and closes a release.
func TestHistoryPage(t *testing.T) {
	var b history.Builder
	for i := range 30 {
		rel := report.Release{Name: "web<img src=x onerror=alert(1)>", StorageNamespace: "prod", Cluster: "dev", Operation: report.OperationDrift}
		o := report.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "prod", Name: "web"}
		if i%3 > 0 {
			o.Fields = []report.Finding{{ID: "1", Path: "spec.replicas", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true,
				Live: fmt.Sprintf("<script>alert(%d)</script>", i), Owners: []report.Owner{{Manager: "k9s"}}}}
		}
		rel.Objects = []report.Object{o}
		at := time.Date(2026, 11, 1+i, 9, 0, 0, 0, time.UTC)
		if err := b.Add(report.New("test", at, []report.Release{rel})); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := output.HistoryDocument(output.HTML, b.History("test"), output.Options{Text: text.Options{Unicode: true}})
	if err != nil {
		t.Fatal(err)
	}
	page := open(t, doc, 1200, 900)
	for question, want := range map[string]string{
		`String(document.querySelectorAll("script, img").length)`:                                          "0",
		`getComputedStyle(document.querySelector(".chart .findings")).fill`:                                "none",
		`String(document.querySelector("svg").getBoundingClientRect().height)`:                             "180",
		`String(document.querySelector(".chart .findings").getBBox().width)`:                               "900",
		`document.querySelector("summary").textContent.startsWith("release \"web<img src=x") ? "yes" : ""`: "yes",
		`String(document.querySelector("details").open)`:                                                   "true",
	} {
		if got := value[string](page, "%s", question); got != want {
			t.Errorf("%s is %q, want %q", question, got, want)
		}
	}
	if value[bool](page, `(document.querySelector("summary").click(), document.querySelector("details").open)`) {
		t.Error("a release does not close")
	}
}
