package output

import (
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// signWidth is the room of "  ± " and of a line's indent below it.
	signWidth   = 4
	fieldIndent = "    "
	// minCell is the width under which cells stand below each other rather than beside each other.
	minCell = 12
	// maxPiped is the column width up to which cells are padded where no terminal limits them.
	maxPiped = 40
	// maxRemark is how wide remarks may be to keep a place of their own on a line; longer ones go below.
	maxRemark = 40
)

// row is one finding, escaped and not yet shortened.
type row struct {
	verdict report.Verdict
	lead    string // stands before the sign; only in front of groups
	path    string
	cells   []string // two or three sides
	remarks string
	aside   string // one more remark, where there is room
	below   []string
}

// table is how the rows of one object stand.
type table struct {
	labels []string
	lead   int   // width of what stands before the path
	path   int   // width of the path column
	room   int   // what is left for cells and remarks; 0 is unlimited
	cells  []int // widths of the columns; of three columns only
	values int   // the width to which "old → live" is padded
	stack  bool  // cells stand below each other
}

// part writes a label, a heading where there are three columns, and a row for each finding.
func (t *text) part(p part) {
	rows := make([]row, len(p.fields))
	for i, f := range p.fields {
		c, below := t.cellsOf(f, p)
		rows[i] = row{verdict: f.Verdict, path: t.text(f.Path), cells: p.pick(c), remarks: strings.Join(t.remarks(f), t.dot), below: below}
		if p.leads != nil {
			rows[i].lead, rows[i].aside = p.leads[i], p.asides[i]
		}
	}
	tab := t.table(p, rows)
	switch {
	case len(p.columns) == 3 && !tab.stack:
		t.line(pad("  "+p.label, tab.lead+tab.path), "  ", tab.columns(p.columns))
	case p.label != "":
		t.line("  ", p.label)
	}
	for i, r := range rows {
		if r.lead != "" && tab.lead == signWidth && (i == 0 || rows[i-1].lead != r.lead) {
			t.line(r.lead)
		}
		t.row(tab, r)
	}
}

// table decides the widths and cuts the paths to theirs: at most two fifths of a line, and a third beside three columns. Where
// even that leaves no room for the cells, they stand below each other.
func (t *text) table(p part, rows []row) table {
	tab := table{labels: p.columns, lead: signWidth}
	limit := t.width * 2 / (3 + len(tab.labels))
	if lead, path, fits := t.leads(p, rows); fits {
		tab.lead, limit = lead, path
	} else if t.width > 0 && t.width-signWidth-2-min(limit, widestPath(rows)) < len(tab.labels)*(minCell+3) {
		tab.stack, limit = true, t.width-signWidth
	}
	if t.width > 0 {
		for i, r := range rows {
			rows[i].path = keepPathEnd(r.path, limit, t.ellipsis)
		}
	}
	tab.path = widestPath(rows)
	if len(tab.labels) == 3 {
		tab.path = max(tab.path, len(p.label)-signWidth+len("  "))
	}
	if t.width > 0 {
		tab.room = max(1, t.width-tab.lead-tab.path-2)
	}
	if len(tab.labels) == 3 {
		tab.cells = t.columnWidths(tab, rows)
	} else {
		tab.values = t.valueWidth(tab, rows)
	}
	return tab
}

// leads tells whether groups fit on a line each, lead and values and the end of the path, and how wide lead and path may be.
// Where they do not fit, the leads stand above.
func (t *text) leads(p part, rows []row) (lead, path int, fits bool) {
	const minPath = 16
	values := 0
	for _, r := range rows {
		lead = max(lead, displayWidth(r.lead)+signWidth)
		values = max(values, displayWidth(strings.Join(r.cells, t.arrow)))
	}
	path = t.width - lead - 2 - values
	return lead, path, p.leads != nil && (t.width == 0 || path >= min(minPath, widestPath(rows)))
}

func widestPath(rows []row) int {
	widest := 0
	for _, r := range rows {
		widest = max(widest, displayWidth(r.path))
	}
	return widest
}

// columnWidths shares the room among old, desired and live.
func (t *text) columnWidths(tab table, rows []row) []int {
	want := make([]int, len(tab.labels))
	for i, l := range tab.labels {
		want[i] = displayWidth(l)
		for _, r := range rows {
			want[i] = max(want[i], displayWidth(r.cells[i]))
		}
		if tab.room == 0 {
			want[i] = min(want[i], maxPiped)
		}
	}
	if tab.room == 0 {
		return want
	}
	return fit(want, tab.room-2*len(columnGap))
}

