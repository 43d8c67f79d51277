package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/history"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestHistoryPage: the page of a history runs no script, its policy lets the style apply, the chart has a size, hostile names are texts,
// and a person opens and closes a release.
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

// TestHistoryAnswers: the page says first how much drifted, what came and what was fixed since the day before. Releases with findings stand
// first, and what is unmanaged or clean is folded.
func TestHistoryAnswers(t *testing.T) {
	b := open(t, historyPage(t), 1300, 900)
	said := b.text("body")
	for _, want := range []string{
		"108 drifted fields and objects in 4 of 5 releases\n", "+65 since yesterday, −5 fixed\n", "4 unmanaged", "1 without a finding",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q:\n%s", want, said[:400])
		}
	}
	names := value[[]string](b, `[...document.querySelectorAll("details.release > summary")].map((e) => e.innerText.split(" ")[1])`)
	if want := []string{"shop-4", "shop-1", "shop-3", "shop-2"}; !slices.Equal(names, want) {
		t.Errorf("the releases stand as %q, want %q", names, want)
	}
	if n := value[int](b, `[...document.querySelectorAll(".apart .found, .clean li")].filter((e) => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d findings that are not drift are shown", n)
	}
	if said := value[string](b, `document.querySelector(".apart").textContent`); !strings.Contains(said, "LEVEL_11") {
		t.Errorf("what is unmanaged does not stand apart: %s", said)
	}
}

// TestHistoryFilters: each check box shows what it says. No script is needed.
func TestHistoryFilters(t *testing.T) {
	b := open(t, historyPage(t), 1300, 900)
	b.run(emulation.SetScriptExecutionDisabled(true))
	for _, c := range []struct {
		click string
		want  int
	}{{"", 113}, {"#gone", 108}, {"#gone", 113}, {"#there", 5}, {"#there", 113}, {"#new", 65}, {"#new", 113}, {"#flapping", 4}} {
		if c.click != "" {
			b.click(c.click)
		}
		got := value[int](b, `[...document.querySelectorAll(".found")].filter((e) => e.checkVisibility()).length`)
		if got != c.want {
			t.Errorf("after a click on %q, %d findings are shown, want %d", c.click, got, c.want)
		}
	}
}

// TestHistoryOnPhone: on a phone each finding is a card within the page, and the first one is on the first screen.
func TestHistoryOnPhone(t *testing.T) {
	doc := historyPage(t)
	b := open(t, doc, 390, 844)
	for _, width := range []int64{390, 768} {
		b.run(emulation.SetDeviceMetricsOverride(width, 844, 1, false))
		b.look(fmt.Sprint("the history at ", width))
		narrow := value[[]string](b, `[...document.querySelectorAll(".found td")].filter((e) => e.checkVisibility())
			.filter((e) => !e.querySelector(".badge") && e.getBoundingClientRect().width < 250).map((e) => e.innerText)`)
		if len(narrow) > 0 {
			t.Errorf("at %d pixels these cells are no lines of a card: %q", width, narrow[:min(len(narrow), 3)])
		}
		if bottom := value[float64](b, `document.querySelector(".found").getBoundingClientRect().bottom`); bottom > 844 {
			t.Errorf("at %d pixels the first finding ends at %.0f of 844 pixels", width, bottom)
		}
	}
}
