package browser

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// finding is a finding with what it is about.
type finding struct {
	report.Finding
	object  report.Object
	release report.Release
}

// countOf returns what the page says of the findings that takes selects: "3 findings in 2 objects". A missing object is a finding without
// a path.
func countOf(r *report.Report, takes func(finding) bool) string {
	findings, objects := 0, 0
	for _, rel := range r.Releases {
		for _, o := range rel.Objects {
			all := o.Fields
			if o.Missing {
				all = append([]report.Finding{{Verdict: "missing", Cause: report.CauseDrift, Managed: true}}, all...)
			}
			n := 0
			for _, f := range all {
				if takes(finding{f, o, rel}) {
					n++
				}
			}
			findings += n
			objects += min(n, 1)
		}
	}
	return counted(findings, "finding") + " in " + counted(objects, "object")
}

func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// owned reports whether a manager owns the finding.
func owned(f finding, manager string) bool {
	return slices.ContainsFunc(f.Owners, func(o report.Owner) bool { return o.Manager == manager })
}

// TestFilters: each filter selects the right findings, alone and with others, and is in the address.
func TestFilters(t *testing.T) {
	r := generate(6)
	b := open(t, write(t, r), 1280, 900)
	release := r.Releases[1]
	for name, c := range map[string]struct {
		do       func()
		takes    func(finding) bool
		fragment string
	}{
		"nothing": {func() {}, func(f finding) bool { return true }, ""},
		"release": {func() { b.choose("release", "eu-1~team-01~shop-001") }, func(f finding) bool { return f.release.Name == release.Name },
			"#?release=eu-1%7Eteam-01%7Eshop-001"},
		"kind":    {func() { b.choose("kind", "Service") }, func(f finding) bool { return f.object.Kind == "Service" }, "#?kind=Service"},
		"verdict": {func() { b.click("[data-verdict=ignore]") }, func(f finding) bool { return f.Verdict == report.Ignore }, "#?verdict=ignore"},
		"two verdicts": {func() { b.click("[data-verdict=ignore]"); b.click("[data-verdict=missing]") },
			func(f finding) bool { return f.Verdict == report.Ignore || f.Verdict == "missing" }, "#?verdict=ignore%2Cmissing"},
		"cause": {func() { b.choose("cause", "both") }, func(f finding) bool { return f.Cause == report.CauseBoth }, "#?cause=both"},
		"owner": {func() { b.choose("owner", "k9s") }, func(f finding) bool { return owned(f, "k9s") }, "#?owner=k9s"},
		"the last hour": {func() { b.choose("age", "hour") },
			func(f finding) bool { return len(f.Owners) > 0 && at.Sub(*f.Owners[0].Time) <= time.Hour }, "#?age=hour"},
		"old edits": {func() { b.choose("age", "older") },
			func(f finding) bool { return len(f.Owners) > 0 && at.Sub(*f.Owners[0].Time) > 7*24*time.Hour }, "#?age=older"},
		"drifted": {func() { b.click("#drifted") }, func(f finding) bool { return f.Drifted() }, "#?drifted=1"},
		"search a path and an owner": {func() { b.search("replicas K9S") },
			func(f finding) bool { return strings.Contains(f.Path, "replicas") && owned(f, "k9s") }, "#?q=replicas+K9S"},
		"search a value": {func() { b.search("level: debug") }, func(f finding) bool { return strings.Contains(f.Path, "application.yaml") },
			"#?q=level%3A+debug"},
		"search a name":  {func() { b.search("shop-004-3") }, func(f finding) bool { return f.object.Name == "shop-004-3" }, "#?q=shop-004-3"},
		"search in vain": {func() { b.search("no such thing") }, func(f finding) bool { return false }, "#?q=no+such+thing"},
		"kind and search": {func() { b.choose("kind", "Ingress"); b.search("image") },
			func(f finding) bool { return f.object.Kind == "Ingress" && strings.HasSuffix(f.Path, "image") }, "#?q=image&kind=Ingress"},
	} {
		b.visit("")
		c.do()
		want := countOf(r, func(f finding) bool { return !f.Silenced() && c.takes(f) })
		if got := b.text("#count"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := value[string](b, "location.hash"); got != c.fragment {
			t.Errorf("%s: the address has %s, want %s", name, got, c.fragment)
		}
		b.visit(c.fragment)
		if got := b.text("#count"); got != want {
			t.Errorf("%s, by its link: %s, want %s", name, got, want)
		}
	}
	b.visit("")
	b.click("#silenced")
	if got, want := b.text("#count"), countOf(r, func(finding) bool { return true }); got != want {
		t.Errorf("with what is ignored: %s, want %s", got, want)
	}
	b.click("#reset")
	if got := value[string](b, "location.hash"); got != "" {
		t.Errorf("without filters the address has %s", got)
	}
}

// TestOpen: a row opens an object with its three sides, the part of a value that differs is marked, and the browser's way back closes it.
func TestOpen(t *testing.T) {
	b := open(t, write(t, saved(t, "scan")), 1280, 900)
	b.click(".entry.object")
	b.wait(`document.querySelector("#detail h2").innerText === "Deployment web"`)
	said := b.text("#detail")
	for _, want := range []string{
		"the next upgrade updates it",
		"spec.template.spec.containers[name=web].image", "web:1.25", "web:1.27", "old (deployed by Helm)", "desired",
		"live value by kubectl (scale)", "3 min before the report",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("an object does not say %q:\n%s", want, said)
		}
	}
	marks := value[[]string](b, `[...document.querySelectorAll("#detail mark")].map((m) => m.className + " " + m.innerText)`)
	if want := []string{"was 2", "is 5", "was 25", "is 27"}; !slices.Equal(marks, want) {
		t.Errorf("marked is %q, want %q", marks, want)
	}
	b.run(chromedp.NavigateBack())
	b.wait(`document.querySelector("#detail h2").innerText === "Releases"`)
	if said := b.text("#detail"); strings.Contains(said, "Warnings") {
		t.Errorf("there are no warnings:\n%s", said)
	}
	b.click(".entry.release")
	b.wait(`document.querySelector("#detail h2").innerText.startsWith("db in prod on dev")`)
	if said := b.text("#detail"); !strings.Contains(said, "the record is cut off") || !strings.Contains(said, "could not be compared") {
		t.Errorf("a release that could not be read says\n%s", said)
	}
}

