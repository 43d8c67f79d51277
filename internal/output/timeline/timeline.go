// Package timeline writes the findings of a report in the order in which they were last written, the newest first, for somebody who looks
// for the cause of an incident. Its tests are in internal/output (timeline_test.go, and the golden files of the format timeline).
package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// longestValues is how many columns old and live may take together. A whole file can be one value.
const longestValues = 100

// absoluteFrom is the width of a terminal with room for times.
const absoluteFrom = 120

// line is one finding, or one object that is gone.
type line struct {
	release report.Release
	object  report.Object
	// object has no kind if the namespace of the release is being deleted. finding is nil for what is gone as a whole.
	finding *report.Finding
	at      time.Time
	timed   bool
}

// timeline is the text of one report.
type timeline struct{ *layout.Text }

// Text returns one line for each finding: when it was written, by which manager, where, and what changed.
func Text(r *report.Report, opts layout.Options) []byte {
	t := timeline{layout.New(opts, r.Time)}
	lines := linesOf(r)
	said := "Owners are programs (field managers), not people. A program has one time for each object: that of its last write."
	if t.isAbsolute() {
		said += " Times are UTC."
	}
	t.Prose(said)
	t.Line("")
	layout.WriteTable(t.Text, t.columns(r), lines, dropped(len(r.Releases)))
	if len(lines) > 0 {
		t.Line("")
	}
	t.tally(r, lines)
	return t.Out.Bytes()
}

// linesOf returns what is not silenced and not a change of the chart, the newest first, and what has no time last.
func linesOf(r *report.Report) (out []line) {
	for _, release := range r.Releases {
		if release.Terminating {
			out = append(out, line{release: release})
		}
		for _, o := range release.Objects {
			if o.Gone() && o.IgnoredBy == nil {
				out = append(out, line{release: release, object: o})
				continue
			}
			for i := range o.Fields {
				f := &o.Fields[i]
				if f.Silenced() || f.Cause == report.CauseChange {
					continue
				}
				at, timed := f.NewestWrite()
				out = append(out, line{release, o, f, at, timed})
			}
		}
	}
	order.Sort(out, func(a, b line) int { return b.at.Compare(a.at) })
	return out
}

// columns returns the columns of the table.
func (t timeline) columns(r *report.Report) []layout.Column[line] {
	several := slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return rel.Cluster != r.Releases[0].Cluster })
	return []layout.Column[line]{
		{Title: "when", Cell: t.when},
		{Title: "manager", Cell: t.manager, Least: layout.ShortWidths()},
		{Title: "release", Cell: func(l line) string { return t.place(l.release, several) }, Least: layout.NameWidths(), IsName: true},
		{Title: "object", Cell: t.object, Least: layout.NameWidths(), IsName: true},
		{Title: "path", Cell: t.path, Least: layout.NameWidths(), IsName: true},
		{Title: "old" + t.Arrow + "live", Cell: t.values, Least: map[layout.Cut]int{layout.Comfortable: 16, layout.Tight: 8}},
	}
}

// dropped returns the columns that give way on a narrow terminal, the least important first. A line without its object says nothing, and a
// single release need not be named.
func dropped(releases int) []layout.Dropped {
	first := layout.Dropped{Title: "release", Limit: layout.Tight}
	if releases == 1 {
		first.Limit = layout.Uncut
	}
	return []layout.Dropped{first, {Title: "manager", Limit: layout.Tight}}
}

// isAbsolute reports whether there is room for times. Otherwise there are ages.
func (t timeline) isAbsolute() bool { return t.Width == 0 || t.Width >= absoluteFrom }

// when returns the time of a line, or its age if there is no room for a time.
func (t timeline) when(l line) string {
	switch {
	case !l.timed:
		return "no time"
	case t.isAbsolute():
		return l.at.UTC().Format("2006-01-02 15:04:05")
	}
	return layout.Age(t.Now.Sub(l.at))
}

// manager names the field manager of the newest write.
func (t timeline) manager(l line) string {
	if l.finding == nil {
		return ""
	}
	for _, o := range l.finding.Owners {
		if o.Time != nil && o.Time.Equal(l.at) {
			return t.Word(o.Manager)
		}
	}
	var names []string
	for _, o := range l.finding.Owners {
		names = append(names, t.Word(o.Manager))
	}
	return strings.Join(english.AtMost(names, 1), ", ")
}

// place names a release with its namespace, and with its cluster if there are several.
func (t timeline) place(r report.Release, several bool) string {
	name := t.Label(cmp.Or(r.Namespace, r.StorageNamespace)) + "/" + t.Label(r.Name)
	if several {
		name = t.Label(r.Cluster) + "/" + name
	}
	return name
}

// object names the object of a line.
func (t timeline) object(l line) string {
	if l.object.Kind == "" {
		return ""
	}
	return t.ObjectName(l.object, l.release)
}

// path returns the path of a finding, or what became of the object.
func (t timeline) path(l line) string {
	switch {
	case l.finding != nil:
		return t.Escape(l.finding.Path)
	case l.object.Missing:
		return "(missing)"
	case l.object.Kind == "":
		return "(namespace being deleted)"
	}
	return "(being deleted)"
}

// values returns the value that Helm deployed and the one in the cluster, cut to a length that suits a line.
func (t timeline) values(l line) string {
	f := l.finding
	switch {
	case f == nil:
		return ""
	case f.Masked:
		return t.Mask + " changed"
	}
	return monospace.KeepStart(t.Side(f.Old)+t.Arrow+t.Side(f.Live), longestValues, t.Ellipsis)
}

// tally says how many lines there are, which of them have no time, and what is not among them.
func (t timeline) tally(r *report.Report, lines []line) {
	untimed, silenced, changes := 0, map[string]int{}, 0
	for _, l := range lines {
		untimed += layout.OneIf(!l.timed)
	}
	count := func(rule *report.IgnoreRule) {
		switch {
		case rule == nil:
		case rule.LeftOut:
			silenced["left out by "+t.Escape(rule.Rule)]++
		default:
			silenced["ignored"]++
		}
	}
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			if o.Gone() {
				count(o.IgnoredBy)
			}
			for _, f := range o.Fields {
				count(f.IgnoredBy)
				if f.Silenced() && f.IgnoredBy == nil {
					silenced[string(f.Class)]++
				}
				changes += layout.OneIf(!f.Silenced() && f.Cause == report.CauseChange)
			}
		}
	}
	said := layout.Clauses{english.Count(len(lines), "finding") + " of " + english.Count(len(r.Releases), "release")}
	said.AddIf(untimed > 0, fmt.Sprintf("%d without a time", untimed))
	for _, why := range slices.Sorted(maps.Keys(silenced)) {
		said = append(said, fmt.Sprintf("%d %s", silenced[why], why))
	}
	said.AddIf(changes > 0, english.Count(changes, "change")+" of the chart not listed")
	t.Prose(strings.Join(said, "; "))
	for _, release := range r.Releases {
		for _, w := range release.Warnings {
			if w.Code == report.WarnNoTime {
				t.Prose("warning: " + t.Message(w.Message))
			}
		}
	}
	if r.HasError() {
		t.Prose("incomplete: " + english.Count(r.Summary.Errors, "error") + ", which the report without --timeline lists")
	}
}
