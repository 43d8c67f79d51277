package main

import (
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
	// testName is the name of a test, which a link to its file may have as its text.
	testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)\w+$`)
)

// TestLinksInDocs checks that every file, heading and test to which a page has a link exists. Of addresses of the Web,
// only the form is checked, because tests need no network.
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

// TestIndexOfDocs checks that docs/README.md, the index, has a link to every page of docs.
func TestIndexOfDocs(t *testing.T) {
	var index string
	all := pages(t)
	for _, p := range all {
		if p.file == "docs/README.md" {
			index = p.text
		}
	}
	for _, p := range all {
		if path.Dir(p.file) == "docs" && path.Base(p.file) != "README.md" && !strings.Contains(index, "("+path.Base(p.file)+")") {
			t.Errorf("docs/README.md has no link to %s", p.file)
		}
	}
}
