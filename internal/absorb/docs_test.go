package absorb_test

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
)

// TestDocs runs the examples of docs/absorb.md. A block that begins with "# NAME" is a file of the chart or the values file. Each block
// that begins with "! EDIT", or "# ! EDIT" in YAML, is an example: a diff has all changed lines, and no lines that the patch of the values
// file lacks, and a kustomization is the output of -o kustomize without comments.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/absorb.md")
	if err != nil {
		t.Fatal(err)
	}
	files, examples := map[string][]byte{"charts/cache/Chart.yaml": []byte("apiVersion: v2\nname: cache\nversion: 1.0.0\n")}, 0
	for _, block := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		first, rest, _ := strings.Cut(block[2], "\n")
		name, isFile := strings.CutPrefix(first, "# ")
		if edit, ok := strings.CutPrefix(strings.TrimPrefix(first, "# "), "! "); ok {
			examples++
			t.Run(edit, func(t *testing.T) { checkExample(t, maps.Clone(files), edit, block[1], rest) })
		} else if isFile && !strings.HasPrefix(name, "web-patches/") {
			files[name] = []byte(rest)
		}
	}
	if examples < 12 {
		t.Errorf("the page has %d examples", examples)
	}
}

// checkExample absorbs one edit and compares what the page shows.
func checkExample(t *testing.T, files map[string][]byte, edit, form, want string) {
	t.Helper()
	dir, values := t.TempDir(), files["file.yaml"]
	delete(files, "file.yaml")
	writeFiles(t, dir, files)
	c, err := install(t.Context(), dir, values, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.edit(edit); err != nil {
		t.Fatal(err)
	}
	a, err := absorb.Run(t.Context(), c.connection(), target(dir, values), absorb.Options{
		Unmanaged: true, Rewrite: func(edits []search.Edit, _ map[string]any) ([]byte, error) { return rewritten(values, edits) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if form == "diff" {
		checkShownDiff(t, unified.Diff("file.yaml", "file.yaml", string(values), string(a.Content)), want)
		return
	}
	var out bytes.Buffer
	if err := output.WriteAbsorb(&out, output.Kustomize, a.Report("test", time.Now()), output.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, regexp.MustCompile("(?m)^#.*\n").ReplaceAllString(out.String(), "")); diff != "" {
		t.Errorf("-page +kustomization\n%s", diff)
	}
}

// rewritten returns a values file after edits.
func rewritten(text []byte, edits []search.Edit) ([]byte, error) {
	file, err := valuesfile.Parse("file.yaml", text)
	if err != nil {
		return nil, err
	}
	var changes []valuesfile.Edit
	for _, e := range edits {
		changes = append(changes, valuesfile.Edit{Path: e.Path, Value: e.Value, Remove: e.Remove})
	}
	return file.Apply(changes...)
}

// checkShownDiff checks that the patch has the lines of the page in their order, and that the page has each changed line.
func checkShownDiff(t *testing.T, patch, page string) {
	t.Helper()
	shown := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	for n, line := range strings.Split(strings.TrimSuffix(patch, "\n"), "\n") {
		switch {
		case len(shown) > 0 && line == shown[0]:
			shown = shown[1:]
		case n > 1 && strings.HasPrefix(line, "-") || n > 1 && strings.HasPrefix(line, "+"):
			t.Errorf("the page lacks %q of\n%s", line, patch)
		}
	}
	if len(shown) > 0 {
		t.Errorf("the patch lacks %q:\n%s", shown, patch)
	}
}
