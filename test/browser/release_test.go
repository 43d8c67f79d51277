package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestOpensOnItsRelease: the report of one release opens on that release, with all its fields and the command that fixes it. The report of
// several opens on the overview.
func TestOpensOnItsRelease(t *testing.T) {
	r := saved(t, "drift")
	b := open(t, write(t, r), 1280, 900)
	said := b.text("#detail")
	for _, o := range r.Releases[0].Objects {
		for _, f := range o.Fields {
			if has := strings.Contains(said, f.Path); has == f.Silenced() && !strings.Contains(f.Path, "replicas") {
				t.Errorf("the release names the field %s: %t", f.Path, has)
			}
		}
	}
	for _, want := range []string{"web in prod on eu-1", "helmdrift fix web -n flux-system", "2 → 5", "kubectl (scale), 3 min before the report"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not open with %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "All releases") {
		t.Error("the page of one release has a way to all releases")
	}
	b.click(`.field[href$="/` + r.Releases[0].Objects[0].Fields[0].ID + `"]`)
	b.wait(`document.querySelector(".finding.target .path")?.innerText === %q`, r.Releases[0].Objects[0].Fields[0].Path)
	b.press("Escape")
	b.wait(`document.querySelector("#detail h2").innerText.startsWith("web in prod")`)

	b = open(t, write(t, saved(t, "scan")), 1280, 900)
	if got := b.text("#detail h2"); got != "Releases" {
		t.Errorf("the report of several releases opens on %s", got)
	}
	b.visit("#dev~prod~web")
	if said := b.text("#detail"); !strings.Contains(said, "helmdrift fix web -n prod") || !strings.Contains(said, "web:1.25 → web:1.27") {
		t.Errorf("a release of several says\n%s", said)
	}
}

// TestManyFields: a release shows its first fields, and the others when a person asks for them.
func TestManyFields(t *testing.T) {
	r := generate(1)
	for range 3 {
		r.Releases[0].Objects = append(r.Releases[0].Objects, r.Releases[0].Objects...)
	}
	b := open(t, write(t, r), 1280, 900)
	all := value[int](b, "state.found.findings")
	for shown := 0; ; {
		now := value[int](b, `document.querySelectorAll(".field, .objectHead").length`)
		if now <= shown {
			t.Fatalf("%d rows, and before %d", now, shown)
		}
		shown = now
		if !value[bool](b, `Boolean(document.querySelector(".fields > button"))`) {
			break
		}
		b.click(".fields > button")
	}
	if got := value[int](b, `document.querySelectorAll(".field").length`); got < 300 || got > all {
		t.Errorf("%d fields of %d findings are shown", got, all)
	}
}

// TestPhone: on a phone the first screen has a finding, and the filters are folded.
func TestPhone(t *testing.T) {
	const height = 844
	docs := map[string][]byte{"generated": write(t, generate(5))}
	for _, name := range []string{"drift", "scan", "scan-clusters", "effects", "preview", "errors"} {
		docs[name] = write(t, saved(t, name))
	}
	for name, doc := range docs {
		b := open(t, doc, 390, height)
		if value[bool](b, `byId("filterBox").open`) {
			t.Errorf("%s: the filters are open", name)
		}
		const ends = `Math.min(...[...document.querySelectorAll(".field, .entry.object, .objectHead")].filter((e) => e.checkVisibility())
			.map((e) => e.getBoundingClientRect().bottom))`
		if bottom := value[float64](b, ends); bottom > height {
			t.Errorf("%s: the first finding ends at %.0f of %d pixels", name, bottom, height)
		}
		b.click("#filterBox summary")
		b.wait(`byId("q").checkVisibility()`)
	}
	b := open(t, docs["scan"], 1280, 900)
	if !value[bool](b, `byId("filterBox").open && byId("q").checkVisibility()`) {
		t.Error("on a large screen the filters are folded")
	}
	b.run(emulation.SetDeviceMetricsOverride(390, height, 1, false))
	b.wait(`!byId("filterBox").open`)
	b.press("/")
	b.wait(`document.activeElement === byId("q")`)
}

// TestTiles: a tile selects what it counts, and a second click shows all again.
func TestTiles(t *testing.T) {
	docs := map[string]*report.Report{"generated": generate(5)}
	for _, name := range []string{"drift", "scan-clusters", "errors", "hostile"} {
		docs[name] = saved(t, name)
	}
	seen := map[string]bool{}
	for name, r := range docs {
		b := open(t, write(t, r), 1280, 900)
		all := b.text("#count")
		for _, filter := range value[[]string](b, `[...document.querySelectorAll("[data-filter]")].map((e) => e.dataset.filter)`) {
			seen[filter] = true
			tile := fmt.Sprintf("[data-filter=%q]", filter)
			number, _, _ := strings.Cut(b.text(tile), " ")
			b.click(tile + " button")
			count := strings.Fields(b.text("#count")) // "3 findings in 2 objects"
			switch {
			case filter == "ignored=1": // shows more than it counts
			case count[0] != number && count[3] != number:
				t.Errorf("%s: the tile %s says %s and selects %q", name, filter, number, count)
			}
			if value[string](b, `document.querySelector(%q).getAttribute("aria-pressed")`, tile+" button") != "true" {
				t.Errorf("%s: the tile %s does not look pressed", name, filter)
			}
			b.click(tile + " button")
			if got := b.text("#count"); got != all {
				t.Errorf("%s: after a second click on %s the page has %s, want %s", name, filter, got, all)
			}
		}
	}
	for _, want := range []string{"drifted=1", "verdict=missing", "verdict=error", "unmanaged=1", "ignored=1"} {
		if !seen[want] {
			t.Errorf("no report has the tile %s", want)
		}
	}
}
