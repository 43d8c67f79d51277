package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// List returns a line for each release, what could not be read, and the number of releases.
func List(l *report.ReleaseList, opts Options) []byte {
	t := newText(opts, l.Time)
	t.blocks(
		func() { t.list(l) },
		func() { t.troubles("error: ", t.releaseTroubles(unread(l.Releases))) },
		func() {
			t.headline(t.statuses(l.Releases))
			t.unsearched(l.Errors, "list")
			if opts.Diff != "" && len(l.Releases) > 0 {
				t.prose(t.escape(opts.Diff) + " compares them")
			}
		},
	)
	return t.out.Bytes()
}

// listColumns returns all columns in the order in which they stand. There is no column for the cluster if there is only one.
func (t *text) listColumns(clusters int) []column[report.ListedRelease] {
	all := []column[report.ListedRelease]{
		{title: "cluster", cell: func(r report.ListedRelease) string { return t.first(r.Cluster) }, least: shortWidths(), isName: true},
		{title: "namespace", cell: func(r report.ListedRelease) string { return t.first(r.Namespace) }, least: nameWidths(), isName: true},
		{title: "release", cell: func(r report.ListedRelease) string { return t.label(r.Name) }, least: nameWidths(), isName: true},
		{title: "revision", cell: listedRevisionCell},
		{title: "status", cell: func(r report.ListedRelease) string { return t.statusWord(r.Status) }, paint: t.status},
		{title: "chart", cell: t.chartCell, least: nameWidths(), isName: true},
		{title: "helm", cell: func(r report.ListedRelease) string { return t.escape(r.Helm) }},
		{title: "applied", cell: func(r report.ListedRelease) string { return t.escape(r.ApplyMethod) }},
		{title: "age", cell: t.ageCell},
	}
	return slices.DeleteFunc(all, func(c column[report.ListedRelease]) bool { return c.title == "cluster" && clusters < 2 })
}

// listDrops returns the columns of a list that may give way, the least important first.
func listDrops() []dropped {
	return []dropped{{"applied", comfortable}, {"helm", comfortable}, {"age", comfortable}, {"chart", tight}, {"revision", tight}}
}

// list writes a line for each release, in their order.
func (t *text) list(l *report.ReleaseList) {
	clusters := distinct(l.Releases, func(r report.ListedRelease) string { return r.Cluster })
	writeTable(t, t.listColumns(len(clusters)), l.Releases, listDrops())
}

// first returns a name that may begin a line.
func (s style) first(name string) string {
	begins := name != "" && (escape.IsLetter(rune(name[0])) || name[0] >= '0' && name[0] <= '9')
	return s.quoted(name, begins && !strings.ContainsAny(name, ` "`))
}

// listedRevisionCell returns the number of the revision, if it is known.
func listedRevisionCell(r report.ListedRelease) string {
	if r.Revision == 0 {
		return ""
	}
	return fmt.Sprint(r.Revision)
}

// maxStatus is the width of the longest status that Helm knows, pending-rollback.
const maxStatus = 16

// statusWord returns a status, empty if it is not known. On a terminal, what no Helm wrote is cut.
func (t *text) statusWord(status string) string {
	switch {
	case status == "":
		return ""
	case t.width == 0:
		return t.word(status)
	}
	return monospace.KeepStart(t.word(status), maxStatus, t.ellipsis)
}

// chartCell returns the name and version of the chart, or that the record with them was not read.
func (t *text) chartCell(r report.ListedRelease) string {
	switch {
	case r.Error != nil:
		return "not read"
	case r.Chart == "":
		return ""
	}
	return t.label(r.Chart)
}

// ageCell returns how long ago the record was stored: "3 d".
func (t *text) ageCell(r report.ListedRelease) string {
	if r.Created.IsZero() {
		return ""
	}
	return span(t.now.Sub(r.Created))
}

// status returns a cell in the colour of the status of a release.
func (s style) status(r report.ListedRelease, cell string) string {
	switch {
	case r.Status == "deployed":
		return s.paint(cell, color.FgGreen)
	case r.Status == "failed":
		return s.paint(cell, color.FgRed)
	case strings.HasPrefix(r.Status, "pending-"):
		return s.paint(cell, color.FgYellow)
	}
	return cell
}

// unread returns the releases that could not be read, as the overview of a scan has them.
func unread(all []report.ListedRelease) []entry {
	var out []entry
	for _, r := range all {
		if r.Error != nil {
			out = append(out, entry{Release: report.Release{
				Name: r.Name, StorageNamespace: r.Namespace, Cluster: r.Cluster,
				Errors: []report.Message{{Code: r.Error.Code, Message: r.Error.Message}},
			}})
		}
	}
	return out
}

// maxStatuses is how many statuses are counted by name. Helm has nine.
const maxStatuses = 9

// statuses counts the releases by status, the most frequent first: "12 releases on 2 clusters: 11 deployed, 1 failed".
func (t *text) statuses(all []report.ListedRelease) string {
	if len(all) == 0 {
		return "no releases found"
	}
	n, errors := map[string]int{}, 0
	for _, r := range all {
		n[r.Status]++
		errors += oneIf(r.Error != nil)
	}
	words := slices.DeleteFunc(distinct(all, func(r report.ListedRelease) string { return r.Status }), func(s string) bool { return s == "" })
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", n[word], t.statusWord(word))
	}
	subject := english.Count(len(all), "release")
	if clusters := distinct(all, func(r report.ListedRelease) string { return r.Cluster }); len(clusters) > 1 {
		subject += " on " + english.Count(len(clusters), "cluster")
	}
	unread := ""
	if errors > 0 {
		unread = fmt.Sprintf("%d could not be read", errors)
	}
	return english.JoinNonEmpty(t.dot, english.JoinNonEmpty(": ", subject, strings.Join(english.AtMost(words, maxStatuses), ", ")), unread)
}
