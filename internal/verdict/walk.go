package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Walker walks the states of one object and collects its findings.
type Walker struct {
	Key    object.Key
	Shape  *kinds.Shape
	Engine report.Engine
	// Custom is set if the kind has no known Go type.
	Custom bool
	// Unpatched is set if Helm's patch cannot be made, so that there is no result.
	Unpatched bool
	Owners    *owners.Ownership
	// Live is the whole live object in normal form, to find what the API would default in live's own context.
	Live map[string]any
	// old and result are the whole objects; nil if absent.
	old, result map[string]any
	// text is the object as it was read, and Allocated are the fields that the server or a controller fills in there (allocated.go). They
	// are looked up on first use.
	text      map[string]any
	Allocated *AllocatedFields
	// called are the fields that the server or a controller fills in as live asks for it, whatever Helm deployed; looked up on first use.
	called *AllocatedFields
	// Command is the helm command that does the upgrade, for notes.
	Command string
	// Autoscaler sets the object's replicas; its name is empty if there is none.
	Autoscaler object.Autoscaler
	// NullsStored is set if old was applied server-side, which stores the nulls of its manifest.
	NullsStored bool
	// Template is the file of the chart that the object comes from, and volatile is set if a second rendering made another one.
	Template string
	Volatile bool
	// LastRevision is the number of a last revision that is not old, 0 if there is none. LastVersion is the API version of its manifest if
	// neither old's manifest nor the object that was read has it; it is empty for most.
	LastRevision int
	LastVersion  string
	// Kept is the path at which the API server keeps metrics of an autoscaler that the apply drops; nil for most.
	Kept object.Path
	// Rules are those that silence findings of the object.
	Rules *ignore.ObjectRules
	// conflicts are the places on which a server-side apply fails.
	conflicts []conflictPlace
}

// entry is the outcome for one place of the walk.
type entry struct {
	Finding
	weight weight
	// isDefault is set if the entry is silent because the API would default the place to live's value.
	isDefault bool
	// presence holds which of old, desired and live have the field.
	presence presence
}

// weight is how much an entry counts when the subtree around it is folded.
type weight int

const (
	// silent is no finding, and does not prevent that the subtree becomes one.
	silent weight = iota
	// soft is a finding that follows from others: a default that is added or removed together with its parent.
	soft
	// hard is a finding of its own.
	hard
)

// Compare returns the findings on an object. Spelled are its states in their own spelling, nil if no value was respelled. Conflicts are
// those of a server-side apply, text is the object as it was read.
func (w *Walker) Compare(n States, spelled *States, text map[string]any, conflicts []engine.Conflict) []Finding {
	w.Live, w.old, w.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	w.text = text
	w.Rules = w.Rules.WithStates(n.Live.Value, n.Old.Value, n.Desired.Value)
	w.conflicts = w.conflictPlaces(n, conflicts)
	out, literal := w.Findings(n), n
	if spelled != nil {
		literal = *spelled
		out = w.withRespelled(out, literal)
	}
	if apiserver.ChangesService(w.Key, w.Live, w.result) {
		noteDropped(out)
	}
	w.noteKept(out)
	return w.withConflicts(out, n, literal)
}

// noteKept explains why metrics that the chart drops are kept.
func (w *Walker) noteKept(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; w.Kept != nil && f.Verdict == report.Ignore && f.Path.Equal(w.Kept) {
			f.Notes = report.NotesOf(report.NoteServer, "no longer in the manifest, but the API server keeps it, as the object was written at both versions of its API")
		}
	}
}

// Findings walks the object and returns its findings in the order of their paths.
func (w *Walker) Findings(n States) []Finding {
	var out []Finding
	for _, e := range w.walk(nil, n, w.Shape) {
		if e.weight != silent {
			out = append(out, e.Finding)
		}
	}
	Sort(out)
	return out
}

// Sort sorts findings by path.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
}

// walk compares one place and everything below it.
func (w *Walker) walk(path object.Path, n States, s *kinds.Shape) []entry {
	n = w.resolveNulls(path, n)
	if w.Volatile {
		n = n.preferSecondRendering()
	}
	if n.hasConverged() {
		return nil
	}
	if w.isAllocated(path, n) {
		return []entry{{weight: silent}}
	}
	n.Old = w.withAllocatedOld(path, n)
	n.Old = w.withScaledOld(path, n)
	if below := w.walkBelow(path, n, s); len(below) > 0 {
		return w.fold(path, n, below)
	}
	if (s.Keyed() && n.areLists() || n.areMaps()) && n.Desired.Present && n.Live.Present && n.Result.Present {
		return nil // the same items, in the same order
	}
	return []entry{w.classify(path, n)}
}

