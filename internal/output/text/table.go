package text

import (
	"strings"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// signWidth is the room of "  ± ".
	signWidth = 4
	// rowIndent is the indent of the lines below a row.
	rowIndent = "    "
	// minCell is the least width of cells that stand beside each other. Narrower cells stand below each other.
	minCell = 12
	// minPath is how much of a path must stay for groups to stand on one line each.
	minPath = 16
	// maxRemark is the greatest width of remarks that get a place of their own on a line. Longer remarks go below.
	maxRemark = 40
)

// row is one finding, escaped and not yet shortened.
type row struct {
	verdict report.Verdict
	lead    string // stands before the sign, in front of groups only
	act     string // what is about to happen to the field, if the columns do not say it
	path    string
	cells   []string // two or three sides, or a single value that stays
	remarks string
	aside   string // one more remark, if there is room
	below   []string
	made    []string // what the API server made of it
}

// table is the layout of rows that stand together.
type table struct {
	labels []string
	lead   int   // width of what stands before the path
	act    int   // width of the act and of the gap behind it, which is a part of lead
	path   int   // width of the path column
	room   int   // what is left for cells and remarks; 0 is unlimited
	cells  []int // widths of three columns
	values int   // width to which "old → live" is padded
	stack  bool  // cells stand below each other
}

// rows writes a label, the headings of three columns, and the rows.
func (t *text) rows(label string, c sides.Columns, rows []row) {
	tab := t.layOut(label, c.Labels(), rows)
	switch {
	case len(tab.labels) == 3 && !tab.stack:
		t.Line(monospace.Pad("  "+label, tab.lead+tab.path), "  ", tab.inColumns(tab.labels))
	case label != "":
		t.Line("  ", label)
	}
	for i, r := range rows {
		if r.lead != "" && tab.lead == signWidth+tab.act && (i == 0 || rows[i-1].lead != r.lead) {
			t.Line(r.lead)
		}
		t.row(tab, r)
	}
}

// layOut decides the widths and cuts the paths to theirs: at most two fifths of a line, or a third beside three columns. If this leaves no
// room for the cells, they stand below each other.
func (t *text) layOut(label string, labels []string, rows []row) table {
	tab := table{labels: labels, act: actWidth(rows)}
	tab.lead = signWidth + tab.act
	limit := t.Width * 2 / (3 + len(labels))
	if lead, path, fits := t.leads(rows, tab.lead); fits {
		tab.lead, limit = lead, path
	} else if t.Width > 0 && t.Width-tab.lead-2-min(limit, widestPath(rows)) < len(labels)*(minCell+3) {
		tab.stack, limit = true, t.Width-tab.lead
	}
	if t.Width > 0 {
		for i, r := range rows {
			rows[i].path = monospace.KeepPathEnd(r.path, limit, t.Ellipsis)
		}
	}
	tab.path = widestPath(rows)
	if len(labels) == 3 {
		tab.path = max(tab.path, len(label)-tab.lead+len("  "))
	}
	if t.Width > 0 {
		tab.room = max(1, t.Width-tab.lead-tab.path-2)
	}
	if len(labels) == 3 {
		tab.cells = t.columnWidths(tab, rows)
	} else {
		tab.values = t.valueWidth(tab, rows)
	}
	return tab
}

// actWidth returns the width of the widest act and of the gap behind it. It is 0 if no row has one.
func actWidth(rows []row) int {
	width := 0
	for _, r := range rows {
		if r.act != "" {
			width = max(width, len(r.act)+len("  "))
		}
	}
	return width
}

// leads reports whether groups fit on a line each, with lead, values and the end of the path, and how wide lead and path may be. Base is
// the width before the path without a lead. If the groups do not fit, each lead stands on a line above its rows.
func (t *text) leads(rows []row, base int) (lead, path int, fits bool) {
	values := 0
	for _, r := range rows {
		lead = max(lead, monospace.Width(r.lead)+base)
		values = max(values, monospace.Width(strings.Join(r.cells, t.Arrow)))
	}
	path = t.Width - lead - 2 - values
	return lead, path, lead > base && (t.Width == 0 || path >= min(minPath, widestPath(rows)))
}

// widestPath returns the display width of the longest path. The values of all rows are aligned to it.
func widestPath(rows []row) int {
	widest := 0
	for _, r := range rows {
		widest = max(widest, monospace.Width(r.path))
	}
	return widest
}

// columnWidths divides the room among three columns.
func (t *text) columnWidths(tab table, rows []row) []int {
	want := make([]int, len(tab.labels))
	for i, l := range tab.labels {
		want[i] = monospace.Width(l)
		for _, r := range rows {
			want[i] = max(want[i], monospace.Width(r.cells[i]))
		}
		if tab.room == 0 {
			want[i] = min(want[i], layout.MaxPadded)
		}
	}
	if tab.room == 0 {
		return want
	}
	return monospace.Fit(want, tab.room-2*len(sides.ColumnGap))
}

// valueWidth returns the width that lets most rows have their remarks beside them, in line.
func (t *text) valueWidth(tab table, rows []row) int {
	limit := 2 * layout.MaxPadded
	if tab.room > 0 {
		remark := 0
		for _, r := range rows {
			if w := monospace.Width(r.remarks); w <= maxRemark {
				remark = max(remark, w)
			}
		}
		limit = tab.room - 2 - remark
	}
	widest := 0
	for _, r := range rows {
		if w := monospace.Width(strings.Join(r.cells, t.Arrow)); w <= limit {
			widest = max(widest, w)
		}
	}
	return widest
}

