package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/lookalike"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxInside is how many changes inside a document are shown on a terminal. The others are counted.
const maxInside = 10

// inside returns the lines that say what differs inside the documents that the sides of a finding are. Each begins with the path of the
// finding, so that grep finds all of it, unless the terminal is too narrow for that.
func (t *text) inside(f report.Finding, c columns) []string {
	if f.Inside == nil || c == liveBecomes {
		return nil
	}
	lines := t.firstNames(t.insideLines(f.Inside, c), maxInside)
	if f.Inside.More > 0 {
		lines = append(lines, english.Count(f.Inside.More, "more change"))
	}
	sign := t.either("» ", ">> ")
	lead := t.escape(f.Path) + " " + sign
	for _, l := range lines {
		if t.width > 0 && monospace.Width(lead+l) > t.width-signWidth-monospace.Width(t.gutter) {
			lead = sign
		}
	}
	for i := range lines {
		lines[i] = lead + lines[i]
	}
	return lines
}

// insideLines returns a line for each change inside documents.
func (s style) insideLines(in *report.Inside, c columns) []string {
	if in.OnlyFormatting {
		return []string{"only formatting"}
	}
	lines := make([]string, len(in.Changes))
	for i, change := range in.Changes {
		lines[i] = s.escape(change.Path) + "  " + s.insideChange(change, c)
	}
	return lines
}

// insideChange says what happened to one place of a document. Where three columns stand above it, it says which side it is about.
func (s style) insideChange(change report.InsideChange, c columns) string {
	switch {
	case c != oldDesiredLive || change.Cause == report.CauseBoth:
		return s.became(change, c)
	case change.Cause == report.CauseChange:
		return "desired: " + s.became(change, oldDesired)
	}
	return "live: " + s.became(change, oldLive)
}

// became says what became of one place, by the sides that the columns show.
func (s style) became(change report.InsideChange, c columns) string {
	said := s.escape(change.Change)
	if change.Masked {
		return said + " " + s.mask
	}
	if change.Change == report.InsideReordered {
		return said
	}
	shown := lookalike.Distinguish([]string{s.side(change.Old), s.side(change.Desired), s.side(change.Live)})
	cells := c.pick(sides{shown[0], shown[1], shown[2]})
	switch {
	case c == oldDesiredLive:
		for i, label := range c.labels() {
			cells[i] = label + " " + cells[i]
		}
		return strings.Join(cells, columnGap)
	case change.Change == report.InsideChanged:
		return strings.Join(cells, s.arrow)
	case isTree(change.Old) || isTree(change.Desired) || isTree(change.Live):
		return said
	}
	return said + ": " + strings.Join(slices.DeleteFunc(cells, func(cell string) bool { return cell == absent }), s.arrow)
}

// isTree reports whether a value is a map or a list, which a line has no room for.
func isTree(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