// walkBelow compares everything below a place; it returns nothing if the place is one value.
func (w *Walker) walkBelow(path object.Path, n States, s *kinds.Shape) []entry {
	switch {
	case n.areMaps():
		return w.walkMap(path, n, s, n.fieldNames())
	case s.Keyed() && n.areLists():
		steps, note := n.steps(s.ListRule())
		return w.walkList(path, n, s, steps, note)
	}
	return nil
}

func (w *Walker) walkMap(path object.Path, n States, s *kinds.Shape, names []string) []entry {
	var out []entry
	rename := findRenaming(w, names, n.field)
	for _, name := range names {
		below, walked := rename.apply(n.field(name))
		if !walked {
			continue
		}
		found := w.walk(path.Field(name), below, s.Field(name))
		if len(found) == 1 && found[0].weight == hard && path.EndsInKey(name) {
			found[0].weight = soft // a list-map key is added and removed with its item
		}
		out = append(out, found...)
	}
	return out
}

func (w *Walker) walkList(path object.Path, n States, s *kinds.Shape, steps []object.Step, note string) []entry {
	var out []entry
	rename := findRenaming(w, steps, n.item)
	for _, step := range steps {
		below, walked := rename.apply(n.item(step))
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
		order := w.orderFindings(path, n, steps)
		for i := range order {
			order[i].Equivalent = s.ListRule().Set // the order of a set has no meaning
		}
		out = append(out, order...)
	}
	return out
}

// fold replaces the findings of a subtree that some states lack by one finding, if they agree in owner, class and presence: an added
// container is one finding, not one for each of its fields. Managed and unmanaged findings are never folded into one.
func (w *Walker) fold(path object.Path, n States, entries []entry) []entry {
	if len(path) == 0 || w.holdsConflict(path) || n.Old.Present && n.Desired.Present && n.Live.Present && n.Result.Present {
		return entries
	}
	decisive := decisiveEntries(entries)
	if len(decisive) == 0 && w.isEditedDefault(path, n, entries) {
		e := w.verdict(path, n, false)
		e.weight, e.IgnoredBy = hard, w.Rules.Field(path, e.Owners, false)
		if w.isLeftByLast(path, n) {
			w.markLeftByLast(&e)
		}
		return []entry{e}
	}
	if len(decisive) == 0 || decisive[0].presence != n.presence() || !mayFold(decisive) || isIgnoredInPart(entries) {
		return entries
	}
	first := decisive[0]
	whole := w.verdict(path, n, first.Managed)
	if whole.Verdict == "" {
		return entries
	}
	whole.Owners, whole.Cause, whole.weight, whole.IgnoredBy = first.Owners, causeOfAll(decisive), first.weight, first.IgnoredBy
	w.setClass(&whole, first.Class)
	if whole.Managed {
		whole.weight = hard
	}
	whole.Old, whole.Desired = n.Old.WrittenOr(whole.Old), n.Desired.WrittenOr(whole.Desired)
	if len(decisive) == 1 && !first.Notes.Has(report.NoteGoesAlong) || len(whole.Notes) == 0 {
		whole.Notes = first.Notes
	}
	whole.OfLast = first.OfLast && !slices.ContainsFunc(decisive, func(e entry) bool { return !e.OfLast })
	whole.DroppedByLast = whole.OfLast && !slices.ContainsFunc(decisive, func(e entry) bool { return !e.DroppedByLast })
	return []entry{whole}
}

// isIgnoredInPart reports whether rules silence some of the entries and not others. Each is reported by itself then.
func isIgnoredInPart(entries []entry) bool {
	said := object.Filter(entries, func(e entry) bool { return e.weight != silent })
	ignored := object.Filter(said, func(e entry) bool { return e.IgnoredBy != nil })
	return len(ignored) > 0 && len(ignored) < len(said)
}

// isEditedDefault reports whether somebody, or a failed last revision, added a subtree that holds nothing but defaults, but is no default
// itself: the API would set each of its leaves so, but would not create the subtree.
func (w *Walker) isEditedDefault(path object.Path, n States, entries []entry) bool {
	added := n.presence() == presence{false, false, true} && n.Live.Same(n.Result)
	inherited := slices.ContainsFunc(entries, func(e entry) bool { return !e.isDefault })
	return added && !inherited && !w.isDefault(path, n.Live.Value) && (w.isLeftByLast(path, n) || w.isEdit(w.Owners.OwnersOf(path)))
}