// row writes one finding. Remarks stand beside it if they fit, and below it otherwise.
func (t *text) row(tab table, r row) {
	t.begins = append(t.begins, begin{at: t.Out.Len(), isFinding: true})
	if tab.stack {
		t.Line("  ", t.Sign(r.verdict), " ", monospace.Pad(r.act, tab.act), r.path)
		t.stackedCells(tab, r)
		t.belowRow(r)
		return
	}
	cells := ""
	if len(tab.labels) == 3 {
		cells = tab.inColumns(t.shorten(r.cells, tab.cells, tab.room))
	} else {
		cells = monospace.Pad(t.withArrow(r.cells, tab.room), tab.values)
	}
	fits := func(remarks string) bool {
		return tab.room == 0 || monospace.Width(cells)+2+monospace.Width(remarks) <= tab.room
	}
	if all := layout.JoinNonEmpty(t.Dot, r.remarks, r.aside); fits(all) {
		r.remarks = all
	}
	beside := ""
	if fits(r.remarks) {
		beside, r.remarks = "  "+t.dim(r.remarks), ""
	}
	lead := ""
	if tab.lead > signWidth+tab.act {
		lead = monospace.Pad(r.lead, tab.lead-signWidth-tab.act)
	}
	t.Line(lead, "  ", t.Sign(r.verdict), " ", monospace.Pad(r.act, tab.act), monospace.Pad(r.path, tab.path), "  ", cells, beside)
	t.belowRow(r)
}

// belowRow writes what stands below a finding: the differences within its values, then the remarks that did not fit.
func (t *text) belowRow(r row) {
	for _, l := range r.below {
		if t.Width > 0 {
			l = monospace.KeepStart(l, t.Width-signWidth-monospace.Width(t.Gutter), t.Ellipsis)
		}
		t.Line(rowIndent, t.Gutter, t.diffLine(l))
	}
	if r.remarks != "" {
		r.made = append(t.Wrapped(r.remarks, len(rowIndent)), r.made...)
	}
	for _, l := range r.made {
		t.Line(rowIndent, t.Gutter, t.dim(l))
	}
}

// dim returns a remark, which matters less than the values.
func (t *text) dim(remark string) string {
	if remark == "" {
		return ""
	}
	return t.Paint(remark, color.Faint)
}

// diffLine returns a line of a difference in the colour of its sign.
func (t *text) diffLine(l string) string {
	switch {
	case strings.HasPrefix(l, "- "):
		return t.Paint(l, color.FgRed)
	case strings.HasPrefix(l, "+ "):
		return t.Paint(l, color.FgGreen)
	case strings.HasPrefix(l, "@@ "):
		return t.Paint(l, color.FgCyan)
	}
	return l
}

// stackedCells writes the cells of a finding below each other, each with its label.
func (t *text) stackedCells(tab table, r row) {
	const label = len("deployed") + 2
	room := t.Width - signWidth - monospace.Width(t.Gutter) - label
	for i, c := range t.shorten(r.cells, []int{room, room, room}, room) {
		side := tab.labels[i]
		if len(r.cells) == 1 { // it is about both sides
			side = ""
		}
		t.Line(rowIndent, t.Gutter, monospace.Pad(side, label), c)
	}
}

// inColumns returns cells in the columns of the table.
func (tab table) inColumns(cells []string) string {
	padded := make([]string, len(cells))
	for i, c := range cells {
		padded[i] = monospace.Pad(c, tab.cells[i])
	}
	return strings.Join(padded, sides.ColumnGap)
}

// withArrow returns "old → live" within room.
func (t *text) withArrow(cells []string, room int) string {
	want := make([]int, len(cells))
	for i, c := range cells {
		want[i] = monospace.Width(c)
	}
	return strings.Join(t.shorten(cells, monospace.Fit(want, room-(len(cells)-1)*monospace.Width(t.Arrow)), room), t.Arrow)
}

// shorten cuts cells to their widths if room is limited. Long values tend to differ late (the tag of an image, one flag of a command
// line), so cells that begin alike lose most of the common beginning first, and keep some of it for orientation.
func (t *text) shorten(cells []string, widths []int, room int) []string {
	if room == 0 {
		return cells
	}
	shared := sharedColumns(cells)
	short := make([]string, len(cells))
	for i, c := range cells {
		if w := widths[i]; monospace.Width(c) > w && shared > w/2 && c != layout.Absent {
			c = t.Ellipsis + monospace.DropColumns(c, min(shared-w/4, monospace.Width(c)-w+monospace.Width(t.Ellipsis)))
		}
		short[i] = monospace.KeepStart(c, widths[i], t.Ellipsis)
	}
	return short
}

// sharedColumns returns the width of the longest beginning that all cells with a value share. A single cell shares nothing.
func sharedColumns(cells []string) int {
	var there []string
	for _, c := range cells {
		if c != layout.Absent {
			there = append(there, c)
		}
	}
	if len(there) < 2 {
		return 0
	}
	shared := there[0]
	for _, c := range there[1:] {
		shared = shared[:monospace.SharedBytes(shared, c)]
	}
	return monospace.Width(shared)
}
