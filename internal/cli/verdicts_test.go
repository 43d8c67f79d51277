package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestVerdictsTopic: the topic fits in a small terminal, and has a line for each word that docs/what-to-do.md explains of a field.
func TestVerdictsTopic(t *testing.T) {
	for line := range strings.SplitSeq(verdictsText, "\n") {
		if utf8.RuneCountInString(line) > 79 {
			t.Errorf("too long: %s", line)
		}
	}
	page, err := os.ReadFile("../../docs/what-to-do.md")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile("(?m)^\\| `([-+±∅!] )?([a-z ]+)` ").FindAllStringSubmatch(string(page), -1)
	if len(words) < 10 {
		t.Fatalf("the page has %d words: %v", len(words), words)
	}
	for _, word := range words {
		name := strings.TrimPrefix(strings.TrimPrefix(word[2], "the next upgrade "), "its namespace is ")
		name = strings.TrimSuffix(name, " on it")
		if !strings.Contains(verdictsText, "\n  "+word[1]+name+" ") {
			t.Errorf("the topic lacks %q", word[1]+name)
		}
	}
}
