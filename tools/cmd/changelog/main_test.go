package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEntries reads the entries of the project.
func TestEntries(t *testing.T) {
	if _, err := readEntries("../../.."); err != nil {
		t.Error(err)
	}
}

func TestParseEntry(t *testing.T) {
	for text, wrong := range map[string]string{
		"kind: added\n\nIt has a flag.\n":                      "",
		"kind: removed\napi: ./pkg/a.B: removed\n\nB is gone.": "",
		"kind: new\n\nIt has a flag.":                          `kind "new"`,
		"kind: added\n\n":                                      "whole sentences",
		"kind: added\n\nIt has a flag":                         "whole sentences",
		"kind: added\n\nOne.\n\nTwo.":                          "one paragraph",
		"kind: added\nauthor: me\n\nIt has a flag.":            "neither kind nor api",
		"kind: added\n\n" + strings.Repeat("a ", 80) + ".":     "140 columns",
	} {
		_, err := parseEntry(text)
		if (err != nil) != (wrong != "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %q", text, err, wrong)
		}
	}
}

func TestAssemble(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "CHANGELOG.md"), "# Changelog\n\nHead.\n\n## v0.1.0 (2026-11-23)\n\nFirst.\n")
	write(t, filepath.Join(dir, "changelog.d", "README.md"), "How to write an entry")
	write(t, filepath.Join(dir, "changelog.d", "one.md"), "kind: fixed\n\nIt ends.\nAlways.\n")
	write(t, filepath.Join(dir, "changelog.d", "two.md"), "kind: added\napi: ./pkg/a.B: removed\n\nIt begins.\n")
	entries, err := readEntries(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := assemble(dir, "v0.2.0", time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC), entries); err != nil {
		t.Fatal(err)
	}
	const want = "# Changelog\n\nHead.\n\n## v0.2.0 (2026-12-24)\n\n### Added\n\n* It begins.\n  * for programs: `./pkg/a.B: removed`\n" +
		"\n### Fixed\n\n* It ends.\n  Always.\n\n## v0.1.0 (2026-11-23)\n\nFirst.\n"
	if got, _ := os.ReadFile(filepath.Join(dir, "CHANGELOG.md")); string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "changelog.d", "*")); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	write(t, filepath.Join(dir, "CHANGELOG.md"), "# Changelog\n\n## v0.3.0 (unreleased)\n\nFirst.\n")
	if err := assemble(dir, "v0.3.0", time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC), nil); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "CHANGELOG.md")); string(got) != "# Changelog\n\n## v0.3.0 (2026-12-24)\n\nFirst.\n" {
		t.Errorf("%s", got)
	}
	for _, version := range []string{"v0.3.0", "0.4.0"} {
		if assemble(dir, version, time.Now(), entries) == nil {
			t.Errorf("%s is assembled", version)
		}
	}
}

// TestNotes prints the notes of a release, which needs a section with a date and no entries that are left.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "CHANGELOG.md"), "# Changelog\n\n## v0.3.0 (unreleased)\n\nLater.\n\n## v0.2.0 (2026-12-24)\n\n### Added\n\n"+
		"* It begins, as [a page](docs/a.md#b) says. It\n  ends. See [Go](https://go.dev).\n  * for programs: `./pkg/a.B: removed`\n* More.\n"+
		"\nAn end\nfor all.\n\n## v0.1.0 (2026-11-23)\n\nFirst.\n")
	const want = "### Added\n\n* It begins, as [a page](https://github.com/helmdrift/helmdrift/blob/v0.2.0/docs/a.md#b) says. It ends. " +
		"See [Go](https://go.dev).\n  * for programs: `./pkg/a.B: removed`\n* More.\n\nAn end for all.\n"
	var out strings.Builder
	if err := run(dir, &out, []string{"notes", "v0.2.0"}); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
	if got, err := notes(dir, "v0.1.0", nil); err != nil || got != "First.\n" {
		t.Errorf("%v %q", err, got)
	}
	for _, version := range []string{"v0.3.0", "v0.2"} {
		if got, err := notes(dir, version, nil); err == nil {
			t.Errorf("%s has the notes %q", version, got)
		}
	}
	if _, err := notes(dir, "v0.2.0", []entry{{file: "changelog.d/one.md"}}); err == nil || !strings.Contains(err.Error(), "changelog.d/one.md") {
		t.Errorf("an entry that is left: %v", err)
	}
}

// TestAPI removes a function that the last tag has. It runs as in a hook of git in another repository, which stays as it is.
func TestAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds apidiff")
	}
	dir, apidiff := t.TempDir(), filepath.Join(t.TempDir(), "apidiff.exe")
	must := func(where, name string, args ...string) {
		t.Helper()
		if _, err := output(where, name, args...); err != nil {
			t.Fatal(err)
		}
	}
	must(".", "go", "build", "-o", apidiff, "golang.org/x/exp/cmd/apidiff")
	other := t.TempDir()
	t.Setenv("GIT_DIR", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, "index"))
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "pkg", "a", "a.go"), "package a\n\nfunc B() {}\n\nfunc C() {}\n")
	must(dir, "git", "init", "--quiet")
	must(dir, "git", "add", ".")
	must(dir, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "one")
	expect := func(fails bool, says string) {
		t.Helper()
		var out strings.Builder
		err := run(dir, &out, []string{"api", apidiff})
		if err != nil {
			out.WriteString(err.Error())
		}
		if (err != nil) != fails || !strings.Contains(out.String(), says) {
			t.Errorf("%s, want %q", out.String(), says)
		}
	}
	expect(false, "there is no tag yet")
	must(dir, "git", "tag", "v0.1.0")
	expect(false, "0 incompatible changes since v0.1.0")
	write(t, filepath.Join(dir, "pkg", "a", "a.go"), "package a\n\nfunc C() {}\n\nfunc D() {}\n")
	expect(true, "api: ./pkg/a.B: removed")
	write(t, filepath.Join(dir, "changelog.d", "b.md"), "kind: removed\napi: ./pkg/a.B: removed\n\nB is gone.\n")
	expect(false, "1 incompatible changes since v0.1.0, all named")
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
		t.Errorf("the other repository has %v, %v", left, err)
	}
}
