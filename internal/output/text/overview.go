package text

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/found"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/urgency"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxClean is how many clean releases the overview lists. If there are more, none is listed and all are counted.
const maxClean = 10

// entry is a release of a scan and its state.
type entry struct {
	report.Release
	state report.State
	// severity and newest order the entries of a state: how urgent the most urgent object is, and the time of the newest edit, if known.
	severity int
	newest   time.Time
}

// entriesOf returns the releases of a scan in the order of the overview: the most urgent state first, within a state what its most urgent
// object is about, and then the newest edit.
func entriesOf(releases []report.Release) []entry {
	all := make([]entry, len(releases))
	for i, rel := range releases {
		newest, _ := rel.NewestEdit()
		all[i] = entry{rel, rel.State(), urgency.Most(rel), newest}
	}
	urgency := report.States()
	order.Sort(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(slices.Index(urgency, a.state), slices.Index(urgency, b.state)),
			cmp.Compare(a.severity, b.severity), b.newest.Compare(a.newest), cmp.Compare(a.Cluster, b.Cluster),
			cmp.Compare(namespaceOf(a.Release), namespaceOf(b.Release)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.StorageNamespace, b.StorageNamespace))
	})
	return all
}

// countOfState counts the entries of a state.
func countOfState(all []entry, state report.State) int {
	n := 0
	for _, e := range all {
		n += layout.OneIf(e.state == state)
	}
	return n
}

// overviewColumns returns all columns in their order. There is no column for the cluster or for who deploys if there is only one.
func (t *text) overviewColumns(clusters int, entries []entry) []layout.Column[entry] {
	all := []layout.Column[entry]{
		{Title: "state", Cell: func(e entry) string { return string(e.state) },
			Paint: func(e entry, s string) string { return t.inColour(e.state, s) }},
		{Title: "deployer", Cell: t.toolCell, Least: layout.ShortWidths()},
		{Title: "next", Cell: t.nextCell, Least: layout.ShortWidths()},
		{Title: "cluster", Cell: func(e entry) string { return t.Label(e.Cluster) }, Least: layout.ShortWidths(), IsName: true},
		{Title: "namespace", Cell: func(e entry) string { return t.Label(namespaceOf(e.Release)) }, Least: layout.NameWidths(), IsName: true},
		{Title: "release", Cell: func(e entry) string { return t.Label(e.Name) }, Least: layout.NameWidths(), IsName: true},
		{Title: "record in", Cell: t.recordCell},
		{Title: "revision", Cell: revisionCell},
		{Title: "found", Cell: foundCell, Least: map[layout.Cut]int{layout.Comfortable: 20, layout.Tight: 8}},
		{Title: "newest", Cell: func(e entry) string { return t.span(e.NewestEdit()) }},
		{Title: "oldest", Cell: func(e entry) string { return t.span(e.OldestEdit()) }},
		{Title: "who", Cell: t.editorsCell, Least: layout.ShortWidths()},
	}
	return slices.DeleteFunc(all, func(c layout.Column[entry]) bool {
		return c.Title == "cluster" && clusters < 2 || c.Title == "deployer" && !hasSeveralTools(entries)
	})
}

// overview writes a line for each release. Clean releases are listed only if they are few, or if the reader asks for them. The least
// important column gives way first. State and names stay, because without them nobody knows what a line is about.
func (t *text) overview(all []entry, clusters int) {
	if clean := countOfState(all, report.StateClean); clean > maxClean && !t.Verbose {
		all = all[:len(all)-clean]
	}
	layout.WriteTable(t.Text, t.overviewColumns(clusters, all), all, []layout.Dropped{
		{Title: "revision", Limit: layout.Uncut},
		{Title: "record in", Limit: layout.Uncut},
		{Title: "oldest", Limit: layout.Uncut},
		{Title: "who", Limit: layout.Comfortable},
		{Title: "newest", Limit: layout.Comfortable},
		{Title: "found", Limit: layout.Tight},
	})
}

// inColour returns a text in the colour of a state.
func (t *text) inColour(state report.State, said string) string {
	switch state {
	case report.StateError:
		return t.Paint(said, color.FgRed, color.Bold)
	case report.StateDrifted:
		return t.Paint(said, color.FgYellow, color.Bold)
	case report.StateUninstall, report.StateBlocked:
		return t.Paint(said, color.FgRed)
	case report.StateChanged:
		return t.Paint(said, color.FgCyan)
	case report.StateClean:
	}
	return t.Paint(said, color.FgGreen)
}

// foundCell returns what could not be seen in a release, and then what was found. A release that could not be read must not look clean.
func foundCell(e entry) string {
	var unseen layout.Clauses
	switch objects := counts.Of([]report.Release{e.Release}).ObjectErrors; {
	case len(e.Errors) > 0 && e.Compared == 0:
		unseen = append(unseen, "could not be compared")
	case objects > 0:
		unseen = append(unseen, fmt.Sprintf("%d of %d not compared", objects, e.Compared))
	case len(e.Errors) > 0:
		unseen = append(unseen, "incomplete")
	}
	unseen.AddIf(e.Terminating, "namespace being deleted")
	return layout.JoinNonEmpty(", ", append(unseen, found.In(e.Release).String())...)
}

// namespaceOf returns the namespace of a release. If its record cannot be read, only the namespace of the record is known.
func namespaceOf(rel report.Release) string { return cmp.Or(rel.Namespace, rel.StorageNamespace) }

// recordCell returns the namespace of the record, if the release has another.
func (t *text) recordCell(e entry) string {
	if e.StorageNamespace == "" || e.StorageNamespace == namespaceOf(e.Release) {
		return ""
	}
	return t.Label(e.StorageNamespace)
}

// revisionCell returns the number of the revision that the objects were compared with.
func revisionCell(e entry) string {
	if e.Old == nil {
		return ""
	}
	return fmt.Sprint(e.Old.Revision)
}

// span returns the age of an edit: "3 d".
func (t *text) span(at time.Time, known bool) string {
	if !known {
		return ""
	}
	return layout.Span(t.Now.Sub(at))
}

// editorsCell names one field manager and counts the others: "kubectl-edit, +2".
func (t *text) editorsCell(e entry) string {
	names := e.Editors()
	if len(names) == 0 {
		return ""
	}
	cell := t.Word(names[0])
	if others := len(names) - 1; others > 0 {
		cell += fmt.Sprintf(", +%d", others)
	}
	return cell
}
