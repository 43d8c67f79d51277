package monospace

import (
	"slices"
	"testing"
)

// TestWrap breaks texts into lines of six columns.
func TestWrap(t *testing.T) {
	for text, want := range map[string][]string{
		"":                   {""},
		"a b":                {"a b"},
		" a":                 {"a"},
		"one two three":      {"one", "two", "three"},
		"one tw three":       {"one tw", "three"},
		"a  b":               {"a  b"},
		"abcdefghijklmno":    {"abcdef", "ghijkl", "mno"},
		"ab cdefghijklmn":    {"ab", "cdefgh", "ijklmn"},
		"漢漢漢漢 b":             {"漢漢漢", "漢 b"},
		"a漢漢漢":               {"a漢漢", "漢"},
		"abcde\u0301f g":     {"abcde\u0301f", "g"},
		"abc · d":            {"abc ·", "d"},
		"· a · ·":            {"·", "a · ·"},
		"a · · · · · · · ·b": {"a · · ", "· · · ", "· · ·b"},
	} {
		if got := Wrap(text, 6); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
