package output

import (
	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// style is the set of signs of one writer. No other file knows which characters or colours there are.
type style struct {
	ascii, colour bool
	// arrow stands between old and live, ellipsis for what was cut, dot between remarks, gutter before continuation
	// lines, mask for a masked value. The mask has one width whatever it hides.
	arrow, ellipsis, dot, gutter, mask string
}

func newStyle(o Options) style {
	if o.Unicode {
		return style{colour: o.Color, arrow: " → ", ellipsis: "…", dot: " · ", gutter: "│ ", mask: "•••"}
	}
	return style{ascii: true, colour: o.Color, arrow: " -> ", ellipsis: "...", dot: "; ", gutter: "| ", mask: "***"}
}

// sign gives a verdict's sign in its colour. The letters of the alphabet are left for values; signs look like nothing else.
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

// heading marks a line that begins a part.
func (s style) heading(line string) string { return s.paint(line, color.Bold) }

func (s style) either(unicode, ascii string) string {
	if s.ascii {
		return ascii
	}
	return unicode
}

func (s style) paint(text string, attributes ...color.Attribute) string {
	if !s.colour {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor() // the caller has decided; the library would ask the environment and stdout
	return c.Sprint(text)
}

// text makes any text of the Report safe to stand within a line.
func (s style) text(v string) string { return escapeText(v, s.ascii) }
