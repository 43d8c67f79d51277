package browser

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// leastContrast is what WCAG 2 asks of text at level AA.
const leastContrast = 4.5

// contrasts is an expression: the texts in sight whose contrast with what is behind them is too small.
const contrasts = `(() => {
	const channels = (color) => color.match(/[\d.]+/g).map(Number);
	const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const groundOf = (element) => {
		for (let e = element; e; e = e.parentElement) {
			const [r, g, b, a = 1] = channels(getComputedStyle(e).backgroundColor);
			if (a === 1) return [r, g, b];
			if (a !== 0) throw new Error("half transparent: " + e.className);
		}
		return [255, 255, 255];
	};
	const bad = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const element = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
		if (element.closest("script, style, noscript, option, .toast, :disabled")) continue;
		const [ink, ground] = [luminance(channels(getComputedStyle(element).color)), luminance(groundOf(element))];
		const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
		if (contrast < %g) bad.push(element.className + " " + walker.currentNode.data.trim().slice(0, 30) + ": " + contrast.toFixed(2));
	}
	return [...new Set(bad)];
})()`

// outside is an expression: the elements that reach beyond the page, so that a person would have to scroll sideways or could not see them.
const outside = `(() => {
	const width = document.documentElement.clientWidth;
	const cut = (e) => e.closest(".cut, .value, option, script, style, noscript, .toast");
	const isOutside = (e) => e.checkVisibility() && !cut(e) && e.getBoundingClientRect().right > width + 0.5;
	const all = [...document.querySelectorAll("body *")].filter(isOutside);
	const page = document.scrollingElement.scrollWidth > width ? ["the page: " + document.scrollingElement.scrollWidth + " > " + width] : [];
	return [...page, ...all.map((e) => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right) + " > " + width)];
})()`

// overlaps is an expression: the rows of the list that cover each other.
const overlaps = `(() => {
	const boxes = [...document.querySelectorAll(".entry")].map((e) => [e.innerText, e.getBoundingClientRect()]);
	boxes.sort((a, b) => a[1].top - b[1].top);
	return boxes.filter(([, box], i) => i > 0 && box.top < boxes[i - 1][1].bottom).map(([text]) => text);
})()`

// TestPicture: on a large and a small screen, in the light and the dark theme, nothing reaches beyond the page, no text is too faint to
// read, rows do not cover each other, and the three sides stand beside each other if there is room.
func TestPicture(t *testing.T) {
	grounds := map[string]string{"light": "rgb(245, 246, 248)", "dark": "rgb(18, 22, 28)"}
	docs := map[string][]byte{"generated": write(t, generate(5))}
	for _, name := range []string{"effects", "hostile", "masked", "preview", "scan-clusters", "scan-unsearched"} {
		docs[name] = write(t, saved(t, name))
	}
	for name, doc := range docs {
		b := open(t, doc, 1280, 900)
		for _, size := range [][2]int64{{1280, 900}, {375, 740}} {
			b.run(emulation.SetDeviceMetricsOverride(size[0], size[1], 1, false))
			b.visit("")
			for _, fragment := range append([]string{""}, b.places()...) {
				b.visit(fragment)
				for theme, ground := range grounds {
					b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
					where := fmt.Sprintf("%s, %d pixels, %s, %s", name, size[0], theme, fragment)
					if got := value[string](b, "getComputedStyle(document.body).backgroundColor"); got != ground {
						t.Errorf("%s: the ground is %s, want %s", where, got, ground)
					}
					if b.look(where); fragment != "" {
						b.lookAtSides(where, size[0] > 900)
					}
				}
			}
		}
	}
}

// places returns the fragments of the first release and of the first objects.
func (b *tab) places() []string {
	return value[[]string](b, `[...report.releases.slice(0, 1).map((release) => fragmentOf({release}, {})),
		...report.objects.slice(0, 2).map((object) => fragmentOf({release: object.parent, object}, {}))]`)
}

// look checks the picture.
func (b *tab) look(where string) {
	b.t.Helper()
	for what, expression := range map[string]string{
		"too faint": fmt.Sprintf(contrasts, leastContrast), "outside": outside, "covered": overlaps,
	} {
		if bad := value[[]string](b, "%s", expression); len(bad) > 0 {
			b.t.Errorf("%s: %s: %q", where, what, bad[:min(len(bad), 5)])
		}
	}
}

// lookAtSides checks that the sides of each finding stand beside each other, or else below each other.
func (b *tab) lookAtSides(where string, beside bool) {
	b.t.Helper()
	tops := value[[][]float64](b, `[...document.querySelectorAll(".sides")].slice(0, 5)
		.map((s) => [...s.children].map((c) => c.getBoundingClientRect().top))`)
	for _, top := range tops {
		slices.Sort(top)
		if isBeside := top[0] == top[len(top)-1]; len(top) != 3 || isBeside != beside {
			b.t.Errorf("%s: the sides stand at %v", where, top)
		}
	}
}

// TestThemeOfPerson: the choice of a person wins over the system's, and stays.
func TestThemeOfPerson(t *testing.T) {
	b := open(t, write(t, saved(t, "drift")), 1280, 900)
	ground := func() string { return value[string](b, "getComputedStyle(document.body).backgroundColor") }
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	dark := ground()
	b.click("#theme")
	light := ground()
	b.visit("")
	if kept := ground(); light == dark || kept != light {
		t.Errorf("dark is %s, light %s, and after a reload it is %s", dark, light, kept)
	}
	b.click("#theme")
	b.click("#theme")
}

// TestScreenshots makes the pictures of docs/reading-reports.md with -update, and otherwise checks that they are there and small.
func TestScreenshots(t *testing.T) {
	r := shown(t)
	b := open(t, write(t, r), 1280, 860)
	const deployment = "5b1e0c9a7d42"
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		b.visit("#eu-1~prod~shop/" + deployment)
		var png []byte
		b.run(chromedp.Sleep(200*time.Millisecond), chromedp.CaptureScreenshot(&png))
		file := "../../docs/report-" + theme + ".png"
		if *update {
			if err := os.WriteFile(file, png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatalf("%v (go test -update writes it)", err)
		}
		if info.Size() > 200_000 {
			t.Errorf("%s has %d bytes", file, info.Size())
		}
	}
}

// shown returns the report of the screenshots.
func shown(t *testing.T) *report.Report {
	t.Helper()
	text, err := os.ReadFile("testdata/shown.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := reading.Report(text)
	if err != nil {
		t.Fatal(err)
	}
	return report.NewScan(r.Helmdrift, r.Time, r.Releases, r.Errors, report.Scan{Clusters: []string{"eu-1"}, Seconds: 1.4})
}
