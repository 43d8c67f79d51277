package text

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// signWidth is the room of "  ± ".
	signWidth = 4
	// rowIndent is the indent of the lines below a row.
	rowIndent = "    "
	// minCell is the width under which cells stand below each other instead of beside each other.
	minCell = 12
	// minPath is how much of a path must stay for groups to stand on one line each.
	minPath = 16
	// maxPadded is the column width up to which cells are padded where no terminal limits them.
	maxPadded = 40
	// maxRemark is the width up to which remarks get a place of their own on a line. Longer ones go below.
	maxRemark = 40
	// columnGap stands between three columns.
	columnGap = " | "
)

// row is one finding, escaped and not yet shortened.
type row struct {
	verdict report.Verdict
	lead    string // stands before the sign, in front of groups only
	path    string
	cells   []string // two or three sides, or a single value that stays
	remarks string
	aside   string // one more remark, if there is room
	below   []string
}

// table is the layout of rows that stand together.
type table struct {
	labels []string
	lead   int   // width of what stands before the path
	path   int   // width of the path column
	room   int   // what is left for cells and remarks; 0 is unlimited
	cells  []int // widths of three columns
	values int   // width to which "old → live" is padded
	stack  bool  // cells stand below each other
}

// rows writes a label, the headings of three columns, and the rows.
func (t *text) rows(label string, c columns, rows []row) {
	tab := t.layOut(label, c.labels(), rows)
	switch {
	case len(tab.labels) == 3 && !tab.stack:
		t.line(monospace.Pad("  "+label, tab.lead+tab.path), "  ", tab.inColumns(tab.labels))
	case label != "":
		t.line("  ", label)
	}
	for i, r := range rows {
		if r.lead != "" && tab.lead == signWidth && (i == 0 || rows[i-1].lead != r.lead) {
			t.line(r.lead)
		}
		t.row(tab, r)
	}
}

// layOut decides the widths and cuts the paths to theirs: at most two fifths of a line, and a third beside three columns. If that leaves no
// room for the cells, they stand below each other.
func (t *text) layOut(label string, labels []string, rows []row) table {
	tab := table{labels: labels, lead: signWidth}
	limit := t.width * 2 / (3 + len(labels))
	if lead, path, fits := t.leads(rows); fits {
		tab.lead, limit = lead, path
	} else if t.width > 0 && t.width-signWidth-2-min(limit, widestPath(rows)) < len(labels)*(minCell+3) {
		tab.stack, limit = true, t.width-signWidth
	}
	if t.width > 0 {
		for i, r := range rows {
			rows[i].path = monospace.KeepPathEnd(r.path, limit, t.ellipsis)
		}
	}
	tab.path = widestPath(rows)
	if len(labels) == 3 {
		tab.path = max(tab.path, len(label)-signWidth+len("  "))
	}
	if t.width > 0 {
		tab.room = max(1, t.width-tab.lead-tab.path-2)
	}
	if len(labels) == 3 {
		tab.cells = t.columnWidths(tab, rows)
	} else {
		tab.values = t.valueWidth(tab, rows)
	}
	return tab
}

// leads reports whether groups fit on a line each, with lead, values and the end of the path, and how wide lead and path may be. If they do
// not fit, each lead stands on a line above its rows.
func (t *text) leads(rows []row) (lead, path int, fits bool) {
	values := 0
	for _, r := range rows {
		lead = max(lead, monospace.Width(r.lead)+signWidth)
		values = max(values, monospace.Width(strings.Join(r.cells, t.arrow)))
	}
	path = t.width - lead - 2 - values
	return lead, path, lead > signWidth && (t.width == 0 || path >= min(minPath, widestPath(rows)))
}

// widestPath returns the display width of the longest path, by which the values of all rows are aligned.
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
			want[i] = min(want[i], maxPadded)
		}
	}
	if tab.room == 0 {
		return want
	}
	return monospace.Fit(want, tab.room-2*len(columnGap))
}

// valueWidth returns the width that lets most rows have their remarks beside them, in line.
func (t *text) valueWidth(tab table, rows []row) int {
	limit := 2 * maxPadded
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
		if w := monospace.Width(strings.Join(r.cells, t.arrow)); w <= limit {
			widest = max(widest, w)
		}
	}
	return widest
}

// row writes one finding. Remarks stand beside it if they fit, and below it otherwise.
func (t *text) row(tab table, r row) {
	if tab.stack {
		t.line("  ", t.sign(r.verdict), " ", r.path)
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
	if all := english.JoinNonEmpty(t.dot, r.remarks, r.aside); fits(all) {
		r.remarks = all
	}
	beside := ""
	if fits(r.remarks) {
		beside, r.remarks = "  "+r.remarks, ""
	}
	lead := ""
	if tab.lead > signWidth {
		lead = monospace.Pad(r.lead, tab.lead-signWidth)
	}
	t.line(lead, "  ", t.sign(r.verdict), " ", monospace.Pad(r.path, tab.path), "  ", cells, beside)
	t.belowRow(r)
}

// belowRow writes what stands below a finding: the differences within its values, then the remarks that did not fit.
func (t *text) belowRow(r row) {
	for _, l := range r.below {
		if t.width > 0 {
			l = monospace.KeepStart(l, t.width-signWidth-monospace.Width(t.gutter), t.ellipsis)
		}
		t.line(rowIndent, t.gutter, l)
	}
	if r.remarks != "" {
		t.continuation(rowIndent, r.remarks)
	}
}

// stackedCells writes the cells of a finding below each other, each with its label.
func (t *text) stackedCells(tab table, r row) {
	const label = len("desired") + 2
	room := t.width - signWidth - monospace.Width(t.gutter) - label
	for i, c := range t.shorten(r.cells, []int{room, room, room}, room) {
		t.line(rowIndent, t.gutter, monospace.Pad(tab.labels[i], label), c)
	}
}

// inColumns returns cells in the columns of the table.
func (tab table) inColumns(cells []string) string {
	padded := make([]string, len(cells))
	for i, c := range cells {
		padded[i] = monospace.Pad(c, tab.cells[i])
	}
	return strings.Join(padded, columnGap)
}

// withArrow returns "old → live" within room.
func (t *text) withArrow(cells []string, room int) string {
	want := make([]int, len(cells))
	for i, c := range cells {
		want[i] = monospace.Width(c)
	}
	return strings.Join(t.shorten(cells, monospace.Fit(want, room-(len(cells)-1)*monospace.Width(t.arrow)), room), t.arrow)
}

// shorten cuts cells to their widths if room is limited. Long values tend to differ late (the tag of an image, one flag of a command line),
// so cells that begin alike lose that beginning first, except for some of it that tells readers where they are.
func (t *text) shorten(cells []string, widths []int, room int) []string {
	if room == 0 {
		return cells
	}
	shared := sharedColumns(cells)
	short := make([]string, len(cells))
	for i, c := range cells {
		if w := widths[i]; monospace.Width(c) > w && shared > w/2 && c != absent {
			c = t.ellipsis + monospace.DropColumns(c, min(shared-w/4, monospace.Width(c)-w+monospace.Width(t.ellipsis)))
		}
		short[i] = monospace.KeepStart(c, widths[i], t.ellipsis)
	}
	return short
}

// sharedColumns returns the width of the longest beginning that all cells with a value share. A single cell shares nothing.
func sharedColumns(cells []string) int {
	var there []string
	for _, c := range cells {
		if c != absent {
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
