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
	// Operation is what is compared. Notes name its command.
	Operation report.Operation
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

// Finding is one field with a verdict, and its values in clear. A nil value is an absent side. A Finding never leaves
// the process: Comparison.Report masks it.
type Finding struct {
	Path object.Path
	// Classification has the verdict, and whatever else decides whether the finding counts.
	report.Classification
	// Certain is false if the verdict could not be decided without a write, and a note says why.
	Certain bool
	// Template is the file of the chart that generates a volatile value.
	Template string
	// Old, Desired and Live are the sides. After is the value after an upgrade, if it equals none of them.
	Old, Desired, Live, After any
	Notes                     report.Notes
	Owners                    []report.Owner
	// Unrecorded is set if the API server does not record who wrote the live value, and a note says why.
	Unrecorded bool
	// Blocked is set if nothing happens to the field because the write of its object fails or is not reached.
	Blocked bool
	// Pruned is set if the API server drops the field because the installation changes the definition of the kind. That happens even if Helm
	// does not get to the object.
	Pruned bool
	// OfLast is set if live has, or may have, what the last revision wrote. That revision is not old because it failed.
	OfLast bool
	// DroppedByLast is set with OfLast if the last revision no longer names the field, and live is as that revision left it.
	DroppedByLast bool
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
	Walker
	Object
	command    string
	owners     *owners.Ownership
	autoscaler object.Autoscaler
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
		Walker: w, Object: o, command: w.Operation.Command(),
		autoscaler: w.Autoscaled[o.Key], owners: owners.New(o.Text, w.Managers, w.Release, w.Deployer),
		conflicts: o.conflictPlaces(), live: n.Live.Object(), old: n.Old.Object(), result: n.Result.Object(),
	}
	out.allocated = sync.OnceValue(func() *AllocatedFields { return cmp.Or(out.Allocated, AllocatedFor(out.Key, out.old, out.Text)) })
	out.called = sync.OnceValue(func() *AllocatedFields { return AllocatedFor(out.Key, out.Text, out.result) })
	return out
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

// entry is the outcome for one place of the walk.
type entry struct {
	Finding
	weight weight
	// isDefault is set if the entry is silent because live's value is the API's default.
	isDefault bool
	// presence holds which of old, desired and live have the field.
	presence presence
	// goesAlong is set if the field is removed only because what holds it is.
	goesAlong bool
}

// weight says how an entry counts when the subtree around it is folded.
type weight int

const (
	// silent is not a finding, and does not keep the subtree from becoming one.
	silent weight = iota
	// soft is a finding that follows from others: a default that is added or removed together with its parent.
	soft
	// hard is a finding of its own.
	hard
)

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
	item := n.items()
	rename := findRenaming(w, steps, item)
	for _, step := range steps {
		below, walked := rename.apply(item(step))
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
		order := w.orderFindings(path, n, item, steps)
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

// items returns item as a function that looks its steps up in an index, which is faster for many steps.
func (n States) items() func(object.Step) States {
	old, desired, live, result := n.Old.Items(), n.Desired.Items(), n.Live.Items(), n.Result.Items()
	last, again, atOnce := n.Last.Items(), n.Again.Items(), n.AtOnce.Items()
	return func(step object.Step) States {
		return States{
			Old: old(step), Desired: desired(step), Live: live(step), Result: result(step), Last: last(step),
			Again: again(step), AtOnce: atOnce(step), leaving: n.isRemoved(), StoresNulls: n.StoresNulls,
		}
	}
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

// classify returns the entry for one place, with the rule that silences it. The walk does not go below the place.
func (w *objectWalk) classify(path object.Path, n States) entry {
	written := n.Old
	n.Old = w.withStoredNulls(path, n)
	n.Old = w.withAllocatedBelow(path, n)
	e := w.classifyWithoutRules(path, n)
	switch {
	case e.Verdict == "":
		return e
	case w.Shape.Custom:
		e.Old = w.valueOf(written.Shown())
	case w.allocated().At(path).HasFields():
		e.Old = w.valueOf(written.WithoutNulls(n.Live.Value).Shown())
	}
	if e.IgnoredBy = w.Rules.Field(path, e.Owners, e.Managed); e.IgnoredBy == nil {
		e.IgnoredBy = w.Rules.FieldByParts(path, e.Managed, n.sameAfter)
	}
	return e
}

// classifyWithoutRules returns the finding at path, and its weight for folding its parent.
func (w *objectWalk) classifyWithoutRules(path object.Path, n States) entry {
	e := w.verdict(path, n, n.isManaged() || w.isSwitchedOff(path, n) && !object.IsZero(n.Old.Value))
	if e.Verdict == "" {
		return entry{weight: silent}
	}
	w.setClass(&e, w.classOf(path, n))
	w.noteReplicas(&e, n)
	w.noteOverwritten(&e)
	switch {
	case e.Managed:
		e.weight = hard
		w.markLast(&e.Finding, n)
		return e
	case e.Verdict == report.Ignore:
		return w.classifyUnmanaged(e, n)
	case w.Engine == report.EngineReplace && !w.isEdit(e.Owners):
		e.Cause, e.weight = report.CauseChange, hard // Helm changes it
		if isDefaulted(n) {
			e.weight = soft
		}
	case isDefaulted(n) || n.leaving && len(e.Owners) == 0 && w.isDefault(path, n.Live.Value):
		e.weight = soft
	default:
		e.weight = hard
	}
	return e
}

// verdict decides what happens to one place, by the table in the package comment and by Helm's own patch. The verdict is empty if
// there is nothing to report.
func (w *objectWalk) verdict(path object.Path, n States, managed bool) entry {
	n = n.withoutNulls()
	if w.Unpatched {
		n.Result = n.Live
		if managed {
			n.Result = n.Desired
		}
	}
	e := entry{presence: n.presence(), goesAlong: w.goesAlong(n)}
	v, notes := w.verdictWithNotes(n, managed)
	if v == "" {
		return e
	}
	e.Finding = Finding{
		Path: path, Classification: report.Classification{Verdict: v, Cause: causeOf(n.hasDrifted(), n.hasChanged()), Managed: managed},
		Certain: true, Old: w.valueOf(n.Old.Shown()), Desired: w.valueOf(n.Desired.Shown()), Live: w.valueOf(n.Live), Notes: notes,
	}
	if n.isDropped() {
		e.Desired = nil
	}
	if v != report.Ignore && n.Result.Present && (n.isDropped() || !n.Result.Same(n.Desired)) {
		e.After = w.valueOf(n.Result)
	}
	if n.Live.Present {
		e.Owners = w.owners.OwnersOf(path)
	}
	return e
}

// valueOf returns the value of a state as a finding holds it.
func (w *objectWalk) valueOf(s kinds.State) any {
	switch {
	case !s.Present:
		return nil
	case w.Shape.Custom && s.Value == nil:
		return object.Null{}
	}
	return object.Copy(s.Value)
}

// classifyUnmanaged decides whether a field that no manifest names is an edit.
func (w *objectWalk) classifyUnmanaged(e entry, n States) entry {
	switch {
	case !n.Live.Present:
		return entry{weight: silent}
	case w.isDefault(e.Path, n.Live.Value):
		return entry{weight: silent, isDefault: true}
	case w.isLeftByLast(e.Path, n):
		w.markLeftByLast(&e)
	case w.isEdit(e.Owners), w.isScaled(e.Path, e.Owners):
		e.weight = hard
	case owners.AreForgotten(e.Owners):
		e.weight = soft // it counts, and folds into what another writer added around it
	default:
		return entry{weight: silent}
	}
	return e
}
