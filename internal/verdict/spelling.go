package verdict

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// The remarks on what means the same on all sides and is yet written anew.
const (
	noteOrder    = "Helm's patch puts the items in the manifest's order"
	noteSpelling = "both mean the same; Helm's patch writes it as the manifest does"
)

// withRespelled adds to findings what Helm's write changes in the spelling alone: the order of a set, 0.5 for 500m. The sides of n keep
// their own spelling. What the write leaves is no finding, since it means the same.
func (w *Walker) withRespelled(found []Finding, n States) []Finding {
	literal := *w
	literal.Live, literal.old, literal.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	out := found
	for _, f := range literal.Findings(n) {
		told := slices.ContainsFunc(found, func(other Finding) bool { return f.Path.Overlaps(other.Path) })
		if told || !f.Writes() {
			continue
		}
		f.Equivalent, f.Notes = true, report.NotesOf(report.NoteSpelling, noteSpelling)
		was, _ := f.Path.Lookup(literal.Live)
		is, _ := f.Path.Lookup(literal.result)
		if kinds.AlikeSet(was, is) {
			f.Class, f.Notes = report.ClassOrder, report.NotesOf(report.NoteSpelling, noteOrder)
		}
		out = append(out, f)
	}
	Sort(out)
	return out
}

// SetCausesToDrift sets the cause of the findings of an object that is compared with itself. Desired is old, so a field that live has
// left has drifted, and one that live has not left is a finding for the way in which it is written.
func SetCausesToDrift(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		f.Equivalent = f.Equivalent || f.Cause == report.CauseChange
		f.Cause = report.CauseDrift
	}
}