// valueWidth finds the width that lets most rows have their remarks beside them, in line.
func (t *text) valueWidth(tab table, rows []row) int {
	limit := 2 * maxPiped
	if tab.room > 0 {
		remark := 0
		for _, r := range rows {
			if w := displayWidth(r.remarks); w <= maxRemark {
				remark = max(remark, w)
			}
		}
		limit = tab.room - 2 - remark
	}
	widest := 0
	for _, r := range rows {
		if w := displayWidth(strings.Join(r.cells, t.arrow)); w <= limit {
			widest = max(widest, w)
		}
	}
	return widest
}

// row writes one finding. Remarks stand beside it where they fit and below it where they do not.
func (t *text) row(tab table, r row) {
	if tab.stack {
		t.line("  ", t.sign(r.verdict), " ", r.path)
		t.stacked(tab, r)
		t.rest(r)
		return
	}
	cells := ""
	if len(tab.labels) == 3 {
		cells = tab.columns(t.shorten(r.cells, tab.cells, tab.room))
	} else {
		cells = pad(t.pairOf(r.cells, tab.room), tab.values)
	}
	fits := func(remarks string) bool {
		return tab.room == 0 || displayWidth(cells)+2+displayWidth(remarks) <= tab.room
	}
	if all := join(t.dot, r.remarks, r.aside); fits(all) {
		r.remarks = all
	}
	beside := ""
	if fits(r.remarks) {
		beside, r.remarks = "  "+r.remarks, ""
	}
	lead := ""
	if tab.lead > signWidth {
		lead = pad(r.lead, tab.lead-signWidth)
	}
	t.line(lead, "  ", t.sign(r.verdict), " ", pad(r.path, tab.path), "  ", cells, beside)
	t.rest(r)
}

// rest writes what stands below a finding: what differs within its values, then the remarks that found no room.
func (t *text) rest(r row) {
	for _, l := range r.below {
		if t.width > 0 {
			l = keepStart(l, t.width-signWidth-displayWidth(t.gutter), t.ellipsis)
		}
		t.line(fieldIndent, t.gutter, l)
	}
	if r.remarks != "" {
		t.below(fieldIndent, r.remarks)
	}
}

// stacked writes the cells of a finding below each other, with their labels.
func (t *text) stacked(tab table, r row) {
	const label = len("desired") + 2
	room := t.width - signWidth - displayWidth(t.gutter) - label
	cells := t.shorten(r.cells, []int{room, room, room}, room)
	for i, c := range cells {
		t.line(fieldIndent, t.gutter, pad(tab.labels[i], label), c)
	}
}

const columnGap = " | "

// columns gives cells in the columns of the table.
func (tab table) columns(cells []string) string {
	padded := make([]string, len(cells))
	for i, c := range cells {
		padded[i] = pad(c, tab.cells[i])
	}
	return strings.Join(padded, columnGap)
}

// pairOf gives "old → live" within room.
func (t *text) pairOf(cells []string, room int) string {
	want := []int{displayWidth(cells[0]), displayWidth(cells[1])}
	return strings.Join(t.shorten(cells, fit(want, room-displayWidth(t.arrow)), room), t.arrow)
}

// shorten cuts cells to their widths, if room is limited at all. Long values tend to differ late (the tag of an image,
// one flag of a command line), so cells that begin alike lose that beginning first; some of it stays for orientation.
func (t *text) shorten(cells []string, widths []int, room int) []string {
	if room == 0 {
		return cells
	}
	shared := sharedColumns(cells)
	short := make([]string, len(cells))
	for i, c := range cells {
		if w := widths[i]; displayWidth(c) > w && shared > w/2 && c != absent {
			c = t.ellipsis + dropColumns(c, min(shared-w/4, displayWidth(c)-w+displayWidth(t.ellipsis)))
		}
		short[i] = keepStart(c, widths[i], t.ellipsis)
	}
	return short
}

// sharedColumns is the width of the longest beginning that all cells with a value share; none if there is only one.
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
		shared = shared[:sharedBytes(shared, c)]
	}
	return displayWidth(shared)
}

func sharedBytes(a, b string) int {
	for i, r := range a {
		if !strings.HasPrefix(b[min(i, len(b)):], string(r)) {
			return i
		}
	}
	return len(a)
}
