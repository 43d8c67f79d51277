package verdict

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// The notes on values that mean the same in all states, but are written again.
const (
	noteOrder    = "Helm's patch puts the items in the manifest's order"
	noteSpelling = "both mean the same; Helm's patch writes it as the manifest does"
)

// withRespelled adds findings for values of which Helm's write changes the spelling alone: the order of a set, 0.5 for 500m. The states of
// n keep their own spelling. A value that the write leaves alone is no finding, since it means the same.
func (w *Walker) withRespelled(found []Finding, n States) []Finding {
	literal := *w
	literal.Live, literal.old, literal.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	out := found
	for _, f := range literal.Findings(n) {
		isFound := slices.ContainsFunc(found, func(other Finding) bool { return f.Path.Overlaps(other.Path) })
		if isFound || !f.Writes() {
			continue
		}
		f.Equivalent, f.Notes = true, report.NotesOf(report.NoteSpelling, noteSpelling)
		was, _ := f.Path.Lookup(literal.Live)
		is, _ := f.Path.Lookup(literal.result)
		if object.EqualSets(was, is) {
			f.Class, f.Notes = report.ClassOrder, report.NotesOf(report.NoteSpelling, noteOrder)
		}
		out = append(out, f)
	}
	Sort(out)
	return out
}

// SetCausesToDrift sets the cause of all findings to drift. It is for comparisons in which desired is old: a field of live that differs
// from old has drifted, and one that does not is a finding because of its spelling.
func SetCausesToDrift(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		f.Equivalent = f.Equivalent || f.Cause == report.CauseChange
		f.Cause = report.CauseDrift
	}
}
