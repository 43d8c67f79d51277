package layout

import (
	"bytes"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// MinWidth is the width of the narrowest terminal that text is laid out for.
const MinWidth = 40

// Text collects the lines of one report or fix.
type Text struct {
	Style
	Out bytes.Buffer
	// Width is the number of columns to stay within; 0 means no limit.
	Width int
	// Now is the time that ages are counted from.
	Now                  time.Time
	ShowIgnored, Verbose bool
}

// New returns an empty text. Made is the time of the report. Ages are counted from it unless the options have a time.
func New(o Options, made time.Time) *Text {
	t := &Text{Style: NewStyle(o), Width: o.Width, Now: o.Now, ShowIgnored: o.ShowIgnored, Verbose: o.Verbose}
	if t.Width > 0 {
		t.Width = max(t.Width, MinWidth)
	}
	if t.Now.IsZero() {
		t.Now = made
	}
	return t
}

// Line writes one line. Its parts are escaped, and the first of them is not a value.
func (t *Text) Line(parts ...string) {
	t.Out.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

// Prose writes escaped text that may be longer than a line. The further lines stand behind a gutter.
func (t *Text) Prose(s string) { t.Indented("", s) }

// Indented writes escaped text behind an indent. The further lines stand behind a gutter, too.
func (t *Text) Indented(indent, s string) {
	for i, l := range t.Wrapped(s, len(indent)) {
		if i > 0 {
			l = t.Gutter + l
		}
		t.Line(indent, l)
	}
}

// Headline writes escaped text as prose does, and marks it.
func (t *Text) Headline(s string) {
	for i, l := range t.Wrapped(s, 0) {
		if i > 0 {
			l = t.Gutter + l
		}
		t.Line(t.Heading(l))
	}
}

// Continuation writes escaped text on lines that all stand behind a gutter.
func (t *Text) Continuation(indent, s string) {
	for _, l := range t.Wrapped(s, len(indent)) {
		t.Line(indent, t.Gutter, l)
	}
}

// Wrapped breaks text into lines that leave room for an indent and a gutter. The first line leaves it too, so that prose has one right
// edge. The lines of a message (see message) stay lines, and keep some of their own indent.
func (t *Text) Wrapped(s string, indent int) []string {
	const maxIndent = 8
	lines := strings.Split(s, "\n")
	if t.Width == 0 {
		return lines
	}
	var all []string
	for _, l := range lines {
		rest := strings.TrimLeft(l, " ")
		own := strings.Repeat(" ", min(maxIndent, len(l)-len(rest)))
		for _, piece := range monospace.Wrap(rest, t.Width-indent-monospace.Width(t.Gutter)-len(own)) {
			all = append(all, own+piece)
		}
	}
	return all
}

// Message returns a message of the API server, of a template or of Helm, escaped and with its lines kept. Only messages have line breaks;
// whatever writes text puts all lines but the first behind a gutter.
func (s Style) Message(foreign string) string {
	return strings.Join(escape.SplitLines(foreign, s.ASCII), "\n")
}

// FirstNames returns the first names. On a terminal it counts the others; if no width limits the line, it lists them too.
func (t *Text) FirstNames(all []string, most int) []string {
	if t.Width == 0 {
		return all
	}
	return english.AtMost(all, most)
}

// AfterBlank calls a function that writes, and puts a blank line before its output if it is not empty.
func (t *Text) AfterBlank(write func()) {
	before := t.Out.Len()
	t.Line("")
	start := t.Out.Len()
	if write(); t.Out.Len() == start {
		t.Out.Truncate(before)
	}
}

// Blocks calls functions that write, and puts a blank line between the outputs that are not empty.
func (t *Text) Blocks(writers ...func()) {
	start := t.Out.Len()
	for _, write := range writers {
		if t.Out.Len() == start {
			write()
		} else {
			t.AfterBlank(write)
		}
	}
}