// TestWarningsAndEffects: without a click the page shows warnings and what Helm's writes mean for pods; an object shows its own.
func TestWarningsAndEffects(t *testing.T) {
	r := generate(2)
	r.Releases[1].Warnings = []report.Message{{Code: "w", Message: "the record may be a copy"}}
	r.Summary.Restarts, r.Summary.Downtime = 6, 1
	b := open(t, write(t, r), 1280, 900)
	if said := b.text("#detail"); !strings.Contains(said, "Warnings") || !strings.Contains(said, "the record may be a copy") {
		t.Errorf("the overview lacks the warning:\n%s", said)
	}
	if said := b.text(".tiles"); !strings.Contains(said, "6 pods restart") || !strings.Contains(said, "1 workload goes down") {
		t.Errorf("the page says\n%s", said)
	}
	b.visit("#eu-1~team-00~shop-000/" + r.Releases[0].Objects[0].ID)
	if said := b.text("#detail .effect"); said != "Effect, with downtime: restarts 3 pods, none stays ready" {
		t.Errorf("the effect is %q", said)
	}
}

// TestInside: a finding whose values are documents says what differs inside them, and the search finds it.
func TestInside(t *testing.T) {
	b := open(t, write(t, saved(t, "inside")), 1280, 900)
	b.visit(b.places()[1])
	for _, want := range []string{"inside the yaml:", "scrape_configs[job_name=alertmanager] live: removed", "only formatting", "2 more changes"} {
		if said := strings.Join(strings.Fields(b.text("#detail")), " "); !strings.Contains(said, want) {
			t.Errorf("the detail lacks %q:\n%s", want, said)
		}
	}
	b.search("job_name=alertmanager]")
	if got := b.text("#count"); got != "1 finding in 1 object" {
		t.Errorf("a search for a place inside a document takes %s", got)
	}
}

