package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
)

// This file holds what depends on whether somebody sits at a terminal: colour, width, and questions.

// newColor returns the value of --color.
func newColor() oneOf { return oneOf{words: []string{"auto", "always", "never"}, word: "auto"} }

// addColorFlag adds --color, which every command with a report has.
func addColorFlag(fs *pflag.FlagSet, color *oneOf) {
	fs.Var(color, "color", "use colour; auto does on a terminal [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
}

// display returns how text may look on a stream: coloured if the stream is a terminal that shows colours, no wider than the terminal, and
// beyond ASCII if the locale allows that. The width is 0, which is no limit, if the stream is no terminal.
func (s streams) display(w io.Writer, color oneOf, now time.Time) output.Options {
	width := 0
	if isTerminal(w) {
		width = 80
		if w, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && w > 0 {
			width = w
		}
	}
	return output.Options{Text: text.Options{Color: s.colored(color.word, width > 0), Unicode: s.unicode(), Width: width, Now: now}}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colored reports whether to use colour. The flag decides first, then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, HELM_COLOR, and last
// whether the stream is a terminal.
func (s streams) colored(mode string, terminal bool) bool {
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

// canAsk reports whether a question can be asked on stderr and answered on stdin: both are terminals.
func (s streams) canAsk() bool { return isTerminal(s.in) && isTerminal(s.err) }

// readYes reads the answer to a question and reports whether it is y or yes. Every other answer means no, and so does the end of the
// input. An interrupt ends the wait at once; the goroutine that still reads ends with the process.
func (s streams) readYes(ctx context.Context) (bool, error) {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(s.in, 1<<10)).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(s.err)
		}
		word := strings.ToLower(strings.TrimSpace(line))
		return word == "y" || word == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(s.err)
		return false, errors.New("interrupted; nothing was written")
	}
}
