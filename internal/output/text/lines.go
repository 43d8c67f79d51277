package text

import (
	"bytes"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// MinWidth is the narrowest terminal for which text is laid out.
const MinWidth = 40

// text collects the lines of one report or fix.
type text struct {
	style
	out bytes.Buffer
	// width is the number of columns to stay within; 0 means no limit.
	width int
	// now is the time from which ages are counted.
	now                  time.Time
	showIgnored, verbose bool
}

// newText returns an empty text. Made is the time of the report, from which ages are counted unless the options have a time.
func newText(o Options, made time.Time) *text {
	t := &text{style: newStyle(o), width: o.Width, now: o.Now, showIgnored: o.ShowIgnored, verbose: o.Verbose}
	if t.width > 0 {
		t.width = max(t.width, MinWidth)
	}
	if t.now.IsZero() {
		t.now = made
	}
	return t
}

// line writes one line. Its parts are escaped, and the first of them is not a value.
func (t *text) line(parts ...string) {
	t.out.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

// prose writes escaped text that may be longer than a line. The further lines stand behind a gutter.
func (t *text) prose(s string) {
	for i, l := range t.wrapped(s, 0) {
		if i > 0 {
			l = t.gutter + l
		}
		t.line(l)
	}
}

// headline writes escaped text as prose does, and marks it.
func (t *text) headline(s string) {
	for i, l := range t.wrapped(s, 0) {
		if i > 0 {
			l = t.gutter + l
		}
		t.line(t.heading(l))
	}
}

// continuation writes escaped text on lines that all stand behind a gutter.
func (t *text) continuation(indent, s string) {
	for _, l := range t.wrapped(s, len(indent)) {
		t.line(indent, t.gutter, l)
	}
}

// wrapped breaks text into lines that leave room for an indent and a gutter. The first line leaves it too, so that prose has one right
// edge. The lines of a message (see message) stay lines, and keep some of their own indent.
func (t *text) wrapped(s string, indent int) []string {
	const maxIndent = 8
	lines := strings.Split(s, "\n")
	if t.width == 0 {
		return lines
	}
	var all []string
	for _, l := range lines {
		rest := strings.TrimLeft(l, " ")
		own := strings.Repeat(" ", min(maxIndent, len(l)-len(rest)))
		for _, piece := range monospace.Wrap(rest, t.width-indent-monospace.Width(t.gutter)-len(own)) {
			all = append(all, own+piece)
		}
	}
	return all
}

// message returns a message of the API server, of a template or of Helm, escaped and with its lines kept. Only messages have line breaks;
// whatever writes text puts all lines but the first behind a gutter.
func (s style) message(foreign string) string {
	return strings.Join(escape.SplitLines(foreign, s.ascii), "\n")
}

// firstNames returns the first names. The others are counted on a terminal, and listed where no width limits the line.
func (t *text) firstNames(all []string, most int) []string {
	if t.width == 0 {
		return all
	}
	return english.AtMost(all, most)
}

// blocks calls functions that write, and puts a blank line between those that wrote something.
func (t *text) blocks(writers ...func()) {
	first := true
	for _, write := range writers {
		before := t.out.Len()
		if !first {
			t.line("")
		}
		start := t.out.Len()
		write()
		if t.out.Len() == start {
			t.out.Truncate(before)
		} else {
			first = false
		}
	}
}
