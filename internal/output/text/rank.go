package text

import (
	"bytes"
	"slices"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/urgency"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxBody is how many lines of objects a release has on a terminal, unless the reader asks for all. With the answer above them, most
// reports fit on one screen.
const maxBody = 24

// urgency returns the colour of the name of an object: loud for what fails, what is missing and what restarts pods.
func (t *text) urgency(o report.Object) func(name string) string {
	switch urgency.Of(o) {
	case 0, 1:
		return func(name string) string { return t.Paint(name, color.FgRed, color.Bold) }
	case 2:
		return func(name string) string { return t.Paint(name, color.FgYellow, color.Bold) }
	}
	return t.Heading
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
