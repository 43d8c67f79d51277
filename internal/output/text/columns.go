package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// cut says how far the cells of a line are cut: not at all, so far that readers still recognize most of them, or as far as makes sense.
type cut int

const (
	uncut cut = iota
	comfortable
	tight
)

// column is a column of a table that has a line for each T.
type column[T any] struct {
	title string
	cell  func(T) string
	// least are the widths to which cells may be cut. Cells of a column without them are never cut.
	least map[cut]int
	// isName means that cells lose their middle and not their end, because names often differ only in their last part.
	isName bool
	// paint returns a cell in its colour; nil leaves it as it is.
	paint func(row T, cell string) string

	cells []string
	width int
}

// nameWidths returns the least widths of names of which a line has several, and shortWidths those of names that matter less.
func nameWidths() map[cut]int  { return map[cut]int{comfortable: 18, tight: 12} }
func shortWidths() map[cut]int { return map[cut]int{comfortable: 12, tight: 10} }

// dropped is a column that gives way if the others would be cut further than its limit.
type dropped struct {
	title string
	limit cut
}

// writeTable writes the titles of the columns and a line for each row. Columns that do not fit are laid out as layOut says.
func writeTable[T any](t *text, columns []column[T], rows []T, drop []dropped) {
	if len(rows) == 0 {
		return
	}
	columns = layOut(columns, rows, drop, t.width)
	t.line(t.heading(strings.TrimRight(lineOf(columns, func(c column[T]) string { return monospace.Pad(c.cut(t, c.title), c.width) }), " ")))
	for i, row := range rows {
		t.line(lineOf(columns, func(c column[T]) string {
			cell := c.cut(t, c.cells[i])
			blanks := monospace.Pad("", c.width-monospace.Width(cell))
			if c.paint != nil {
				cell = c.paint(row, cell)
			}
			return cell + blanks
		}))
	}
}

// lineOf joins the cells of a line.
func lineOf[T any](columns []column[T], cell func(column[T]) string) string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = cell(c)
	}
	return strings.Join(cells, "  ")
}

// cut cuts a cell to the width of the column, if the width of the text is limited.
func (c column[T]) cut(t *text, cell string) string {
	switch {
	case t.width == 0:
		return cell
	case c.isName:
		return monospace.KeepEnds(cell, c.width, t.ellipsis)
	}
	return monospace.KeepStart(cell, c.width, t.ellipsis)
}

// layOut returns the columns that fit into a width, with their cells and widths. A column without a cell is left out. The columns of drop
// give way first, in that order. If the width is 0, nothing is cut, and a cell wider than maxPadded pushes only its own line to the right.
func layOut[T any](columns []column[T], rows []T, drop []dropped, width int) []column[T] {
	for i := range columns {
		c := &columns[i]
		for _, row := range rows {
			cell := c.cell(row)
			c.cells = append(c.cells, cell)
			c.width = max(c.width, monospace.Width(cell))
		}
	}
	columns = slices.DeleteFunc(columns, func(c column[T]) bool { return c.width == 0 })
	for i, c := range columns {
		columns[i].width = max(c.width, monospace.Width(c.title))
	}
	if width == 0 {
		for i, c := range columns {
			columns[i].width = min(c.width, maxPadded)
		}
		return columns
	}
	for _, d := range drop {
		if lineWidth(columns, d.limit) > width {
			columns = slices.DeleteFunc(columns, func(c column[T]) bool { return c.title == d.title })
		}
	}
	fitColumns(columns, width)
	return columns
}

// fitColumns divides the room of a line among the columns whose cells may be cut.
func fitColumns[T any](columns []column[T], width int) {
	room := width - gaps(len(columns))
	var want []int
	for _, c := range columns {
		if c.least != nil {
			want = append(want, c.width)
		} else {
			room -= c.width
		}
	}
	widths := monospace.Fit(want, room)
	for i, c := range columns {
		if c.least != nil {
			columns[i].width, widths = widths[0], widths[1:]
		}
	}
}

// lineWidth returns the width of a line whose cells are cut so far.
func lineWidth[T any](columns []column[T], limit cut) int {
	sum := gaps(len(columns))
	for _, c := range columns {
		least, isCut := c.least[limit]
		if !isCut {
			least = c.width
		}
		sum += min(c.width, least)
	}
	return sum
}

// gaps returns the width of the blanks between columns.
func gaps(columns int) int { return 2 * (columns - 1) }
