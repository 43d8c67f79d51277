package text

import (
	"cmp"
	"slices"

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

// overviewColumns returns all columns in the order in which they stand. There is no column for the cluster if there is only one.
func (t *text) overviewColumns(clusters int) []column[entry] {
	all := []column[entry]{
		{title: "state", cell: func(e entry) string { return string(e.state) }, paint: func(e entry, _ string) string { return t.state(e.state) }},
		{title: "cluster", cell: func(e entry) string { return t.label(e.Cluster) }, least: shortWidths(), isName: true},
		{title: "namespace", cell: func(e entry) string { return t.label(namespaceOf(e.Release)) }, least: nameWidths(), isName: true},
		{title: "release", cell: func(e entry) string { return t.label(e.Name) }, least: nameWidths(), isName: true},
		{title: "record in", cell: t.recordCell},
		{title: "revision", cell: revisionCell},
		{title: "found", cell: foundCell, least: map[cut]int{comfortable: 20, tight: 8}},
		{title: "oldest", cell: t.oldestCell},
		{title: "who", cell: t.editorsCell, least: shortWidths()},
	}
	return slices.DeleteFunc(all, func(c column[entry]) bool { return c.title == "cluster" && clusters < 2 })
}

// overviewDrops returns the columns of the overview that may give way, the least important first. State and names stay, because without
// them nobody knows what a line is about.
func overviewDrops() []dropped {
	return []dropped{{"revision", uncut}, {"record in", uncut}, {"who", comfortable}, {"oldest", comfortable}, {"found", tight}}
}

// overview writes a line for each release. Clean releases are listed only if they are few, or if the reader asks for them.
func (t *text) overview(all []entry, clusters int) {
	if clean := countOfState(all, report.StateClean); clean > maxClean && !t.verbose {
		all = all[:len(all)-clean]
	}
	writeTable(t, t.overviewColumns(clusters), all, overviewDrops())
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
