package verdict

import (
	"cmp"
	"slices"
	"sync"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Walker has what the comparisons of all objects of a release share. Nobody changes it.
type Walker struct {
	// Command is the helm command that does the upgrade, for notes.
	Command string
	// Release is the name of the release, Managers are the field managers that the user names, and Deployer finds the one that Helm writes
	// the release as (owners.New).
	Release  string
	Managers owners.Managers
	Deployer func() owners.Deployer
	// Autoscaled holds the autoscaler of each object whose replicas an autoscaler sets.
	Autoscaled map[object.Key]object.Autoscaler
	// Unknown is the text that stands in desired for values that are not known, or "" if there are none.
	Unknown string
}

// Object is one object to compare.
type Object struct {
	Key    object.Key
	Shape  *kinds.Shape
	Engine report.Engine
	// Text is the object as it was read.
	Text map[string]any
	// States are the normal forms. Spelled are the states in their own spelling, or nil if no value was respelled.
	States  States
	Spelled *States
	// Conflicts are the conflicts of a server-side apply.
	Conflicts []engine.Conflict
	// Unpatched is set if Helm's patch cannot be made, so that there is no result.
	Unpatched bool
	// NullsStored is set if old was applied server-side, which stores the nulls of its manifest.
	NullsStored bool
	// Template is the file of the chart that the object comes from, and Volatile is set if a second rendering of the object differs.
	Template string
	Volatile bool
	// LastRevision is the number of the last revision if it is not old, or else 0. LastVersion is the API version of its manifest if
	// neither old's manifest nor live has that version. It is empty for most objects.
	LastRevision int
	LastVersion  string
	// Kept is the path of an autoscaler's metrics if the apply drops them and the API server keeps them. It is nil for most objects.
	Kept object.Path
	// Rules are the ignore rules for the object.
	Rules ignore.ObjectRules
	// Allocated are the fields that the server or a controller fills in. If it is nil, they are those of the table (allocations.go).
	Allocated *AllocatedFields
}

// States are old, desired, live and result at one place, and the state of the last revision if it is not old.
type States struct {
	Old, Desired, Live, Result, Last kinds.State
	// Again is a second rendering of desired, or desired itself if that is the same. AtOnce is a second rendering at the same time: it
	// differs from Again only if Again was rendered with a later clock.
	Again, AtOnce kinds.State
	// leaving is set if Helm's patch removes a parent of the place.
	leaving bool
	// StoresNulls is set if each write stores a null of the manifest as the zero value, as a server-side apply does. A client-side
	// release stores the null once, at install, and a later patch removes it.
	StoresNulls bool
}

// Compare returns the findings on an object, in the order of their paths.
func (w Walker) Compare(o Object) []Finding {
	walk := w.walkOf(o)
	out, literal := walk.findings(o.States), o.States
	if o.Spelled != nil {
		literal = *o.Spelled
		out = walk.withRespelled(out, literal)
	}
	if apiserver.ChangesService(o.Key, walk.live, walk.result) {
		noteDropped(out)
	}
	walk.noteKept(out)
	if len(walk.conflicts) > 0 {
		out = walk.withConflicts(out, o.States, literal)
	}
	return out
}

// objectWalk walks the states of one object. Its fields are set once, before the walk.
type objectWalk struct {
	Object
	command    string
	owners     *owners.Ownership
	autoscaler object.Autoscaler
	unknown    string
	// live, old and result are the whole objects in normal form, or nil if absent.
	live, old, result map[string]any
	// allocated returns the fields that the server or a controller fills in. Called returns those that it fills in because live asks for it,
	// whatever Helm deployed.
	allocated, called func() *AllocatedFields
	// conflicts are the places that make a server-side apply fail.
	conflicts []conflictPlace
}

// walkOf returns the walk of an object.
func (w Walker) walkOf(o Object) *objectWalk {
	n := o.States
	o.Rules = o.Rules.WithStates(n.Live.Value, n.Old.Value, n.Desired.Value)
	out := &objectWalk{
		Object: o, command: w.Command, unknown: w.Unknown, autoscaler: w.Autoscaled[o.Key], owners: owners.New(o.Text, w.Managers, w.Release, w.Deployer),
		live: n.Live.Object(), old: n.Old.Object(), result: n.Result.Object(), conflicts: o.conflictPlaces(),
	}
	out.allocated = sync.OnceValue(func() *AllocatedFields { return cmp.Or(out.Allocated, AllocatedFor(out.Key, out.old, out.Text)) })
	out.called = sync.OnceValue(func() *AllocatedFields { return AllocatedFor(out.Key, out.Text, out.result) })
	return out
}

// withWholes returns the walk with other normal forms of the whole objects.
func (w *objectWalk) withWholes(n States) *objectWalk {
	out := *w
	out.live, out.old, out.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	return &out
}

// findings walks the object and returns its findings in the order of their paths.
func (w *objectWalk) findings(n States) []Finding {
	var out []Finding
	for _, e := range w.walk(nil, n, w.Shape) {
		if e.weight != silent {
			out = append(out, e.Finding)
		}
	}
	Sort(out)
	return out
}

// walk compares one place and everything below it.
func (w *objectWalk) walk(path object.Path, n States, s *kinds.Shape) []entry {
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

// walkBelow compares everything below a place. It returns nothing if the place is compared as one value.
func (w *objectWalk) walkBelow(path object.Path, n States, s *kinds.Shape) []entry {
	switch {
	case n.areMaps():
		return w.walkMap(path, n, s, n.fieldNames())
	case s.Keyed() && n.areLists():
		steps, note := n.steps(s.ListRule())
		return w.walkList(path, n, s, steps, note)
	}
	return nil
}

func (w *objectWalk) walkMap(path object.Path, n States, s *kinds.Shape, names []string) []entry {
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

func (w *objectWalk) walkList(path object.Path, n States, s *kinds.Shape, steps []object.Step, note string) []entry {
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

func (n States) field(name string) States {
	return n.mapStates(func(s kinds.State) kinds.State { return s.Field(name) })
}

func (n States) item(step object.Step) States {
	return n.mapStates(func(s kinds.State) kinds.State { return s.Item(step) })
}

func (n States) mapStates(below func(kinds.State) kinds.State) States {
	return States{
		Old: below(n.Old), Desired: below(n.Desired), Live: below(n.Live), Result: below(n.Result), Last: below(n.Last),
		Again: below(n.Again), AtOnce: below(n.AtOnce), leaving: n.isRemoved(), StoresNulls: n.StoresNulls,
	}
}

// isRemoved reports whether Helm's patch removes the place or a parent of it.
func (n States) isRemoved() bool { return n.leaving || n.Live.Present && !n.Result.Present }

// lookup returns the states at a path.
func (n States) lookup(path object.Path) States {
	return object.Follow(n, path, States.field, States.item)
}

// fold replaces the findings of a subtree that some states lack by one finding, if they agree in owner, class and presence: an added
// container is one finding, not one for each of its fields. Managed and unmanaged findings are never folded into one.
func (w *objectWalk) fold(path object.Path, n States, entries []entry) []entry {
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
	if len(decisive) == 1 && !first.goesAlong || len(whole.Notes) == 0 {
		whole.Notes = first.Notes
	}
	whole.OfLast = first.OfLast && !slices.ContainsFunc(decisive, func(e entry) bool { return !e.OfLast })
	whole.DroppedByLast = whole.OfLast && !slices.ContainsFunc(decisive, func(e entry) bool { return !e.DroppedByLast })
	return []entry{whole}
}

// noteKept explains why metrics that the chart drops are kept.
func (w *objectWalk) noteKept(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; w.Kept != nil && f.Verdict == report.Ignore && f.Path.Equal(w.Kept) {
			f.Notes = report.NotesOf("no longer in the manifest, but the API server keeps it, as the object was written at both versions of its API")
		}
	}
}

// isIgnoredInPart reports whether rules silence some of the entries but not all. Then each is reported by itself.
func isIgnoredInPart(entries []entry) bool {
	said := object.Filter(entries, func(e entry) bool { return e.weight != silent })
	ignored := object.Filter(said, func(e entry) bool { return e.IgnoredBy != nil })
	return len(ignored) > 0 && len(ignored) < len(said)
}

// isEditedDefault reports whether somebody, or a failed last revision, added a subtree that holds only defaults but is not a default
// itself: the API would set each of its leaves to this value, but would not create the subtree.
func (w *objectWalk) isEditedDefault(path object.Path, n States, entries []entry) bool {
	added := n.presence() == presence{false, false, true} && n.Live.Same(n.Result)
	inherited := slices.ContainsFunc(entries, func(e entry) bool { return !e.isDefault })
	return added && !inherited && !w.isDefault(path, n.Live.Value) && (w.isLeftByLast(path, n) || w.isEdit(w.owners.OwnersOf(path)))
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
		return e.presence != first.presence || e.Managed != first.Managed || e.Class != first.Class ||
			!slices.EqualFunc(e.Owners, first.Owners, owners.AreSame)
	})
}

// addListNote adds a note on how the items of a list were matched.
func (e *entry) addListNote(note string) {
	if e.weight != silent {
		e.Notes.Add(note)
	}
}

// noteDropped explains why a field of a Service that the chart does not drop is removed.
func noteDropped(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Verdict == report.Remove && len(f.Notes) > 0 && apiserver.DependsOnType(f.Path) {
			f.Notes = report.NotesOf("the API server drops it: a Service that is as the upgrade makes this one has no use for it")
		}
	}
}
