package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/helmdrift/helmdrift/internal/output"
)

// colorMode is the value of --color: auto, always or never.
type colorMode string

// String returns the mode.
func (m *colorMode) String() string { return string(*m) }

// Set refuses any other word.
func (m *colorMode) Set(word string) error {
	switch word {
	case "auto", "always", "never":
		*m = colorMode(word)
		return nil
	}
	return fmt.Errorf("must be auto, always or never")
}

// Type is the placeholder in help texts.
func (m *colorMode) Type() string { return "when" }

// display returns how text may look on stdout.
func (s streams) display(mode colorMode, now time.Time) output.Options {
	return s.displayOn(s.out, mode, now)
}

// displayOn returns how text may look on a stream: colour on a terminal that has it, no wider than the terminal, and beyond ASCII
// where the locale allows.
func (s streams) displayOn(w io.Writer, mode colorMode, now time.Time) output.Options {
	width := 0
	if isTerminal(w) {
		width = 80
		if w, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && w > 0 {
			width = w
		}
	}
	return output.Options{Color: s.colored(mode, width > 0), Unicode: s.unicode(), Width: width, Now: now}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colored decides by the flag, then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, HELM_COLOR, and last the terminal.
func (s streams) colored(mode colorMode, terminal bool) bool {
	switch {
	case mode == "always":
		return true
	case mode == "never", s.env("NO_COLOR") != "":
		return false
	case s.env("FORCE_COLOR") != "", s.env("CLICOLOR_FORCE") != "" && s.env("CLICOLOR_FORCE") != "0":
		return true
	case s.env("HELM_COLOR") == "always":
		return true
	case s.env("HELM_COLOR") == "never":
		return false
	}
	return terminal && s.env("TERM") != "dumb" && s.env("CLICOLOR") != "0"
}

// unicode looks at the locale as C programs do: the first that is set decides, and C means ASCII.
func (s streams) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := s.env(name); locale != "" {
			return strings.Contains(strings.ToLower(strings.ReplaceAll(locale, "-", "")), "utf8")
		}
	}
	return true
}
