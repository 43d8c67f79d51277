package verdict

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// The notes on values that mean the same in all states, and on the order of lists.
const (
	noteOrder        = "Helm's patch puts the items in the manifest's order"
	noteSpelling     = "both mean the same; Helm's patch writes it as the manifest does"
	noteSameSpelling = "both mean the same, and %s leaves it as it is"
	noteSameOrder    = "%s leaves the items in this order"
)

// withRespelled adds findings for values that differ in the spelling alone: the order of a set, 0.5 for 500m. The states of n keep their
// own spelling.
func (w *Walker) withRespelled(found []Finding, n States) []Finding {
	literal := *w
	literal.Live, literal.old, literal.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	out := found
	for _, f := range literal.Findings(n) {
		isFound := slices.ContainsFunc(found, func(other Finding) bool { return f.Path.Overlaps(other.Path) })
		if isFound {
			continue
		}
		f.Equivalent = true
		spelling, order := noteSpelling, noteOrder
		if !f.Writes() {
			spelling, order = fmt.Sprintf(noteSameSpelling, w.Command), fmt.Sprintf(noteSameOrder, w.Command)
		}
		f.Notes = report.NotesOf(report.NoteSpelling, spelling)
		if n.lookup(f.Path).differInOrder() {
			f.Class, f.Notes = report.ClassOrder, report.NotesOf(report.NoteSpelling, order)
		}
		out = append(out, f)
	}
	Sort(out)
	return out
}

// differInOrder reports whether a list differs in the order of its items alone: live from what Helm's write leaves, or else from manifests.
func (n States) differInOrder() bool {
	for _, other := range []kinds.State{n.Result, n.Desired, n.Old} {
		if !other.Same(n.Live) {
			return object.EqualSets(n.Live.Value, other.Value)
		}
	}
	return false
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
