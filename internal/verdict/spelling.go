package verdict

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// These are the notes on values that mean the same in all states, and on the order of lists.
const (
	noteOrder        = "Helm's patch puts the items in the manifest's order"
	noteSpelling     = "both mean the same; Helm's patch writes it as the manifest does"
	noteSameSpelling = "both mean the same, and %s leaves it as it is"
	noteSameOrder    = "%s leaves the items in this order"
)

// withRespelled adds findings for values that differ only in their spelling: the order of a set, 0.5 for 500m. The states of n keep
// their own spelling.
func (w *objectWalk) withRespelled(found []Finding, n States) []Finding {
	out, own := found, *w
	own.live, own.old, own.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	for _, f := range own.findings(n) {
		isFound := slices.ContainsFunc(found, func(other Finding) bool { return f.Path.Overlaps(other.Path) })
		if isFound {
			continue
		}
		f.Equivalent = true
		spelling, order := noteSpelling, noteOrder
		if !f.Writes() {
			spelling, order = fmt.Sprintf(noteSameSpelling, w.command), fmt.Sprintf(noteSameOrder, w.command)
		}
		f.Notes = report.NotesOf(spelling)
		if n.lookup(f.Path).differInOrder() {
			f.Class, f.Notes = report.ClassOrder, report.NotesOf(order)
		}
		out = append(out, f)
	}
	Sort(out)
	return out
}

// differInOrder reports whether a list differs only in the order of its items. It compares live with the result of Helm's write or, if
// these are equal, with the manifests.
func (n States) differInOrder() bool {
	for _, other := range []kinds.State{n.Result, n.Desired, n.Old} {
		if !other.Same(n.Live) {
			return object.EqualSets(n.Live.Value, other.Value)
		}
	}
	return false
}

// orderFindings returns a finding if the managed items of a keyed list have another order than in desired, or Helm's patch changes their
// order.
func (w *objectWalk) orderFindings(path object.Path, n States, item func(object.Step) States, steps []object.Step) []entry {
	live, result := orderOf(n.Live, item, steps), orderOf(n.Result, item, steps)
	old, desired := orderOf(n.Old, item, steps), orderOf(n.Desired, item, steps)
	stays := object.EqualLists(live, result)
	if len(live) != len(result) || stays && (object.EqualLists(live, desired) || !object.EqualSets(live, desired) || repeats(desired)) {
		return nil
	}
	f := Finding{Path: path, Certain: true, Old: old, Desired: desired, Live: live}
	f.Verdict, f.Managed, f.Class = report.Overwrite, true, report.ClassOrder
	f.Notes = report.NotesOf(noteOrder)
	if stays {
		f.Verdict, f.Notes = report.Ignore, report.NotesOf(fmt.Sprintf(noteSameOrder, w.command))
	}
	f.Cause = causeOf(!object.EqualLists(live, old), !object.EqualLists(desired, old))
	if !stays && !object.EqualLists(result, desired) {
		f.After = result
	}
	if last := orderOf(n.Last, item, steps); w.LastRevision > 0 && object.EqualLists(live, last) && !object.EqualLists(live, old) {
		f.OfLast = true
		f.Notes.Add(fmt.Sprintf("written by failed revision %d", w.LastRevision))
	}
	// The finding has no owner: managedFields record who wrote an item, not who moved it.
	e := entry{Finding: f, weight: hard, presence: n.presence()}
	e.IgnoredBy = w.Rules.Field(path, nil, true)
	if w.Volatile && !object.EqualLists(desired, orderOf(n.Again, item, steps)) {
		w.setClass(&e, report.ClassVolatile)
	}
	return []entry{e}
}

// repeats reports whether a list has an item twice. Items that share their keys are compared together, wherever they are in their list.
func repeats(list []any) bool { return sets.New(list...).Len() < len(list) }

// orderOf returns the names of the managed items that live and result share, in the order of a state.
func orderOf(s kinds.State, item func(object.Step) States, steps []object.Step) []any {
	list, _ := s.Value.([]any)
	items, stepTo := object.NewItemIndex(list), make([]*object.Step, len(list))
	for i := range slices.Backward(steps) { // the first of several steps to an item counts
		for _, at := range items.Indexes(steps[i]) {
			stepTo[at] = &steps[i]
		}
	}
	out := []any{}
	for _, step := range stepTo {
		if step == nil {
			continue
		}
		if n := item(*step); n.Desired.Named && n.Live.Present && n.Result.Present {
			out = append(out, step.Label())
		}
	}
	return out
}

// SetCausesToDrift sets the cause of all findings to drift. It is for comparisons whose desired is old: a field of live that differs
// from old has drifted, and one that does not is a finding because of its spelling.
func SetCausesToDrift(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		f.Equivalent = f.Equivalent || f.Cause == report.CauseChange
		f.Cause = report.CauseDrift
	}
}
