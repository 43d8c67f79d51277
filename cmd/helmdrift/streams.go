package main

import (
	"fmt"
	"io"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// This file holds what a command reads and writes, so that a test can run the whole program in its own process. It also holds the form of
// messages on stderr: whatever somebody else may have written is printed by print, which escapes it.

// streams is everything that a command reads from and writes to beside the cluster. Tests replace it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// env returns an environment variable; empty if it is not set.
	env func(string) string
	// program is how the user started the program; empty means programName.
	program string
	// shown is called when the work is done and a person reads the result on a terminal, for as long as that takes. It may be nil.
	shown func()
	// known is what this run knows to be secret. Errors and Helm's own log are scrubbed with it.
	known *secret.Known
}

// terminal returns the streams with what a terminal can show.
func (s streams) terminal() terminal.Streams {
	return terminal.Streams{In: s.in, Out: s.out, Err: s.err, Env: s.env}
}

// page shows a document on stdout, on a terminal in a pager.
func (s streams) page(doc []byte) error {
	if s.shown != nil && terminal.IsTerminal(s.out) {
		s.shown()
	}
	return s.terminal().Page(doc)
}

// explain prints an error, and on a line of its own what to try if there is a hint. Secrets are removed from the error. Hints are this
// program's own words.
func (s streams) explain(err error) {
	s.print("Error: ", s.known.Scrub(err.Error()))
	if advice := drift.Hint(err); advice != "" {
		s.print("Hint: ", s.asTyped(advice))
	}
}

// print prints a prefix and a message to stderr. The message is escaped like the text of a report: it may quote what somebody else wrote,
// and that must not control the terminal.
func (s streams) print(prefix, message string) {
	fmt.Fprintln(s.err, prefix+escape.Lines(message, !s.terminal().Unicode()))
}
