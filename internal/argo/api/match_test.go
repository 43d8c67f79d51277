package api_test

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
)

// TestMatchesGlob has what github.com/gobwas/glob v1.0.0 answers.
func TestMatchesGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		separators    []rune
		want          bool
	}{
		{pattern: "ab", text: "ab", want: true},
		{pattern: "*.yaml", text: "a/b.yaml", want: true},
		{pattern: "*.yaml", text: "a/b.yaml", separators: []rune{'/'}},
		{pattern: "**.yaml", text: "a/b.yaml", separators: []rune{'/'}, want: true},
		{pattern: "?", text: "/", separators: []rune{'/'}},
		{pattern: "?", text: "ü", want: true},
		{pattern: "?", text: ""}, // and the rest of this block is what v0.2.3 answers otherwise
		{pattern: "[!a]", text: ""},
		{pattern: "ab*bc", text: "abc"},
		{pattern: "{a*}ab", text: "ab"},
		{pattern: "a***", text: "a", separators: []rune{'/'}, want: true},
		{pattern: "*{,.yaml}", text: "a", want: true},
		{pattern: "a{}*", text: "ab", want: true},
		{pattern: "*{.yaml,.yml}", text: "a.yml", want: true},
		{pattern: "{*.yaml,b/{c,d}*}", text: "b/d1", want: true},
		{pattern: "a,b}", text: "a,b}", want: true},
		{pattern: `\*\{`, text: "*{", want: true},
		{pattern: `a.c`, text: "abc"},
		{pattern: "[a-c]", text: "b", want: true},
		{pattern: "[!a-c]", text: "b"},
		{pattern: "[^a]", text: "^", want: true},
		{pattern: `[a\]]`, text: "]", want: true},
		{pattern: "[]a]", text: "a"},
		{pattern: "[a-]", text: "a"},
		{pattern: "[c-a]", text: "b"},
		{pattern: "a{b", text: "a{b"},
		{pattern: "[a", text: "[a"},
		{pattern: `a\`, text: "a"},
		{pattern: "*", text: "two\nlines", want: true},
	} {
		if got := api.MatchesGlob(c.pattern, c.text, c.separators...); got != c.want {
			t.Errorf("%q, %q, %q: %v", c.pattern, c.text, c.separators, got)
		}
	}
}