// TestLinesOfDocuments: the page marks the lines of a document that differ.
func TestLinesOfDocuments(t *testing.T) {
	r := generate(1)
	b := open(t, write(t, r), 1280, 900)
	o := r.Releases[0].Objects[1]
	b.visit("#eu-1~team-00~shop-000/" + o.ID + "/" + o.Fields[2].ID)
	marks := value[[]string](b, `[...document.querySelectorAll(".finding.target mark")].map((m) => m.innerText)`)
	if want := []string{"  level: warn", "  level: debug"}; !slices.Equal(marks, want) {
		t.Errorf("marked is %q, want %q", marks, want)
	}
	marks = value[[]string](b, `[...document.querySelectorAll(".finding:last-child mark")].map((m) => m.className + m.innerText)`)
	if want := []string{`was    "cpu": "1",`, `will    "cpu": "2",`, `is    "cpu": "4",`}; !slices.Equal(marks, want) {
		t.Errorf("marked is %q, want %q", marks, want)
	}
}

// TestCopyLink: a copied link opens the same finding with the same filters elsewhere.
func TestCopyLink(t *testing.T) {
	r := generate(4)
	b := open(t, write(t, r), 1280, 900)
	clipboard := []cdp.PermissionType{cdp.PermissionTypeClipboardReadWrite, cdp.PermissionTypeClipboardSanitizedWrite}
	b.run(cdp.GrantPermissions(clipboard))
	b.choose("kind", "Ingress")
	b.search("team-03")
	b.click(".entry.object")
	b.click(".finding:nth-child(3) .link")
	b.wait(`document.getElementById("toast").innerText === "Link copied"`)
	var link string
	b.run(chromedp.Evaluate("navigator.clipboard.readText()", &link, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	_, fragment, _ := strings.Cut(link, "#")
	o := r.Releases[3].Objects[4]
	if want := "eu-1~team-03~shop-003/" + o.ID + "/" + o.Fields[2].ID + "?q=team-03&kind=Ingress"; fragment != want {
		t.Fatalf("the link is %s, want %s", link, want)
	}
	was := b.text("#detail")
	b.visit("#" + fragment)
	if got := b.text("#detail"); got != was {
		t.Errorf("the link opens\n%s\nnot\n%s", got, was)
	}
	if got := b.text(".finding.target .path"); got != o.Fields[2].Path {
		t.Errorf("the link shows %s", got)
	}
	takes := func(f finding) bool {
		return !f.Silenced() && f.object.Kind == "Ingress" && f.release.Name == "shop-003"
	}
	if got, want := b.text("#count"), countOf(r, takes); got != want {
		t.Errorf("the link takes %s, want %s", got, want)
	}
	b.visit("#eu-1~team-03~shop-003/" + o.ID + "/gone")
	if got := b.text("#toast"); got != "What the link names is not in this report" {
		t.Errorf("a link to what is gone says %q", got)
	}
}

// TestKeys: the keyboard reaches everything.
func TestKeys(t *testing.T) {
	b := open(t, write(t, saved(t, "scan")), 1280, 900)
	b.press("j", "j", "j")
	if got := b.text(`.entry[aria-current="true"]`); !strings.HasPrefix(got, "Deployment web") {
		t.Errorf("after j j j the cursor is on %s", got)
	}
	b.press("k", "j", "Enter")
	b.wait(`document.querySelector("#detail h2").innerText === "Deployment web"`)
	b.press("Escape")
	b.wait(`document.querySelector("#detail h2").innerText === "Releases"`)
	b.press("/")
	b.press(strings.Split("missing", "")...)
	b.wait(`state.filters.q === "missing"`)
	if got := b.text("#count"); got != "1 finding in 1 object" {
		t.Errorf("a search for missing takes %s", got)
	}
	b.press("Escape")
	b.press("?")
	b.wait(`document.getElementById("keys").open`)
	b.press("Escape")
	b.wait(`!document.getElementById("keys").open`)
	for _, theme := range []string{"light", "dark", "system"} {
		b.press("t")
		if got := b.text("#theme"); got != "Theme: "+theme {
			t.Errorf("after t: %s, want %s", got, theme)
		}
	}
}

// TestPrint: the paper has what the filters select, in full and in black on white, and no controls.
func TestPrint(t *testing.T) {
	r := generate(3)
	b := open(t, write(t, r), 1280, 900)
	b.press("t")
	b.press("t")
	b.choose("kind", "ConfigMap")
	if pdf := b.print(); len(pdf) < 20_000 || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("the print has %d bytes", len(pdf))
	}
	if got := value[int](b, `document.getElementById("paper").childElementCount`); got != 0 {
		t.Errorf("after the print the paper has %d elements", got)
	}
	b.run(emulation.SetEmulatedMedia().WithMedia("print"))
	value[bool](b, `dispatchEvent(new Event("beforeprint"))`)
	paper := b.text("#paper")
	want := 0
	for _, rel := range r.Releases {
		for _, o := range rel.Objects {
			for _, f := range o.Fields {
				if o.Kind == "ConfigMap" && !f.Silenced() {
					want++
				}
			}
		}
	}
	got := value[int](b, `document.querySelectorAll("#paper .finding").length`)
	if got != want || !strings.Contains(paper, "kind = ConfigMap") {
		t.Errorf("%d findings are printed, want %d", got, want)
	}
	if got := value[bool](b, `getComputedStyle(document.getElementById("app")).display === "none"
		&& getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`); !got {
		t.Error("the controls are printed, or the paper is not white")
	}
}

// print prints the page.
func (b *tab) print() (pdf []byte) {
	b.t.Helper()
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	return pdf
}

// pageOf matches the pages of a PDF.
var pageOf = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// TestPrintIsShort: 27 findings take at most six pages, short ones and documents of 400 lines alike.
func TestPrintIsShort(t *testing.T) {
	for name, equal := range map[string]string{"short": "", "documents of 400 lines": strings.Repeat("key: value\n", 400)} {
		r := generate(1)
		objects := r.Releases[0].Objects[:6]
		objects[5].Fields = objects[5].Fields[:2]
		r.Releases[0].Objects = objects
		for _, o := range objects {
			for k := range o.Fields {
				f := &o.Fields[k]
				f.IgnoredBy = nil
				if text, ok := f.Old.(string); ok && strings.Contains(text, "\n") {
					f.Old, f.Desired, f.Live = equal+text, equal+text, equal+f.Live.(string)
				}
			}
		}
		b := open(t, write(t, r), 1280, 900)
		if got := b.text("#count"); got != "27 findings in 6 objects" {
			t.Fatal(got)
		}
		n := len(pageOf.FindAll(b.print(), -1))
		if t.Logf("%s: %d pages", name, n); n < 1 || n > 6 {
			t.Errorf("%s: 27 findings take %d pages", name, n)
		}
	}
}

// TestWithoutScripts: without scripts, the page has the answer, what could not be seen, and everything that was found with its values.
func TestWithoutScripts(t *testing.T) {
	reports := map[string]*report.Report{"generated": generate(2)}
	for _, name := range []string{"scan", "drift", "upgrade"} {
		reports[name] = saved(t, name)
	}
	for name, r := range reports {
		b := open(t, write(t, r), 1280, 900)
		b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate("about:blank"), chromedp.Navigate(b.url))
		said := b.text("body")
		want := []string{"Scripts do not run here"}
		if name == "scan" {
			want = append(want, "drifted: 2 fields in 1 of 49 objects, 1 missing (1 of 3 releases)", "the record is cut off", "helmdrift fix web -n prod")
		}
		for _, f := range r.Releases[len(r.Releases)-1].Objects {
			for _, field := range f.Fields {
				if field.Silenced() {
					continue
				}
				want = append(want, string(field.Verdict)+" "+field.Path)
				for _, side := range []any{field.Old, field.Live} {
					if text, ok := side.(string); ok && !strings.Contains(text, "\n") && text != "" && text[0] > '9' {
						want = append(want, text)
					}
				}
				for _, o := range field.Owners {
					want = append(want, o.Manager)
				}
			}
		}
		for _, want := range want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: without scripts the page does not say %q:\n%s", name, want, said)
			}
		}
		if strings.Contains(said, "Clear filters") {
			t.Errorf("%s: without scripts the page has filters", name)
		}
	}
}
