package main

import (
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/terminal"
)

// This file decides how text looks on a stream.

// newColor returns the value of --color.
func newColor() oneOf { return oneOf{words: []string{"auto", "always", "never"}, word: "auto"} }

// addColorFlag adds --color, which every command with a report has.
func addColorFlag(fs *pflag.FlagSet, color *oneOf) {
	fs.Var(color, "color", "use colour; auto does on a terminal [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
}

// display returns how text may look on a stream: coloured if the stream is a terminal that shows colours, no wider than the terminal, and
// beyond ASCII if the locale allows that. The width is 0, which is no limit, if the stream is no terminal.
func (s streams) display(w io.Writer, color oneOf, now time.Time) output.Options {
	t := s.terminal()
	return output.Options{Text: text.Options{Color: t.Colored(color.word, w), Unicode: t.Unicode(), Width: terminal.Width(w), Now: now}}
}
