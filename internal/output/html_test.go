package output

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestHTMLGolden compares the pages of some reports. It leaves out the style, the script and their hashes, because they are files
// already.
func TestHTMLGolden(t *testing.T) {
	all := reports(t)
	assets := regexp.MustCompile(`(?s)(<style>|<script>|sha256-).*?(</style>|</script>|&#39;)`)
	for _, name := range []string{"clean", "drift", "effects", "errors", "hostile", "inside", "masked", "preview", "scan", "scan-unsearched", "scan-claims",
		"environments"} {
		page := render(t, HTML, all[name], Options{})
		golden(t, filepath.Join("testdata", "html", name+".html"), assets.ReplaceAll(page, []byte("$1…$2")))
	}
}

// TestPagesHaveHashesOfWhatTheyRun: the policy takes the style and the script that the browser finds, and nothing else.
func TestPagesHaveHashesOfWhatTheyRun(t *testing.T) {
	page := string(render(t, HTML, reports(t)["drift"], Options{}))
	_, policy, _ := strings.Cut(page, `<meta http-equiv="Content-Security-Policy" content="`)
	policy, _, _ = strings.Cut(policy, `"`)
	policy = html.UnescapeString(policy)
	for _, element := range []string{"style", "script"} {
		_, text, _ := strings.Cut(page, "<"+element+">")
		text, _, _ = strings.Cut(text, "</"+element+">")
		if want := element + "-src '" + sha256Of(text) + "';"; !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	for _, want := range []string{"default-src 'none';", "require-trusted-types-for 'script';"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
}

// sha256Of returns the hash of a text as a policy names it.
func sha256Of(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// FuzzHTML: whatever a text of a report is, the page has no element and no attribute that another report does not have, and its data is
// the escaped text.
func FuzzHTML(f *testing.F) {
	for _, c := range hostile() {
		f.Add(c.in)
	}
	for _, s := range []string{
		"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--<script>", "--></noscript><a href=javascript:alert(1)>x</a>",
		`"><b onclick='x'>`, "]]>", "</title><h1>", "{{.}}", "&lt;b&gt;&#60;", "\u2028\u2029", "::error::x\n::error::y",
		"a\n##vso[x]\n", "`${alert(1)}`",
		"~", "a/b?q=1#x", "[x](javascript:alert(1))", "https://example.com",
	} {
		f.Add(s)
	}
	known := partsOf(f, pageOf(f, "plain"))
	f.Fuzz(func(t *testing.T, s string) {
		page := pageOf(t, s)
		checkRaw(t, page)
		for part := range partsOf(t, page) {
			if !known[part] {
				t.Errorf("%q makes %s", s, part)
			}
		}
		checkData(t, page)
	})
}

// pageOf returns the page of a scan. Each text in it is s. The scan has a few of the objects of reportOf, because fuzzing is slow with
// many.
func pageOf(t testing.TB, s string) []byte {
	t.Helper()
	r := reportOf(s)
	r.Releases = []report.Release{r.Releases[0], r.Releases[len(r.Releases)-1]}
	r.Releases[0].Objects = r.Releases[0].Objects[:3]
	r.Scan = &report.Scan{Clusters: []string{s, s + "x"}}
	r.Errors = []report.ScanError{{Cluster: s, Namespace: s, Code: s, Message: s}, {Message: s}}
	for i := range r.Releases {
		r.Releases[i].Effect = &report.ReleaseEffect{Text: s, Inexact: s, Downtime: []report.ObjectKey{hostileKey(s)}}
		for k := range r.Releases[i].Objects {
			o := &r.Releases[i].Objects[k]
			o.Effect = &report.Effect{Text: s, Inexact: s, Downtime: true, Lost: []string{s}, Notes: []string{s}}
			o.Reason, o.IgnoredBy = s, nil
			for j := range o.Fields {
				o.Fields[j].IgnoredBy = nil
			}
		}
	}
	return render(t, HTML, r, Options{})
}

// partsOf returns the elements of a page with their attributes, once as a browser with scripts takes them and once as one without.
func partsOf(t testing.TB, page []byte) map[string]bool {
	t.Helper()
	parts := map[string]bool{}
	for _, scripting := range []bool{true, false} {
		doc, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(scripting))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			switch n.Type {
			case html.ElementNode:
				parts[n.Namespace+"<"+n.Data+">"] = true
				for _, a := range n.Attr {
					parts[fmt.Sprintf("<%s %s:%s=%q>", n.Data, a.Namespace, a.Key, a.Val)] = true
				}
			case html.CommentNode:
				parts["a comment"] = true
			}
		}
	}
	return parts
}

// checkData checks that the data of a page is JSON in one script element, and that none of its texts holds a hidden character.
func checkData(t testing.TB, page []byte) {
	t.Helper()
	_, text, _ := bytes.Cut(page, []byte(`<script type="application/json" id="data">`))
	text, _, _ = bytes.Cut(text, []byte("</script>"))
	var data any
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	eachText(data, func(s string) {
		if strings.ContainsFunc(strings.ReplaceAll(s, "\n", ""), escape.IsHidden) {
			t.Errorf("the data has %q", s)
		}
	})
}

// eachText calls f with each text in a decoded document.
func eachText(value any, f func(string)) {
	switch v := value.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			eachText(item, f)
		}
	case map[string]any:
		for _, item := range v {
			eachText(item, f)
		}
	}
}
