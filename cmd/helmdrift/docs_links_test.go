package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	// link is a link or a picture of a page.
	link = regexp.MustCompile(`\[([^\]\n]*(?:\n[^\]\n]*)?)\]\(([^)\s]+)\)`)
	// heading is a heading of a page.
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	// testName is the name of a test. A link to its file may have the name as its text.
	testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)\w+$`)
)

// TestLinksInDocs checks that every file, heading and test exists that a page links to. It checks only the form of
// addresses of the Web, because tests need no network.
func TestLinksInDocs(t *testing.T) {
	all, links := pages(t), 0
	anchors := map[string][]string{}
	for _, p := range all {
		anchors[p.file] = p.anchors()
	}
	for _, p := range all {
		for _, found := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(p.prose(), "code"), -1) {
			links++
			text, target := found[1], found[2]
			if address, err := url.Parse(target); err != nil || address.IsAbs() {
				if err != nil || address.Scheme != "https" || address.Host == "" {
					t.Errorf("%s: the link %s is no address of the Web", p.file, target)
				}
				continue
			}
			file, anchor, hasAnchor := strings.Cut(target, "#")
			to := path.Join(path.Dir(p.file), file)
			if file == "" {
				to = p.file
			}
			code, err := os.ReadFile(filepath.Join("../..", to))
			if info, statErr := os.Stat(filepath.Join("../..", to)); statErr != nil || err != nil && !info.IsDir() {
				t.Errorf("%s: the link to %s leads nowhere", p.file, target)
			}
			if hasAnchor && !slices.Contains(anchors[to], anchor) {
				t.Errorf("%s: %s has no heading %q", p.file, to, anchor)
			}
			if testName.MatchString(text) && !strings.Contains(string(code), "func "+text+"(") {
				t.Errorf("%s: %s has no %s", p.file, to, text)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
}

// anchors returns the anchors of the headings of a page, as GitHub makes them.
func (p page) anchors() (out []string) {
	for _, found := range heading.FindAllStringSubmatch(p.prose(), -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, link.ReplaceAllString(found[1], "$1"))
		out = append(out, anchor)
	}
	return out
}

// TestIndexOfDocs checks that docs/README.md, the index, has a link to every page of docs and docs/dev.
func TestIndexOfDocs(t *testing.T) {
	var index string
	all := pages(t)
	for _, p := range all {
		if p.file == "docs/README.md" {
			index = p.text
		}
	}
	for _, p := range all {
		name, isDoc := strings.CutPrefix(p.file, "docs/")
		if isDoc && name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md has no link to %s", p.file)
		}
	}
}

var (
	// namedPage is a file of docs that a text names, with an optional heading: as an anchor, or in quotes after a comma.
	namedPage = regexp.MustCompile(`([\w./-]*)\bdocs/([\w/-]+\.(?:md|svg|png|json))(?:#([\w-]+)|,\s"([^"]+)")?`)
	// nextLine is a line break inside a comment or a paragraph.
	nextLine = regexp.MustCompile(`\n[ \t]*(?:// |# )?`)
)

// TestPagesInCode checks that the files of docs that messages, comments, cases and configuration name exist, and the headings that they
// cite.
func TestPagesInCode(t *testing.T) {
	headings, named := map[string][]string{}, 0
	for _, p := range pages(t) {
		for _, found := range heading.FindAllStringSubmatch(p.prose(), -1) {
			headings[p.file] = append(headings[p.file], found[1])
		}
		headings[p.file] = append(headings[p.file], p.anchors()...)
	}
	check := func(file, text string) {
		for _, found := range namedPage.FindAllStringSubmatch(nextLine.ReplaceAllString(text, " "), -1) {
			to, cited := "docs/"+found[2], found[3]+found[4]
			if strings.Trim(found[1], "./") != "" || to == "docs/a.md" { // another docs, or a page that a test makes up
				continue
			}
			named++
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s names %s, which does not exist", file, to)
			} else if cited != "" && !slices.Contains(headings[to], cited) {
				t.Errorf("%s cites %q, which %s does not have", file, cited, to)
			}
		}
	}
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules"}, entry.Name()) {
			return filepath.SkipDir
		}
		kinds := []string{".go", ".md", ".yaml", ".yml", ".txtar", ".txt", ".sh", ".js", ".html"}
		if err != nil || entry.IsDir() || !slices.Contains(kinds, filepath.Ext(file)) && entry.Name() != "Makefile" {
			return err
		}
		text, err := os.ReadFile(file)
		check(file, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if named < 200 {
		t.Errorf("only %d names of pages were found", named)
	}
}
