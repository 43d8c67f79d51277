package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/ci"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// reports reads the reports that internal/output has golden files for.
func reports(t testing.TB) map[string]*report.Report {
	t.Helper()
	names, err := filepath.Glob("../../internal/output/testdata/*.json")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d reports, %v", len(names), err)
	}
	out := map[string]*report.Report{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := reading.Report(text)
		if err != nil {
			continue // a list, or the result of a fix
		}
		out[filepath.Base(name)] = r
	}
	return out
}

func write(t testing.TB, f output.Format, r *report.Report) []byte {
	t.Helper()
	drifted := func(_ *report.Release, o *report.Object) bool { return o != nil && o.Drifted }
	doc, err := output.Document(f, r, output.Options{CI: ci.Options{Fails: drifted, ChartDir: "charts/web"}})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSARIF checks the documents against the schema of SARIF 2.1.0, and what GitHub asks for beyond it: a location, a known rule and a
// fingerprint of its own for every result.
func TestSARIF(t *testing.T) {
	for name, r := range reports(t) {
		doc, err := readSARIF(write(t, output.SARIF, r))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seen := map[string]bool{}
		for _, result := range doc.Runs[0].Results {
			fingerprint := result.PartialFingerprints["helmdrift/v1"]
			if seen[fingerprint] && name != "hostile.json" { // every id of that report is the same text
				t.Errorf("%s: two results have the fingerprint %s: %s", name, fingerprint, *result.Message.Text)
			}
			seen[fingerprint] = true
			if rule := doc.Runs[0].Tool.Driver.Rules[result.RuleIndex]; *rule.ID != *result.RuleID {
				t.Errorf("%s: rule %d is %s, not %s", name, result.RuleIndex, *rule.ID, *result.RuleID)
			}
			if uri := *result.Locations[0].PhysicalLocation.ArtifactLocation.URI; uri == "" || strings.HasPrefix(uri, "/") || strings.Contains(uri, "..") {
				t.Errorf("%s: location %q", name, uri)
			}
		}
		if done := *doc.Runs[0].Invocations[0].ExecutionSuccessful; done == r.HasError() {
			t.Errorf("%s: executionSuccessful %v of a report with errors: %v", name, done, r.HasError())
		}
	}
}

// sarifSchema returns the schema of SARIF 2.1.0. The library has it in a constant that it does not export, so it is read from its source.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	for _, declaration := range file.Decls {
		d, ok := declaration.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		text, err := strconv.Unquote(d.Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("sarif.json", doc); err != nil {
			return nil, err
		}
		return c.Compile("sarif.json")
	}
	return nil, errors.New("the library has no schema")
})

// readSARIF checks a document against the schema and reads it.
func readSARIF(text []byte) (*sarif.Report, error) {
	schema, err := sarifSchema()
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if err := schema.Validate(doc); err != nil {
		return nil, err
	}
	return sarif.FromBytes(text)
}

// TestJUnit reads the documents as Jenkins and GitLab do, and checks that their counts match their cases.
func TestJUnit(t *testing.T) {
	for name, r := range reports(t) {
		doc := write(t, output.JUnit, r)
		suites, err := junit.Ingest(doc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var head struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
		}
		if err := xml.Unmarshal(doc, &head); err != nil {
			t.Fatal(err)
		}
		var tests, failures, errors, skipped int
		for _, s := range suites {
			tests, failures, errors, skipped = tests+s.Totals.Tests, failures+s.Totals.Failed, errors+s.Totals.Error, skipped+s.Totals.Skipped
		}
		if head.Tests != tests || head.Failures != failures || head.Errors != errors || head.Skipped != skipped {
			t.Errorf("%s: %+v, and the cases are %d, %d, %d, %d", name, head, tests, failures, errors, skipped)
		}
		if r.HasError() && errors == 0 {
			t.Errorf("%s: the report has errors, and no case has one", name)
		}
		if len(r.Releases) > 0 && tests < len(r.Releases) {
			t.Errorf("%s: %d cases for %d releases", name, tests, len(r.Releases))
		}
	}
}

