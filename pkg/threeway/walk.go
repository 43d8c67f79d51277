package threeway

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// walker goes through the four sides of one object and collects its findings.
type walker struct {
	shape  *kinds.Shape
	engine report.Engine
	// custom tells that no Go type of the kind is known.
	custom bool
	// unpatched tells that Helm's patch could not be made, so that result says nothing.
	unpatched bool
	owners    *owners.Ownership
	// live is the whole live object in normal form, for the question what the API would default in live's own context.
	live map[string]any
	// old and result are the whole of these; nil where there is none.
	old, result map[string]any
	// allocated are the fields that the server or a controller fills (allocated.go), for this kind.
	allocated *allocatedFields
	// command is what does the upgrade, for remarks.
	command string
	// autoscaler governs the object's replicas; it has no name where nothing does.
	autoscaler Autoscaler
	// nullsStored reports that old was applied server-side, which stores the nulls of its manifest.
	nullsStored bool
	// template is the file of the chart that the object comes from, and volatile tells that a second rendering made another one.
	template string
	volatile bool
	// lastRevision is the number of a last revision that is not old, 0 where there is none.
	lastRevision int
	// rules are those that silence findings of the object.
	rules *ignore.ObjectRules
	// conflicts are the places on which a server-side apply fails.
	conflicts []conflictPlace
}

// entry is what one place of the walk came to.
type entry struct {
	Finding
	weight weight
	// isDefault tells that the entry is silent because the API would make the value so where live has it.
	isDefault bool
	// presence says which of old, desired and live have the field.
	presence presence
}

// weight tells what an entry means for the subtree it stands in.
type weight int

const (
	// silent is no finding, and does not keep a subtree from being one.
	silent weight = iota
	// soft is a finding that follows from others: a default that comes or goes with what holds it.
	soft
	// hard is a finding of its own.
	hard
)

// findings walks the object and gives its findings in order of their paths.
func (w *walker) findings(n sides) []Finding {
	var out []Finding
	for _, e := range w.walk(nil, n, w.shape) {
		if e.weight != silent {
			out = append(out, e.Finding)
		}
	}
	sortFindings(out)
	return out
}

func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
}

// walk compares one place and everything below it.
func (w *walker) walk(path object.Path, n sides, s *kinds.Shape) []entry {
	n = w.settleNulls(path, n)
	if w.volatile {
		n = n.anew()
	}
	if n.converged() {
		return nil
	}
	if w.isAllocated(path, n) {
		return []entry{{weight: silent}}
	}
	n.old = w.oldAllocated(path, n)
	if below := w.below(path, n, s); len(below) > 0 {
		return w.fold(path, n, below)
	}
	if (s.Keyed() && n.lists() || n.maps()) && n.desired.Present && n.live.Present && n.result.Present {
		return nil // the same items, and Helm leaves live's order
	}
	return []entry{w.classify(path, n)}
}

// below compares what is below a place, nothing where it is one value.
func (w *walker) below(path object.Path, n sides, s *kinds.Shape) []entry {
	switch {
	case n.maps():
		return w.walkMap(path, n, s, n.names())
	case s.Keyed() && n.lists():
		steps, note := n.steps(s.Merges())
		return w.walkList(path, n, s, steps, note)
	}
	return nil
}

func (w *walker) walkMap(path object.Path, n sides, s *kinds.Shape, names []string) []entry {
	var out []entry
	rename := renamed(w, names, n.at)
	for _, name := range names {
		below, walked := rename.of(n.at(name))
		if !walked {
			continue
		}
		found := w.walk(path.Field(name), below, s.Field(name))
		if len(found) == 1 && found[0].weight == hard && path.EndsInKey(name) {
			found[0].weight = soft // a list-map key comes and goes with its item
		}
		out = append(out, found...)
	}
	return out
}

func (w *walker) walkList(path object.Path, n sides, s *kinds.Shape, steps []object.Step, note string) []entry {
	var out []entry
	rename := renamed(w, steps, n.item)
	for _, step := range steps {
		below, walked := rename.of(n.item(step))
		if !walked {
			continue
		}
		found := w.walk(path.With(step), below, s.Item())
		for i := range found {
			found[i].addListNote(note)
			if below.holdsSeveral(step) {
				found[i].addListNote(noteTogether)
			}
		}
		out = append(out, found...)
	}
	if note == "" {
		order := w.order(path, n, steps)
		for i := range order {
			order[i].Equivalent = s.Merges().Set // whose order means nothing
		}
		out = append(out, order...)
	}
	return out
}

// fold makes one finding of a one-sided subtree whose findings agree in owner, class and side: an added container is one
// finding, not one for each of its fields. Folding never crosses from unmanaged to managed.
func (w *walker) fold(path object.Path, n sides, entries []entry) []entry {
	if len(path) == 0 || w.holdsConflict(path) || n.old.Present && n.desired.Present && n.live.Present && n.result.Present {
		return entries
	}
	loud := loudest(entries)
	if len(loud) == 0 && w.isEditedDefault(path, n, entries) {
		e := w.verdict(path, n, false)
		e.weight, e.IgnoredBy = hard, w.rules.Field(path, e.Owners, false)
		return []entry{e}
	}
	if len(loud) == 0 || loud[0].presence != n.presence() || !agree(loud) || isIgnoredInPart(entries) {
		return entries
	}
	first := loud[0]
	whole := w.verdict(path, n, first.Managed)
	if whole.Verdict == "" {
		return entries
	}
	whole.Owners, whole.Cause, whole.weight, whole.IgnoredBy = first.Owners, causeOfAll(loud), first.weight, first.IgnoredBy
	w.giveClass(&whole, first.Class)
	if whole.Managed {
		whole.weight = hard
	}
	whole.Old, whole.Desired = n.old.Text(whole.Old), n.desired.Text(whole.Desired)
	if len(loud) == 1 && !first.Notes.Has(report.NoteGoesAlong) || len(whole.Notes) == 0 {
		whole.Notes = first.Notes
	}
	whole.OfLast = first.OfLast && !slices.ContainsFunc(loud, func(e entry) bool { return !e.OfLast })
	return []entry{whole}
}

