// Package environments shows one release in several environments, which are namespaces or clusters, side by side: a line for each field
// that drifted in one of them, and a column for each environment.
//
//	release web                    dev          stage      prod
//	state                          clean        drifted    drifted
//	chart                          web-1.3.0    web-1.2.0  web-1.2.0
//	revision                       4            7          12
//	value image.tag                1.27         1.25       1.25
//	Deployment web spec.replicas   as deployed  2 → 5      2 → 3
//	Service web                    as deployed  missing    as deployed
//
// What was deployed differs by the chart and by the values that the user gave. Of these, a line has each one that is not the same
// everywhere.
package environments

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// most is how many environments stand side by side.
const most = 6

// Heads is how many rows of a table are about the release as a whole. They come first.
const Heads = 3

// Table is the table of a release. Its texts are escaped.
type Table struct {
	Title string
	// Names are the environments.
	Names []string
	Rows  []Row
}

// Row is a line of the table: what it is about, and a cell for each environment.
type Row struct {
	Title string
	Cells []string
}

// Of returns the table of a release. The releases are its environments, in their order.
func Of(t *layout.Text, releases []report.Release) Table {
	return Table{
		"release " + t.Label(releases[0].Name), names(t, releases),
		slices.Concat(heads(t, releases), values(t, releases), fields(t, releases)),
	}
}

// Are reports whether releases are one release in several environments: they have one name, and few enough of them stand side by side.
func Are(releases []report.Release) bool {
	return len(releases) > 1 && len(releases) <= most &&
		!slices.ContainsFunc(releases, func(r report.Release) bool { return r.Name != releases[0].Name })
}

// Write writes the table of a release as text.
func Write(t *layout.Text, releases []report.Release) {
	table := Of(t, releases)
	columns := []layout.Column[Row]{{
		Title: table.Title, Cell: func(r Row) string { return r.Title },
		Least: map[layout.Cut]int{layout.Comfortable: 24, layout.Tight: 12}, IsName: true,
	}}
	for i, name := range table.Names {
		columns = append(columns, layout.Column[Row]{
			Title: name, Cell: func(r Row) string { return r.Cells[i] }, Least: map[layout.Cut]int{layout.Comfortable: 14, layout.Tight: 6},
		})
	}
	layout.WriteTable(t, columns, table.Rows, nil)
}

// names returns what distinguishes the environments: their namespaces, their clusters, or both.
func names(t *layout.Text, releases []report.Release) []string {
	differ := func(of func(report.Release) string) bool {
		return slices.ContainsFunc(releases, func(r report.Release) bool { return of(r) != of(releases[0]) })
	}
	namespace := func(r report.Release) string { return cmp.Or(r.Namespace, r.StorageNamespace) }
	byNamespace, byCluster := differ(namespace), differ(func(r report.Release) string { return r.Cluster })
	all := make([]string, len(releases))
	for i, r := range releases {
		var parts layout.Clauses
		parts.AddIf(byNamespace || !byCluster, t.Label(namespace(r)))
		parts.AddIf(byCluster, t.Label(r.Cluster))
		all[i] = strings.Join(parts, "/")
	}
	return all
}

// heads returns the lines about the releases as a whole.
func heads(t *layout.Text, releases []report.Release) []Row {
	of := func(title string, cell func(report.Release) string) Row {
		r := Row{Title: title}
		for _, release := range releases {
			r.Cells = append(r.Cells, cell(release))
		}
		return r
	}
	old := func(cell func(report.Revision) string) func(report.Release) string {
		return func(r report.Release) string {
			if r.Old == nil {
				return ""
			}
			return cell(*r.Old)
		}
	}
	return []Row{
		of("state", func(r report.Release) string { return string(r.State()) }),
		of("chart", old(func(r report.Revision) string { return t.Label(r.Chart) })),
		of("revision", old(func(r report.Revision) string { return fmt.Sprint(r.Revision) })),
	}
}