// TestGitLab checks what GitLab asks for: known severities, a path, and unique fingerprints.
func TestGitLab(t *testing.T) {
	for name, r := range reports(t) {
		var issues []struct {
			Description, Fingerprint, Severity string
			CheckName                          string `json:"check_name"`
			Location                           struct {
				Path  string
				Lines struct{ Begin int }
			}
		}
		d := json.NewDecoder(bytes.NewReader(write(t, output.GitLab, r)))
		d.DisallowUnknownFields()
		if err := d.Decode(&issues); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seen := map[string]bool{}
		for _, i := range issues {
			if i.Description == "" || i.CheckName == "" || i.Location.Path == "" || i.Location.Lines.Begin < 1 || seen[i.Fingerprint] ||
				!slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, i.Severity) {
				t.Errorf("%s: %+v", name, i)
			}
			seen[i.Fingerprint] = true
		}
	}
}

// command is a workflow command as the runner reads it (github.com/actions/runner src/Runner.Common/ActionCommand.cs).
var command = regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.*)$`)

// TestGitHub checks that each line is one annotation, and that there are at most ten of a kind.
func TestGitHub(t *testing.T) {
	for name, r := range reports(t) {
		kinds := map[string]int{}
		for line := range strings.Lines(string(write(t, output.GitHub, r))) {
			found := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if found == nil {
				t.Errorf("%s: %q", name, line)
				continue
			}
			kinds[found[1]]++
			for property := range strings.SplitSeq(found[2], ",") {
				if key, _, ok := strings.Cut(property, "="); !ok || !slices.Contains([]string{"file", "line", "title"}, key) {
					t.Errorf("%s: property %q", name, property)
				}
			}
		}
		for kind, n := range kinds {
			if n > 10 {
				t.Errorf("%s: %d annotations of kind %s", name, n, kind)
			}
		}
	}
}

// allowed are the elements that our own words make of Markdown.
var allowed = []string{"html", "head", "body", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "details", "summary", "ul", "li", "strong"}

// TestMarkdown checks that a comment fits, and that only our own words make elements.
func TestMarkdown(t *testing.T) {
	for name, r := range reports(t) {
		checkMarkdown(t, name, write(t, output.Markdown, r))
	}
	large := &report.Report{Summary: report.Summary{Releases: 5000}}
	for range 5000 {
		o := report.Object{Kind: "ConfigMap", Name: "c", Drifted: true, Fields: []report.Finding{{Path: "data.k", Verdict: report.Overwrite, Managed: true, Cause: report.CauseDrift, Live: "```|```"}}}
		large.Releases = append(large.Releases, report.Release{Name: "web", Drifted: true, Objects: []report.Object{o}})
	}
	doc := write(t, output.Markdown, large)
	checkMarkdown(t, "large", doc)
	if !regexp.MustCompile(`\n\d+ more lines do not fit into a comment`).Match(doc) {
		t.Error("a comment that is too long does not count what it leaves out")
	}
}

// checkMarkdown renders a comment as GitHub does, and looks at every element.
func checkMarkdown(t testing.TB, name string, doc []byte) {
	t.Helper()
	if n := utf8.RuneCount(doc); n > 65536 {
		t.Errorf("%s: %d characters", name, n)
	}
	var page bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe())).Convert(doc, &page); err != nil {
		t.Fatal(err)
	}
	depth := 0
	for z := html.NewTokenizer(&page); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Errorf("%s: %v", name, z.Err())
			}
			if depth != 0 {
				t.Errorf("%s: %d folds are not closed", name, depth)
			}
			return
		case html.StartTagToken:
			token := z.Token()
			isDiff := token.String() == `<code class="language-diff">`
			if !slices.Contains(allowed, token.Data) || len(token.Attr) > 0 && !isDiff {
				t.Errorf("%s: element %s", name, token)
			}
			if token.Data == "details" {
				depth++
			}
		case html.EndTagToken:
			if token := z.Token(); token.Data == "details" {
				depth--
			}
		}
	}
}

// FuzzHostile checks that no foreign text gets out of its place in any format.
func FuzzHostile(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := hostile(s)
		docs := map[output.Format][]byte{}
		for _, format := range []output.Format{output.Markdown, output.JUnit, output.SARIF, output.GitLab, output.GitHub} {
			docs[format] = write(t, format, r)
			if i := bytes.IndexFunc(docs[format], func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
				t.Errorf("%s: raw byte %#x", format, docs[format][i])
			}
		}
		checkMarkdown(t, "markdown", docs[output.Markdown])
		one := &report.Report{Releases: r.Releases[:1]}
		checkMarkdown(t, "markdown of one release", write(t, output.Markdown, one))
		if _, err := junit.Ingest(docs[output.JUnit]); err != nil {
			t.Error(err)
		}
		if err := checkSARIF(docs[output.SARIF], s); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(docs[output.GitHub])) {
			if !command.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("a line of GitHub's: %q", line)
			}
		}
	})
}

// seeds are texts that mean something in one of the formats.
func seeds() []string {
	return []string{
		"nginx:1.27", "\x1b]0;pwned\x07", "a\n::error::b", "##vso[task.complete]", "<script>alert(1)</script>", "</summary></details><img src=x onerror=y>",
		"`", "``` ", " `a", "a | b", `a \| b`, "\\", "[x](http://ex.com)", "@everyone", "#1", "http://ex.com", "&lt;", "]]>", "%0A::error::", "\u202e", "a\r\n\r\n# b",
		"-->", "<!--", "**b**", "| --- |", "",
	}
}

