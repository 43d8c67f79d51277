package layout

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// MaxPadded is the greatest width that cells are padded to if no terminal limits them.
const MaxPadded = 40

// Cut says how far the cells of a line are cut.
type Cut int

const (
	// Uncut cells are whole.
	Uncut Cut = iota
	// Comfortable cells are so long that readers still recognize most of them.
	Comfortable
	// Tight cells are cut as far as makes sense.
	Tight
)

// Column is a column of a table that has a line for each T.
type Column[T any] struct {
	Title string
	Cell  func(T) string
	// Least are the widths that cells may be cut to. A column without them is never cut.
	Least map[Cut]int
	// IsName means that cells lose their middle and not their end, because names often differ only in their last part.
	IsName bool
	// Paint returns a cell in its colour; nil leaves it as it is.
	Paint func(row T, cell string) string

	cells []string
	width int
}

// NameWidths returns the least widths of names if a line has several of them.
func NameWidths() map[Cut]int { return map[Cut]int{Comfortable: 18, Tight: 12} }

// ShortWidths returns the least widths of names that matter less.
func ShortWidths() map[Cut]int { return map[Cut]int{Comfortable: 12, Tight: 10} }

// Dropped is a column that gives way if the others would be cut further than its limit.
type Dropped struct {
	Title string
	Limit Cut
}

// WriteTable writes the titles of the columns and a line for each row. Columns that do not fit are laid out as layOut says.
func WriteTable[T any](t *Text, columns []Column[T], rows []T, drop []Dropped) {
	if len(rows) == 0 {
		return
	}
	columns = layOut(columns, rows, drop, t.Width)
	t.Line(t.Heading(strings.TrimRight(lineOf(columns, func(c Column[T]) string { return monospace.Pad(c.cut(t, c.Title), c.width) }), " ")))
	for i, row := range rows {
		t.Line(lineOf(columns, func(c Column[T]) string {
			cell := c.cut(t, c.cells[i])
			blanks := monospace.Pad("", c.width-monospace.Width(cell))
			if c.Paint != nil {
				cell = c.Paint(row, cell)
			}
			return cell + blanks
		}))
	}
}

// lineOf joins the cells of a line.
func lineOf[T any](columns []Column[T], cell func(Column[T]) string) string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = cell(c)
	}
	return strings.Join(cells, "  ")
}

// Cut cuts a cell to the width of the column, if the width of the text is limited.
func (c Column[T]) cut(t *Text, cell string) string {
	switch {
	case t.Width == 0:
		return cell
	case c.IsName:
		return monospace.KeepEnds(cell, c.width, t.Ellipsis)
	}
	return monospace.KeepStart(cell, c.width, t.Ellipsis)
}

// layOut returns the columns that fit into a width, with their cells and widths. A column without a cell is left out. The columns of drop
// give way first, in that order. If the width is 0, nothing is cut, and a cell wider than maxPadded pushes only its own line to the right.
func layOut[T any](columns []Column[T], rows []T, drop []Dropped, width int) []Column[T] {
	for i := range columns {
		c := &columns[i]
		for _, row := range rows {
			cell := c.Cell(row)
			c.cells = append(c.cells, cell)
			c.width = max(c.width, monospace.Width(cell))
		}
	}
	columns = slices.DeleteFunc(columns, func(c Column[T]) bool { return c.width == 0 })
	for i, c := range columns {
		columns[i].width = max(c.width, monospace.Width(c.Title))
	}
	if width == 0 {
		for i, c := range columns {
			columns[i].width = min(c.width, MaxPadded)
		}
		return columns
	}
	for _, d := range drop {
		if lineWidth(columns, d.Limit) > width {
			columns = slices.DeleteFunc(columns, func(c Column[T]) bool { return c.Title == d.Title })
		}
	}
	fitColumns(columns, width)
	return columns
}

// fitColumns divides the room of a line among the columns whose cells may be cut.
func fitColumns[T any](columns []Column[T], width int) {
	room := width - gaps(len(columns))
	var want []int
	for _, c := range columns {
		if c.Least != nil {
			want = append(want, c.width)
		} else {
			room -= c.width
		}
	}
	widths := monospace.Fit(want, room)
	for i, c := range columns {
		if c.Least != nil {
			columns[i].width, widths = widths[0], widths[1:]
		}
	}
}

// lineWidth returns the width of a line whose cells are cut so far.
func lineWidth[T any](columns []Column[T], limit Cut) int {
	sum := gaps(len(columns))
	for _, c := range columns {
		least, isCut := c.Least[limit]
		if !isCut {
			least = c.width
		}
		sum += min(c.width, least)
	}
	return sum
}

// gaps returns the width of the blanks between columns.
func gaps(columns int) int { return 2 * (columns - 1) }
