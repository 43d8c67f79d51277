package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// relativeLink is the start of a link to a file of the repository.
	relativeLink = regexp.MustCompile(`\]\(([\w.]+[/)#])`)
	// wrapped is the end of a line whose paragraph continues on the next one.
	wrapped = regexp.MustCompile(`(\S)\n *([^\s*#])`)
)

// notes returns the section of a version as the text of its release on GitHub: without its title, with links to the files of the tag, and
// with one line for each paragraph, because GitHub breaks lines there as they are broken in the text.
func notes(dir, version string, entries []entry) (string, error) {
	if len(entries) > 0 {
		return "", fmt.Errorf("changelog.d has %d entries, such as %s: make changelog VERSION=%s", len(entries), entries[0].file, version)
	}
	text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	title := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(version) + ` \(\d{4}-\d{2}-\d{2}\)\n`).FindIndex(text)
	if title == nil {
		return "", fmt.Errorf("CHANGELOG.md has no section of %s with a date: make changelog VERSION=%s", version, version)
	}
	section, _, _ := strings.Cut(string(text[title[1]:]), "\n## ")
	section = wrapped.ReplaceAllString(strings.TrimSpace(section), "$1 $2")
	return relativeLink.ReplaceAllString(section, "](https://github.com/helmdrift/helmdrift/blob/"+version+"/$1") + "\n", nil
}
