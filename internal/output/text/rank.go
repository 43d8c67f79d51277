package text

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxBody is how many lines of objects a release has on a terminal, unless the reader asks for all. With the answer above them, most
// reports fit on one screen.
const maxBody = 24

// severity says how urgent an object is; 0 is the most urgent.
func severity(o report.Object) int {
	isDisputed := o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees
	switch {
	case o.Error != nil, o.Action == report.ActionFail, isDisputed:
		return 0
	case o.Gone():
		return 1
	case o.Effect != nil && (o.Effect.Restarts > 0 || o.Effect.Downtime || len(o.Effect.Lost) > 0):
		return 2
	case slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return rankOf(f) == 0 }), len(o.Fields) == 0:
		return 3
	}
	return 4
}

// urgency returns the colour of the name of an object: loud for what fails, what is missing and what restarts pods.
func (t *text) urgency(o report.Object) func(name string) string {
	switch severity(o) {
	case 0, 1:
		return func(name string) string { return t.Paint(name, color.FgRed, color.Bold) }
	case 2:
		return func(name string) string { return t.Paint(name, color.FgYellow, color.Bold) }
	}
	return t.Heading
}

// mostSevere returns the severity of the most urgent object that nothing silences. Without one it is as for labels, and errors of the
// release itself are as urgent as failing objects.
func mostSevere(rel report.Release) int {
	if len(rel.Errors) > 0 {
		return 0
	}
	most := 4
	for _, o := range rel.Objects {
		if o.IgnoredBy == nil {
			most = min(most, severity(o))
		}
	}
	return most
}

// bySeverity returns objects with the most urgent first, and otherwise in the order of the report.
func bySeverity(objects []report.Object) []report.Object {
	out := slices.Clone(objects)
	slices.SortStableFunc(out, func(a, b report.Object) int { return cmp.Compare(severity(a), severity(b)) })
	return out
}

// rankOf says where a finding stands in its object: labels and annotations of the object itself stand behind what pods and servers see,
// and what no manifest names and rules silence stands last.
func rankOf(f report.Finding) int {
	pointer := cmp.Or(f.Pointer, f.DesiredPointer)
	switch {
	case f.Silenced():
		return 3
	case !f.Managed:
		return 2
	case strings.HasPrefix(pointer, "/metadata/labels/"), strings.HasPrefix(pointer, "/metadata/annotations/"):
		return 1
	}
	return 0
}

// ranked returns findings by their rank, and otherwise in the order of the report.
func ranked(fields []report.Finding) []report.Finding {
	out := slices.Clone(fields)
	slices.SortStableFunc(out, func(a, b report.Finding) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	return out
}

// cutBody shortens what was written from an offset on to maxBody lines, and counts the objects and findings that it takes away. It cuts
// only where an object or a finding begins.
func (t *text) cutBody(from int) {
	if t.Width == 0 || t.Verbose || t.linesBetween(from, t.Out.Len()) <= maxBody+1 {
		return
	}
	first := slices.IndexFunc(t.begins, func(b begin) bool { return b.at >= from })
	if first < 0 {
		return
	}
	keep := slices.IndexFunc(t.begins, func(b begin) bool { return b.at >= from && t.linesBetween(from, b.at) > maxBody })
	if keep < 0 {
		keep = len(t.begins)
	}
	keep-- // the object or finding that goes beyond the limit
	for keep > first && !t.begins[keep-1].isFinding && t.begins[keep].isFinding {
		keep-- // an object without its first finding says little
	}
	if keep <= first {
		return
	}
	var said layout.Clauses
	objects, findings := 0, 0
	for _, b := range t.begins[keep:] {
		objects += layout.OneIf(!b.isFinding)
		findings += layout.OneIf(b.isFinding)
	}
	said.Count(findings, "more field")
	said.Count(objects, "more object")
	t.Out.Truncate(t.begins[keep].at)
	t.begins = t.begins[:keep]
	t.Prose(t.Ellipsis + " " + layout.Enumerate(said) + ": -v lists them")
}

// linesBetween counts the lines between two offsets.
func (t *text) linesBetween(from, to int) int {
	return bytes.Count(t.Out.Bytes()[from:to], []byte("\n"))
}
