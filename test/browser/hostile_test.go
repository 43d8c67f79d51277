package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestHostileValues: whatever is opened of a report whose values try to be elements, links and scripts, the page shows them as text. Links
// lead only to the page itself.
func TestHostileValues(t *testing.T) {
	const attack = `</script><img src=x onerror="window.attacked=1"><a href="https://example.com">x</a><style>*{}</style>`
	r := generate(2)
	for i := range r.Releases {
		rel := &r.Releases[i]
		rel.Name, rel.Namespace, rel.Cluster = attack+string(rune('a'+i)), "javascript:alert(1)", "%2e/../?q=#"
		rel.Warnings = []report.Message{{Message: attack + "\n" + attack, File: attack, Object: attack}}
		for k := range rel.Objects {
			o := &rel.Objects[k]
			o.ID, o.Kind, o.Name, o.Source, o.Reason = attack+string(rune('a'+k)), attack, attack, attack, attack
			for n := range o.Fields {
				f := &o.Fields[n]
				f.ID, f.Path, f.Old, f.Live = attack+string(rune('a'+n)), attack, "a\n"+attack, map[string]any{attack: []any{attack, "\u202e\x1b[31m"}}
				f.Owners[0].Manager = attack
				f.Inside = &report.Inside{Format: attack, Changes: []report.InsideChange{{Path: attack, Change: attack, Old: attack}}}
			}
		}
	}
	b := open(t, write(t, r), 1280, 900)
	tags := map[string]bool{}
	look := func() {
		for _, tag := range value[[]string](b, `[...new Set([...document.querySelectorAll("body *")].map((e) => e.tagName))]`) {
			tags[tag] = true
		}
		for _, href := range value[[]string](b, `[...document.querySelectorAll("[href], [src], [action], [onclick], [onerror], [style]")]
			.filter((e) => !e.matches("html, #rows, .entry:not([href])")).map((e) => e.getAttribute("href") || e.outerHTML)`) {
			if !strings.HasPrefix(href, "#") {
				t.Errorf("a link or an attribute: %s", href)
			}
		}
		if value[bool](b, `"attacked" in window`) {
			t.Fatal("a value ran")
		}
	}
	look()
	if n := value[int](b, "document.scripts.length"); n != 2 {
		t.Errorf("the page has %d scripts", n)
	}
	for _, fragment := range b.places() {
		b.visit(fragment)
		look()
		if said := b.text("#detail"); !strings.Contains(said, "onerror=") {
			t.Errorf("the text is not shown at %s:\n%s", fragment, said)
		}
		if said := value[string](b, "document.body.textContent"); strings.ContainsAny(said, "\u202e\x1b") {
			t.Error("a control character is shown")
		}
	}
	b.search("<img")
	if got := b.text("#count"); got != countOf(r, func(f finding) bool { return !f.Silenced() }) {
		t.Errorf("a search for an element takes %s", got)
	}
	for _, tag := range []string{"IMG", "STYLE", "IFRAME", "OBJECT", "LINK"} {
		if tags[tag] {
			t.Errorf("the page has an element %s", tag)
		}
	}
	for _, fragment := range []string{
		"#%", "#%E0%A4%A", "#a/b/c?x=%", "#constructor/__proto__/x?kind=__proto__&verdict=toString", "#?age=constructor", "#?q=%22%3E%3Cimg%3E",
	} {
		b.visit(fragment)
		look()
	}
	if all := value[[]string](b, `Object.keys(state.filters)`); !slices.Equal(all, []string{"q"}) {
		t.Errorf("the last fragment has the filters %q", all)
	}
}
