package output

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxClean is how many clean releases the overview lists. If there are more, none is listed and all are counted.
const maxClean = 10

// entry is a release of a scan and its state.
type entry struct {
	report.Release
	state report.State
}

// entriesOf returns the releases of a scan in the order in which they are written: the most urgent state first, and within a state by
// cluster, namespace and name.
func entriesOf(releases []report.Release) []entry {
	all := make([]entry, len(releases))
	for i, rel := range releases {
		all[i] = entry{rel, rel.State()}
	}
	urgency := report.States()
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(slices.Index(urgency, a.state), slices.Index(urgency, b.state)), cmp.Compare(a.Cluster, b.Cluster),
			cmp.Compare(namespaceOf(a.Release), namespaceOf(b.Release)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.StorageNamespace, b.StorageNamespace))
	})
	return all
}

// countOfState counts the entries of a state.
func countOfState(all []entry, state report.State) int {
	n := 0
	for _, e := range all {
		n += oneIf(e.state == state)
	}
	return n
}

// cut says how far the cells of a line are cut: not at all, so far that readers still recognize most of them, or as far as makes sense.
type cut int

const (
	uncut cut = iota
	comfortable
	tight
)

// overviewColumn is a column of the overview.
type overviewColumn struct {
	title string
	cell  func(entry) string
	// least are the widths to which cells may be cut. Cells of a column without them are never cut.
	least map[cut]int
	// isName means that cells lose their middle and not their end, because names often differ only in their last part.
	isName bool

	cells []string
	width int
}

// overviewColumns returns all columns in the order in which they stand.
func (t *text) overviewColumns() []overviewColumn {
	name, short := map[cut]int{comfortable: 18, tight: 12}, map[cut]int{comfortable: 12, tight: 10}
	return []overviewColumn{
		{title: "state", cell: func(e entry) string { return string(e.state) }},
		{title: "cluster", cell: func(e entry) string { return t.label(e.Cluster) }, least: short, isName: true},
		{title: "namespace", cell: func(e entry) string { return t.label(namespaceOf(e.Release)) }, least: name, isName: true},
		{title: "release", cell: func(e entry) string { return t.label(e.Name) }, least: name, isName: true},
		{title: "record in", cell: t.recordCell},
		{title: "revision", cell: revisionCell},
		{title: "found", cell: foundCell, least: map[cut]int{comfortable: 20, tight: 8}},
		{title: "oldest", cell: t.oldestCell},
		{title: "who", cell: t.editorsCell, least: short},
	}
}

// overview writes a line for each release. Clean releases are listed only if they are few, or if the reader asks for them.
func (t *text) overview(all []entry, clusters int) {
	if clean := countOfState(all, report.StateClean); clean > maxClean && !t.verbose {
		all = all[:len(all)-clean]
	}
	if len(all) == 0 {
		return
	}
	columns := t.layOutOverview(all, clusters)
	t.line(t.heading(strings.TrimRight(t.overviewRow(columns, func(c overviewColumn) string { return c.title }), " ")))
	for i, e := range all {
		row := t.overviewRow(columns, func(c overviewColumn) string { return c.cells[i] })
		t.line(t.state(e.state), strings.TrimPrefix(row, string(e.state)))
	}
}

// layOutOverview returns the columns that fit, with their cells and widths. A column without a cell is left out, and so is the cluster if
// there is only one. Without a terminal nothing is cut, and a cell wider than maxPadded pushes only its own line to the right.
func (t *text) layOutOverview(all []entry, clusters int) []overviewColumn {
	columns := t.overviewColumns()
	for i := range columns {
		c := &columns[i]
		for _, e := range all {
			cell := c.cell(e)
			c.cells = append(c.cells, cell)
			c.width = max(c.width, displayWidth(cell))
		}
	}
	columns = slices.DeleteFunc(columns, func(c overviewColumn) bool { return c.width == 0 || c.title == "cluster" && clusters < 2 })
	for i, c := range columns {
		columns[i].width = max(c.width, displayWidth(c.title))
	}
	if t.width == 0 {
		for i, c := range columns {
			columns[i].width = min(c.width, maxPadded)
		}
		return columns
	}
	return fitOverview(columns, t.width)
}

// fitOverview drops columns until the others fit into a line, and divides the room among those whose cells may be cut.
func fitOverview(columns []overviewColumn, width int) []overviewColumn {
	// The least important column is the first. Each gives way if the others would be cut further than its limit. State and names stay,
	// because without them nobody knows what a line is about.
	for _, d := range []struct {
		title string
		limit cut
	}{{"revision", uncut}, {"record in", uncut}, {"who", comfortable}, {"oldest", comfortable}, {"found", tight}} {
		if lineWidth(columns, d.limit) > width {
			columns = slices.DeleteFunc(columns, func(c overviewColumn) bool { return c.title == d.title })
		}
	}
	room := width - gaps(columns)
	var want []int
	for _, c := range columns {
		if c.least != nil {
			want = append(want, c.width)
		} else {
			room -= c.width
		}
	}
	widths := fit(want, room)
	for i, c := range columns {
		if c.least != nil {
			columns[i].width, widths = widths[0], widths[1:]
		}
	}
	return columns
}

// lineWidth returns the width of a line whose cells are cut so far.
func lineWidth(columns []overviewColumn, limit cut) int {
	sum := gaps(columns)
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
func gaps(columns []overviewColumn) int { return 2 * (len(columns) - 1) }

// overviewRow returns the cells of a line in their columns, cut if there is no room for all of them.
func (t *text) overviewRow(columns []overviewColumn, cellOf func(overviewColumn) string) string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cell := cellOf(c)
		switch {
		case t.width == 0:
		case c.isName:
			cell = keepEnds(cell, c.width, t.ellipsis)
		default:
			cell = keepStart(cell, c.width, t.ellipsis)
		}
		cells[i] = pad(cell, c.width)
	}
	return strings.Join(cells, "  ")
}

// state returns the word for a state in its colour.
func (s style) state(state report.State) string {
	switch state {
	case report.StateError:
		return s.paint(string(state), color.FgRed, color.Bold)
	case report.StateDrifted:
		return s.paint(string(state), color.FgYellow)
	case report.StateChanged:
		return s.paint(string(state), color.FgCyan)
	case report.StateClean:
	}
	return s.paint(string(state), color.FgGreen)
}