// checkSARIF reads a document. To compile its schema and to check against it takes most of the time of a fuzzing worker, so only the seeds
// are checked against it, and one of many other inputs: its hash decides, so an input that fails once fails again.
func checkSARIF(doc []byte, input string) error {
	if slices.Contains(seeds(), input) || crc32.ChecksumIEEE([]byte(input))%1024 == 0 {
		_, err := readSARIF(doc)
		return err
	}
	_, err := sarif.FromBytes(doc)
	return err
}

// hostile returns a report whose every text is s.
func hostile(s string) *report.Report {
	rule := &report.IgnoreRule{Rule: s, Reason: s}
	field := report.Finding{
		ID: s, Path: s, Verdict: report.Overwrite, Cause: report.CauseBoth, Managed: true, Old: s, Desired: map[string]any{s: s}, Live: s + "x",
		Notes: report.Notes{s}, Owners: []report.Owner{{Manager: s, Subresource: s}},
		Inside: &report.Inside{Format: s, Changes: []report.InsideChange{{Path: s, Change: s, Old: s, Live: s + "x"}}, More: 1},
	}
	silent, document := field, field
	silent.IgnoredBy = rule
	document.Desired, document.Live = "a\n"+s+"\nb\n", "b\n"+s+"\n"+s+"x\n"
	object := report.Object{
		ID: s, Kind: s, Namespace: s, Name: s, Source: s + "/" + s, Action: report.ActionUpdate, Reason: s, Drifted: true, Fields: []report.Finding{field, document, silent},
		Effect: &report.Effect{Text: s},
	}
	failing, missing, unseen := object, object, object
	failing.Action, missing.Missing, unseen.Error = report.ActionFail, true, &report.ObjectError{Code: s, Message: s}
	release := report.Release{
		Name: s, Namespace: s, StorageNamespace: s, Cluster: s, Operation: report.OperationUpgrade, Drifted: true,
		Errors: []report.Message{{Code: s, Message: s, Object: s}}, Objects: []report.Object{object, failing, missing, unseen},
		Effect: &report.ReleaseEffect{Text: s},
	}
	clean := report.Release{Name: s, StorageNamespace: s}
	return &report.Report{
		Helmdrift: s, Releases: []report.Release{release, clean}, Errors: []report.ScanError{{Cluster: s, Namespace: s, Code: s, Message: s}},
		Summary: report.Summary{Releases: 2, DriftedReleases: 1, Errors: 2},
	}
}
