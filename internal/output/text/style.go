package text

import (
	"time"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Options say how text is laid out.
type Options struct {
	// Color allows colour. The caller has looked at flags, environment and terminal; this package does not ask again.
	Color bool
	// Unicode allows signs and values beyond ASCII.
	Unicode bool
	// Width is the number of columns of the terminal. It is 0 if the output is no terminal, and then nothing is shortened.
	Width int
	// Now is the time from which ages are counted. The zero value means the time of the report, which makes rendering repeatable.
	Now time.Time
	// Fix is the command line that puts back what drifted, and Plan is what it would write. Both are empty if there is nothing to put back.
	Fix  string
	Plan []report.FixPlan
	// Diff is the command line that compares the releases of a list. It is empty if nothing should be said of it.
	Diff string
	// ShowIgnored lists what rules and the baseline silence, which is only counted otherwise.
	ShowIgnored bool
	// Verbose lists all releases of a scan, and the details of each of which there is more to say than its line says.
	Verbose bool
}

// style holds the signs of one text. No other file knows which characters and colours there are.
type style struct {
	ascii, colour bool
	// arrow stands between old and live, ellipsis where something was cut, dot between remarks, gutter before continuation lines, and mask
	// in place of a masked value. The mask has the same width for every value.
	arrow, ellipsis, dot, gutter, mask string
}

// newStyle chooses the characters that the terminal can show.
func newStyle(o Options) style {
	s := style{ascii: !o.Unicode, colour: o.Color, gutter: escape.Gutter(!o.Unicode)}
	if s.ascii {
		s.arrow, s.ellipsis, s.dot, s.mask = " -> ", "...", "; ", "***"
	} else {
		s.arrow, s.ellipsis, s.dot, s.mask = " → ", "…", " · ", "•••"
	}
	return s
}

// sign returns the sign of a verdict in its colour. Letters are left to values; a sign looks like nothing else.
func (s style) sign(v report.Verdict) string {
	switch v {
	case report.Add:
		return s.paint("+", color.FgGreen)
	case report.Remove:
		return s.paint("-", color.FgRed)
	case report.Overwrite:
		return s.paint(s.either("±", "~"), color.FgYellow)
	case report.Ignore:
		return s.paint(s.either("∅", "="), color.FgCyan)
	case report.Conflict:
		return s.paint("!", color.FgRed, color.Bold)
	}
	return "?" // a verdict of a later version of the report
}

// heading marks a line that begins an object or a release.
func (s style) heading(line string) string { return s.paint(line, color.Bold) }

// either returns the text for terminals with Unicode, or the one for those without.
func (s style) either(unicode, ascii string) string {
	if s.ascii {
		return ascii
	}
	return unicode
}

// paint colours a text, if colours are wanted.
func (s style) paint(text string, attributes ...color.Attribute) string {
	if !s.colour {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor() // the caller has decided; the library would ask the environment and stdout
	return c.Sprint(text)
}

// escape makes any text of the report safe within a line.
func (s style) escape(text string) string { return escape.Text(text, s.ascii) }
