package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestShowsLinks(t *testing.T) {
	for env, want := range map[string]bool{
		"":                                       false,
		"TERM=xterm-256color":                    false,
		"VTE_VERSION=7600":                       true,
		"VTE_VERSION=5000":                       false,
		"TERM_PROGRAM=iTerm.app":                 true,
		"TERM_PROGRAM=Apple_Terminal":            false,
		"TERM=xterm-kitty":                       true,
		"FORCE_HYPERLINK=1":                      true,
		"FORCE_HYPERLINK=0 TERM=xterm-kitty":     false,
		"FORCE_HYPERLINK=1 CI=true":              false,
		"FORCE_HYPERLINK=1 TERM=dumb":            false,
		"TERM=xterm-kitty SSH_CONNECTION=a":      false,
		"TERM=screen-256color VTE_VERSION=7600":  false,
		"TMUX=/tmp/tmux-0 TERM_PROGRAM=WezTerm":  false,
		"TERM=xterm-256color TERM_PROGRAM=other": false,
	} {
		s := Streams{Env: environment(env)}
		if got := s.showsLinks(); got != want {
			t.Errorf("%s: %t, want %t", env, got, want)
		}
	}
	s := Streams{Err: &bytes.Buffer{}, Env: environment("FORCE_HYPERLINK=1")}
	if got := s.File("a\x1b]8;;b"); strings.Contains(got, "\x1b") {
		t.Errorf("%q has a link, or a control character, in a pipe", got)
	}
}

// environment reads "A=1 B=2".
func environment(text string) func(string) string {
	values := map[string]string{}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