// isIgnoredInPart tells whether rules silence some of the entries and not others: then each is told by itself.
func isIgnoredInPart(entries []entry) bool {
	some, all := false, true
	for _, e := range entries {
		if e.weight != silent {
			some, all = some || e.IgnoredBy != nil, all && e.IgnoredBy != nil
		}
	}
	return some && !all
}

// isEditedDefault tells whether somebody added a subtree that holds nothing but defaults, and is none itself: each of its
// leaves is as the API would make it, but the API would not make the whole.
func (w *walker) isEditedDefault(path object.Path, n sides, entries []entry) bool {
	added := n.presence() == presence{false, false, true} && n.live.Same(n.result)
	inherited := slices.ContainsFunc(entries, func(e entry) bool { return !e.isDefault })
	return added && !inherited && !w.isDefault(path, n.live.Value) && w.isEdit(w.owners.OwnersOf(path))
}

// loudest picks the entries that decide about their subtree: those of their own, else what follows from a manifest, else
// whatever there is.
func loudest(entries []entry) []entry {
	for _, speaks := range []func(entry) bool{
		func(e entry) bool { return e.weight == hard },
		func(e entry) bool { return e.weight == soft && e.Managed },
		func(e entry) bool { return e.weight == soft },
	} {
		var out []entry
		for _, e := range entries {
			if speaks(e) {
				out = append(out, e)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// causeOfAll is the cause of a subtree: what its own findings say, not what is silent in it, such as an allocation.
func causeOfAll(entries []entry) report.Cause {
	cause := entries[0].Cause
	for _, e := range entries {
		if e.Cause != cause {
			return report.CauseBoth
		}
	}
	return cause
}

// agree tells whether all findings may be parts of one.
func agree(entries []entry) bool {
	first := entries[0]
	return !slices.ContainsFunc(entries[1:], func(e entry) bool {
		return e.presence != first.presence || e.Managed != first.Managed || e.Class != first.Class || !sameOwners(e.Owners, first.Owners)
	})
}

func sameOwners(a, b []report.Owner) bool {
	return slices.EqualFunc(a, b, func(x, y report.Owner) bool {
		return x.Manager == y.Manager && x.Operation == y.Operation && x.Subresource == y.Subresource
	})
}

func (n sides) presence() presence {
	return presence{n.old.Shown().Present, n.desired.Shown().Present, n.live.Present}
}

// addListNote says how the items of a list were told apart.
func (e *entry) addListNote(note string) {
	if e.weight != silent {
		e.Notes.Add(report.NoteList, note)
	}
}

// order reports managed items of a keyed list whose order Helm's patch changes.
func (w *walker) order(path object.Path, n sides, steps []object.Step) []entry {
	live, result := n.orderOf(n.live, steps), n.orderOf(n.result, steps)
	if object.EqualLists(live, result) || len(live) != len(result) {
		return nil
	}
	old, desired := n.orderOf(n.old, steps), n.orderOf(n.desired, steps)
	f := Finding{Path: path, Verdict: report.Overwrite, Managed: true, Certain: true, Class: report.ClassOrder, Old: old, Desired: desired, Live: live}
	f.Cause = causeOf(!object.EqualLists(live, old), !object.EqualLists(desired, old))
	if f.Notes = noted(report.NoteSpelling, noteOrder); !object.EqualLists(result, desired) {
		f.After = result
	}
	if last := n.orderOf(n.last, steps); w.lastRevision > 0 && object.EqualLists(live, last) && !object.EqualLists(live, old) {
		f.OfLast = true
		f.Notes.Add(report.NoteFailedRevision, fmt.Sprintf("written by failed revision %d", w.lastRevision))
	}
	// No owner: managedFields know who wrote an item, not who moved it.
	e := entry{Finding: f, weight: hard, presence: n.presence()}
	e.IgnoredBy = w.rules.Field(path, nil, true)
	if w.volatile && !object.EqualLists(desired, n.orderOf(n.again, steps)) {
		w.giveClass(&e, report.ClassVolatile)
	}
	return []entry{e}
}

// orderOf gives the names of the managed items that live and result share, in a side's order.
func (n sides) orderOf(s kinds.State, steps []object.Step) []any {
	list, _ := s.Value.([]any)
	out := []any{}
	for i, v := range list {
		at := slices.IndexFunc(steps, func(step object.Step) bool { return step.Matches(i, v) })
		if at < 0 {
			continue
		}
		if item := n.item(steps[at]); item.desired.Named && item.live.Present && item.result.Present {
			out = append(out, steps[at].Label())
		}
	}
	return out
}
