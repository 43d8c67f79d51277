package layout

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
	// Width is the number of columns of the terminal. It is 0 if the output is not a terminal, and then nothing is shortened.
	Width int
	// Now is the time that ages are counted from. The zero value means the time of the report, which makes rendering repeatable.
	Now time.Time
	// Fix is the command line that puts back what drifted, and Plan is what it would write. Both are empty if there is nothing to put back.
	Fix  string
	Plan []report.FixPlan
	// IsPlanned is set if Plan is known, even if it is empty: a fix then leaves everything.
	IsPlanned bool
	// FixFollows is set if the command goes on with a fix of the release.
	FixFollows bool
	// Diff is the command line that compares the releases of a list. It is empty if nothing should be said of it.
	Diff string
	// ShowIgnored lists what rules and the baseline silence, which is only counted otherwise.
	ShowIgnored bool
	// Timeline writes the findings in the order of their times, and not by release.
	Timeline bool
	// Verbose lists all releases of a scan, and the details of each release that has more to say than its line.
	Verbose bool
}

// Style holds the signs of one text. No other file knows which characters and colours there are.
type Style struct {
	ASCII, colour bool
	// Arrow stands between old and live, Ellipsis where something was cut, Dot between remarks, Gutter before continuation lines, and Mask
	// in place of a masked value. The mask has the same width for every value.
	Arrow, Ellipsis, Dot, Gutter, Mask string
}

// NewStyle chooses the characters that the terminal can show.
func NewStyle(o Options) Style {
	s := Style{ASCII: !o.Unicode, colour: o.Color, Gutter: escape.Gutter(!o.Unicode)}
	if s.ASCII {
		s.Arrow, s.Ellipsis, s.Dot, s.Mask = " -> ", "...", "; ", "***"
	} else {
		s.Arrow, s.Ellipsis, s.Dot, s.Mask = " → ", "…", " · ", "•••"
	}
	return s
}

// Sign returns the sign of a verdict in its colour. Letters are left to values; a sign looks like nothing else.
func (s Style) Sign(v report.Verdict) string {
	switch v {
	case report.Add:
		return s.Paint("+", color.FgGreen)
	case report.Remove:
		return s.Paint("-", color.FgRed)
	case report.Overwrite:
		return s.Paint(s.Either("±", "~"), color.FgYellow)
	case report.Ignore:
		return s.Paint(s.Either("∅", "="), color.FgCyan)
	case report.Conflict:
		return s.Paint("!", color.FgRed, color.Bold)
	}
	return "?" // a verdict of a later version of the report
}

// Heading marks a line that begins an object or a release.
func (s Style) Heading(line string) string { return s.Paint(line, color.Bold) }

// Either returns the text for terminals with Unicode, or the one for those without.
func (s Style) Either(unicode, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return unicode
}

// Paint colours a text, if colours are wanted.
func (s Style) Paint(text string, attributes ...color.Attribute) string {
	if !s.colour {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor() // the caller has decided; the library would ask the environment and stdout
	return c.Sprint(text)
}
