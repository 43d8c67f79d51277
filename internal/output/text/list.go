package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/listing"
)

// List returns a line for each release, what could not be read, and the number of releases.
func List(l *listing.List, opts layout.Options) []byte {
	t := newText(opts, l.Time)
	t.Blocks(
		func() { t.list(l.Releases) },
		func() { t.troubles("error: ", t.releaseTroubles(unread(l.Releases))) },
		func() {
			t.Headline(t.statuses(l.Releases))
			t.unsearched(l.Errors, "list")
			if opts.Diff != "" && len(l.Releases) > 0 {
				t.Prose(t.Escape(opts.Diff) + " compares them")
			}
		},
	)
	return t.Out.Bytes()
}

// listColumns returns all columns in their order. There is no column for the cluster if there is only one.
func (t *text) listColumns(clusters int) []layout.Column[listing.Release] {
	all := []layout.Column[listing.Release]{
		{Title: "cluster", Cell: func(r listing.Release) string { return t.First(r.Cluster) }, Least: layout.ShortWidths(), IsName: true},
		{Title: "namespace", Cell: func(r listing.Release) string { return t.First(r.Namespace) }, Least: layout.NameWidths(), IsName: true},
		{Title: "release", Cell: func(r listing.Release) string { return t.Label(r.Name) }, Least: layout.NameWidths(), IsName: true},
		{Title: "revision", Cell: listedRevisionCell},
		{Title: "status", Cell: func(r listing.Release) string { return t.statusWord(r.Status) }, Paint: t.status},
		{Title: "chart", Cell: t.chartCell, Least: layout.NameWidths(), IsName: true},
		{Title: "helm", Cell: func(r listing.Release) string { return t.Escape(r.Helm) }},
		{Title: "applied", Cell: func(r listing.Release) string { return t.Escape(string(r.ApplyMethod)) }},
		{Title: "age", Cell: t.ageCell},
	}
	return slices.DeleteFunc(all, func(c layout.Column[listing.Release]) bool { return c.Title == "cluster" && clusters < 2 })
}

// list writes a line for each release, in their order. The least important column gives way first.
func (t *text) list(all []listing.Release) {
	clusters := layout.Distinct(all, func(r listing.Release) string { return r.Cluster })
	layout.WriteTable(t.Text, t.listColumns(len(clusters)), all, []layout.Dropped{
		{Title: "applied", Limit: layout.Comfortable},
		{Title: "helm", Limit: layout.Comfortable},
		{Title: "age", Limit: layout.Comfortable},
		{Title: "chart", Limit: layout.Tight},
		{Title: "revision", Limit: layout.Tight},
	})
}

// listedRevisionCell returns the number of the revision, if it is known.
func listedRevisionCell(r listing.Release) string {
	if r.Revision == 0 {
		return ""
	}
	return fmt.Sprint(r.Revision)
}

// maxStatus is the width of the longest status that Helm knows, pending-rollback.
const maxStatus = 16

// statusWord returns a status, or an empty text if it is not known. On a terminal, it cuts a status
// that is longer than any of Helm's.
func (t *text) statusWord(status string) string {
	switch {
	case status == "":
		return ""
	case t.Width == 0:
		return t.Word(status)
	}
	return monospace.KeepStart(t.Word(status), maxStatus, t.Ellipsis)
}

// chartCell returns the name and version of the chart, or that the record with them was not read.
func (t *text) chartCell(r listing.Release) string {
	switch {
	case r.Error != nil:
		return "not read"
	case r.Chart == "":
		return ""
	}
	return t.Label(r.Chart)
}

// ageCell returns how long ago the record was stored: "3 d".
func (t *text) ageCell(r listing.Release) string {
	if r.Created.IsZero() {
		return ""
	}
	return layout.Span(t.Now.Sub(r.Created))
}

// status returns a cell in the colour of the status of a release.
func (t *text) status(r listing.Release, cell string) string {
	switch {
	case r.Status == "deployed":
		return t.Paint(cell, color.FgGreen)
	case r.Status == "failed":
		return t.Paint(cell, color.FgRed)
	case strings.HasPrefix(r.Status, "pending-"):
		return t.Paint(cell, color.FgYellow)
	}
	return cell
}

// unread returns the releases that could not be read, as the overview of a scan has them.
func unread(all []listing.Release) []entry {
	var out []entry
	for _, r := range all {
		if r.Error != nil {
			out = append(out, entry{Release: report.Release{
				Name: r.Name, StorageNamespace: r.Namespace, Cluster: r.Cluster,
				Errors: []report.Message{{Code: r.Error.Code, Message: r.Error.Message, Subject: r.Error.Subject}},
			}})
		}
	}
	return out
}

// maxStatuses is how many statuses are counted by name. Helm has nine.
const maxStatuses = 9

// statuses counts the releases by status, the most frequent first: "12 releases on 2 clusters: 11 deployed, 1 failed".
func (t *text) statuses(all []listing.Release) string {
	if len(all) == 0 {
		return "no releases found"
	}
	n, errors := map[string]int{}, 0
	for _, r := range all {
		n[r.Status]++
		errors += layout.OneIf(r.Error != nil)
	}
	words := layout.Distinct(all, func(r listing.Release) string { return r.Status })
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	order.Sort(words, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", n[word], t.statusWord(word))
	}
	subject := english.Count(len(all), "release")
	if clusters := layout.Distinct(all, func(r listing.Release) string { return r.Cluster }); len(clusters) > 1 {
		subject += " on " + english.Count(len(clusters), "cluster")
	}
	said := layout.Clauses{layout.JoinNonEmpty(": ", subject, strings.Join(english.AtMost(words, maxStatuses), ", "))}
	said.AddIf(errors > 0, fmt.Sprintf("%d could not be read", errors))
	return strings.Join(said, t.Dot)
}
