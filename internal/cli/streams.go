package cli

import (
	"fmt"
	"io"
	"log"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// This file holds what a command reads and writes, so that a test can run the whole program in its own process. It also prints messages
// on stderr: Print escapes foreign text.

// Streams is everything that a command reads from and writes to besides the cluster. Tests replace it.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Env returns an environment variable, or "" if it is not set.
	Env func(string) string
	// Program is how the user started the program; empty means ProgramName.
	Program string
	// Shown is called when the work is done and a person begins to read the result on a terminal. It may be nil.
	Shown func()
	// Known has the secrets that this run knows. They are removed from errors and from Helm's own log.
	Known *secret.Known
}

// Terminal returns the streams with what a terminal can show.
func (s Streams) Terminal() terminal.Streams {
	return terminal.Streams{In: s.In, Out: s.Out, Err: s.Err, Env: s.Env}
}

// Page shows a document on stdout. On a terminal it uses a pager.
func (s Streams) Page(doc []byte) (paged bool, err error) {
	if s.Shown != nil && terminal.IsTerminal(s.Out) {
		s.Shown()
	}
	return s.Terminal().Page(doc)
}

// Explain prints an error, and the hint on a line of its own if there is one. It removes secrets from the error. Hints have only this
// program's own words.
func (s Streams) Explain(err error) {
	s.Print("Error: ", s.Known.ScrubProblem(err.Error()))
	if advice := drift.Hint(err); advice != "" {
		s.Print("Hint: ", s.AsTyped(advice))
	}
}

// Print prints a prefix and a message to stderr. It escapes the message like the text of a report: it may quote foreign text, and that
// must not control the terminal.
func (s Streams) Print(prefix, message string) {
	fmt.Fprintln(s.Err, prefix+escape.Lines(message, !s.Terminal().Unicode()))
}

// NewColor returns the flag value of --color.
func NewColor() OneOf { return OneOf{Words: []string{"auto", "always", "never"}, Word: "auto"} }

// AddColorFlag adds --color, which every command with a report has.
func AddColorFlag(fs *pflag.FlagSet, color *OneOf) {
	fs.Var(color, "color", "use colour; auto does on a terminal [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
}

// Display returns how text may look on a stream: coloured if the stream is a terminal that shows colours, no wider than the terminal, and
// beyond ASCII if the locale allows that. If the stream is not a terminal, the width is 0, which means no limit.
func (s Streams) Display(w io.Writer, color OneOf, now time.Time) output.Options {
	t := s.Terminal()
	return output.Options{Text: text.Options{Color: t.Colored(color.Word, w), Unicode: t.Unicode(), Width: terminal.Width(w), Now: now}}
}

// Quiet discards what the libraries log: their lines can hold values of the release, and would mix with the messages of this program.
// --debug restores Helm's log through jobs.LogWriter.
func Quiet() {
	log.SetOutput(io.Discard)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}