// values returns a line for each value that the user gave some of the releases, and that is not the same in all. Nobody can see whether two
// secrets are the same, so a secret is listed only if some release lacks it.
func values(t *layout.Text, releases []report.Release) []Row {
	given, paths := make([]map[string]report.GivenValue, len(releases)), map[string]bool{}
	for i, r := range releases {
		given[i] = map[string]report.GivenValue{}
		for _, v := range r.Values {
			given[i][v.Path], paths[v.Path] = v, true
		}
	}
	var rows []Row
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		row, seen := Row{Title: "value " + t.Escape(path)}, []report.GivenValue{}
		for i, r := range releases {
			v, isGiven := given[i][path]
			row.Cells = append(row.Cells, valueCell(t, r, v, isGiven))
			isNew := !slices.ContainsFunc(seen, func(other report.GivenValue) bool { return reflect.DeepEqual(v, other) })
			if r.Old != nil && isNew { // a value that is not given is the zero value, which no other is
				seen = append(seen, v)
			}
		}
		if len(seen) > 1 {
			rows = append(rows, row)
		}
	}
	return rows
}

// maxValue is how many characters of a value are shown.
const maxValue = 60

// valueCell returns a value in a cell.
func valueCell(t *layout.Text, r report.Release, v report.GivenValue, isGiven bool) string {
	text, _ := v.Value.(string)
	switch {
	case !isGiven && r.Old == nil:
		return "not compared"
	case !isGiven:
		return "not set"
	case v.Masked:
		return t.Mask
	case v.Value == nil:
		return "null"
	case layout.CountLines(text) > 1:
		return "(" + english.Count(layout.CountLines(text), "line") + ")"
	}
	return monospace.KeepStart(t.Value(v.Value), maxValue, t.Ellipsis)
}

// fields returns a line for each object that is missing in some environment, and for each field that somebody changed in some.
func fields(t *layout.Text, releases []report.Release) []Row {
	type key struct{ object, path string }
	// otherwise has the cell of an environment that has no finding in the line.
	otherwise := make([]map[key]string, len(releases))
	for i, r := range releases {
		otherwise[i] = map[key]string{}
		for _, o := range r.Objects {
			name := t.ObjectName(o, r)
			otherwise[i][key{name, ""}] = wholeObject(o)
			for _, f := range o.Fields {
				if f.Silenced() && f.Cause != report.CauseChange {
					otherwise[i][key{name, t.Escape(f.Path)}] = ignored
				}
			}
		}
	}
	cells, order := map[key][]string{}, []key{}
	set := func(k key, i int, cell string) {
		if cells[k] == nil {
			cells[k] = make([]string, len(releases))
			for j, r := range releases {
				cells[k][j] = cmp.Or(otherwise[j][key{k.object, ""}], otherwise[j][k], undrifted(r))
			}
			order = append(order, k)
		}
		cells[k][i] = cell
	}
	for i, r := range releases {
		for _, o := range r.Objects {
			name := t.ObjectName(o, r)
			if said := wholeObject(o); said != "" && o.IgnoredBy == nil {
				set(key{name, ""}, i, said)
			}
			for _, f := range o.Fields {
				if !f.Silenced() && f.Cause != report.CauseChange {
					values, _ := sides.Cells(t, f, sides.OldLive)
					set(key{name, t.Escape(f.Path)}, i, strings.Join(values, t.Arrow))
				}
			}
		}
	}
	rows := make([]Row, len(order))
	for i, k := range order {
		rows[i] = Row{layout.JoinNonEmpty(" ", k.object, k.path), cells[k]}
	}
	return rows
}

// ignored is the word for a difference that the rules of its environment ignore.
const ignored = "ignored"

// wholeObject says what an object is like in an environment where its fields cannot be compared. Otherwise it is empty.
func wholeObject(o report.Object) string {
	switch {
	case o.Error != nil:
		return "not compared"
	case o.IgnoredBy != nil && (o.Missing || o.Terminating):
		return ignored
	case o.IgnoredBy != nil:
	case o.Missing:
		return "missing"
	case o.Terminating:
		return "being deleted"
	}
	return ""
}

// undrifted says what a field is like in an environment that has no finding on it.
func undrifted(r report.Release) string {
	if r.Compared == 0 || r.Old == nil {
		return "not compared"
	}
	return "as deployed"
}