// decisiveEntries returns the entries that decide about their subtree: the hard ones; if there are none, the managed soft ones; otherwise
// all soft ones.
func decisiveEntries(entries []entry) []entry {
	for _, isDecisive := range []func(entry) bool{
		func(e entry) bool { return e.weight == hard },
		func(e entry) bool { return e.weight == soft && e.Managed },
		func(e entry) bool { return e.weight == soft },
	} {
		if out := object.Filter(entries, isDecisive); len(out) > 0 {
			return out
		}
	}
	return nil
}

// causeOfAll returns the cause of a subtree from its findings. Silent entries, such as allocations, do not count.
func causeOfAll(entries []entry) report.Cause {
	first := entries[0].Cause
	if slices.ContainsFunc(entries, func(e entry) bool { return e.Cause != first }) {
		return report.CauseBoth
	}
	return first
}

// mayFold reports whether all findings can be folded into one.
func mayFold(entries []entry) bool {
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

func (n States) presence() presence {
	return presence{n.Old.Shown().Present, n.Desired.Shown().Present, n.Live.Present}
}

// addListNote adds a note on how the items of a list were matched.
func (e *entry) addListNote(note string) {
	if e.weight != silent {
		e.Notes.Add(report.NoteList, note)
	}
}

// orderFindings returns a finding if the managed items of a keyed list have another order than in desired, or Helm's patch changes theirs.
func (w *Walker) orderFindings(path object.Path, n States, steps []object.Step) []entry {
	live, result := n.orderOf(n.Live, steps), n.orderOf(n.Result, steps)
	old, desired := n.orderOf(n.Old, steps), n.orderOf(n.Desired, steps)
	stays := object.EqualLists(live, result)
	if len(live) != len(result) || stays && (object.EqualLists(live, desired) || !object.EqualSets(live, desired) || repeats(desired)) {
		return nil
	}
	f := Finding{Path: path, Certain: true, Old: old, Desired: desired, Live: live}
	f.Verdict, f.Managed, f.Class = report.Overwrite, true, report.ClassOrder
	f.Notes = report.NotesOf(report.NoteSpelling, noteOrder)
	if stays {
		f.Verdict, f.Notes = report.Ignore, report.NotesOf(report.NoteSpelling, fmt.Sprintf(noteSameOrder, w.Command))
	}
	f.Cause = causeOf(!object.EqualLists(live, old), !object.EqualLists(desired, old))
	if !stays && !object.EqualLists(result, desired) {
		f.After = result
	}
	if last := n.orderOf(n.Last, steps); w.LastRevision > 0 && object.EqualLists(live, last) && !object.EqualLists(live, old) {
		f.OfLast = true
		f.Notes.Add(report.NoteFailedRevision, fmt.Sprintf("written by failed revision %d", w.LastRevision))
	}
	// There is no owner: managedFields record who wrote an item, not who moved it.
	e := entry{Finding: f, weight: hard, presence: n.presence()}
	e.IgnoredBy = w.Rules.Field(path, nil, true)
	if w.Volatile && !object.EqualLists(desired, n.orderOf(n.Again, steps)) {
		w.setClass(&e, report.ClassVolatile)
	}
	return []entry{e}
}

// repeats reports whether a list has an item twice. Items that share their keys are compared together, wherever they are in their list.
func repeats(list []any) bool {
	for i, item := range list {
		if slices.Contains(list[:i], item) {
			return true
		}
	}
	return false
}

// orderOf returns the names of the managed items that live and result share, in the order of a state.
func (n States) orderOf(s kinds.State, steps []object.Step) []any {
	list, _ := s.Value.([]any)
	out := []any{}
	for i, v := range list {
		at := slices.IndexFunc(steps, func(step object.Step) bool { return step.Matches(i, v) })
		if at < 0 {
			continue
		}
		if item := n.item(steps[at]); item.Desired.Named && item.Live.Present && item.Result.Present {
			out = append(out, steps[at].Label())
		}
	}
	return out
}

// noteDropped explains why a field of a Service that the chart does not drop is removed.
func noteDropped(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Verdict == report.Remove && len(f.Notes) > 0 && apiserver.DependsOnType(f.Path) {
			f.Notes = report.NotesOf(report.NoteServer, "the API server drops it: a Service that is as the upgrade makes this one has no use for it")
		}
	}
}
