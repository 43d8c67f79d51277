package verdict

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says what a finding on one place is: its verdict, its class, and the notes that explain them.

// verdictWithNotes returns the verdict, and a note if it needs one. Both are empty if there is nothing to report.
func (w *objectWalk) verdictWithNotes(n States, managed bool) (report.Verdict, report.Notes) {
	switch {
	case n.hasConverged():
		return "", nil
	case !n.Live.Same(n.Result):
		return w.patchVerdict(n)
	case n.hasDrifted() || managed:
		return report.Ignore, report.NotesOf(w.ignoreNote(n, managed))
	}
	return "", nil
}

// isDropped reports whether old's manifest names the field and desired's does not. Such a field counts as absent even if it has a default.
func (n States) isDropped() bool { return n.Old.Named && !n.Desired.Named }

func (n States) hasDrifted() bool { return !n.Live.Same(n.Old) }

func (n States) hasChanged() bool { return n.isDropped() || !n.Desired.Same(n.Old) }

// causeOf returns the cause: live differs from old, desired does, or both. If neither does and Helm's patch changes live
// anyway, the cause is a change.
func causeOf(drifted, changed bool) report.Cause {
	switch {
	case drifted && changed:
		return report.CauseBoth
	case drifted:
		return report.CauseDrift
	}
	return report.CauseChange
}

// patchVerdict returns the verdict on a place that Helm's patch changes: the table's, unless the patch does something else.
func (w *objectWalk) patchVerdict(n States) (report.Verdict, report.Notes) {
	v, effect := tableVerdict(n), patchEffect(n)
	agreed := v == effect || v != report.Ignore && (n.isDropped() || n.Result.Same(n.Desired))
	if n.Desired.Named && n.Desired.Written == nil && effect == report.Remove {
		if w.Engine == report.EngineApply {
			return report.Remove, report.NotesOf("the manifest sets it to null, and so does Helm's apply")
		}
		return report.Remove, report.NotesOf("the manifest sets it to null, which Helm's patch sends as a removal")
	}
	if n.Desired.IsUnstored() && effect == report.Remove {
		return report.Remove, report.NotesOf("the API server does not store what the manifest sets here")
	}
	if !agreed {
		v = effect
	}
	if w.goesAlong(n) {
		return v, report.Notes{"goes with what holds it"}
	}
	return v, report.NotesOf(w.patchNote(n, effect))
}

// tableVerdict returns the verdict of the table in the package comment.
func tableVerdict(n States) report.Verdict {
	old, desired := n.Old.Shown().Present, n.Desired.Shown().Present && !n.isDropped()
	switch {
	case desired && n.Live.Present && old:
		return report.Overwrite
	case desired:
		return report.Add
	case old:
		return report.Remove
	}
	return report.Ignore
}

// patchEffect returns what the patch visibly does to live.
func patchEffect(n States) report.Verdict {
	switch {
	case !n.Live.Present:
		return report.Add
	case !n.Result.Present:
		return report.Remove
	}
	return report.Overwrite
}

// goesAlong reports whether a field is removed only because its parent is.
func (w *objectWalk) goesAlong(n States) bool {
	replaced := patchEffect(n) != report.Add && w.Engine == report.EngineReplace
	return n.leaving && !n.isManaged() && !n.Live.Same(n.Result) && !replaced
}

// patchNote explains an effect of the patch that the manifests alone do not show; it is empty for most.
func (w *objectWalk) patchNote(n States, effect report.Verdict) string {
	switch {
	case !n.isManaged() && effect != report.Add && w.Engine == report.EngineReplace:
		return "--force replaces the object, and no manifest names this"
	case !n.isManaged() && effect == report.Add:
		return "a default that comes with another change"
	case !n.isManaged() && w.Engine == report.EngineApply:
		return "no manifest names it, but Helm's apply owns it or what holds it, and takes it away"
	case !n.isManaged() && w.Engine == report.EngineMerge:
		return "Helm's patch writes the whole list that holds it"
	case !n.isManaged():
		return "no manifest names it, but Helm's patch keeps here only what the manifest names ($retainKeys or patchStrategy: replace)"
	case n.isDropped() || n.Result.Same(n.Desired):
		return ""
	case w.Engine == report.EngineApply:
		return "Helm's apply leaves another value here"
	case w.Engine == report.EngineMerge:
		return "Helm sends numbers of such objects as floating point, so another one arrives"
	}
	return "Helm's patch leaves another value here: it tells items of a list apart by fewer keys than the API does"
}

// ignoreNote explains why the upgrade does not change a managed field.
func (w *objectWalk) ignoreNote(n States, managed bool) string {
	switch {
	case !managed:
		return ""
	case w.Engine == report.EngineApply && n.isDropped():
		return "no longer in the manifest, but Helm is not its only owner, so it stays"
	case w.Engine == report.EngineApply:
		return w.command + " (server-side) leaves it as it is"
	case w.Engine == report.EngineMerge && n.hasDrifted() && w.Shape.Custom:
		return w.command + " (client-side) will not put this back: it does not look at live custom resources"
	case w.Engine == report.EngineMerge && n.hasDrifted():
		return w.command + " (client-side) will not put this back: it does not look at live objects of this kind"
	case n.hasDrifted():
		return w.command + " will not put this back: its patch does not reach this field"
	case w.Engine == report.EngineMerge && bothNumbers(n):
		return "this change will not happen: Helm compares numbers of such objects as floating point, where these are the same"
	}
	return "this change will not happen: live keeps the value after Helm's patch"
}

func bothNumbers(n States) bool {
	_, desired := n.Desired.Value.(int64)
	_, live := n.Live.Value.(int64)
	return desired && live
}

// isDefaulted reports whether the field is a default that is added or removed together with its parent.
func isDefaulted(n States) bool {
	return !n.Live.Present || n.Old.Present && n.Old.Same(n.Live)
}

// isEdit reports whether somebody other than the deployer wrote a value that only live has. A value without an owner was allocated,
// and forgotten writers prove nothing. If the object records no writers at all, every value counts as an edit.
func (w *objectWalk) isEdit(writers []report.Owner) bool {
	return !w.owners.IsRecorded() || slices.ContainsFunc(writers, func(o report.Owner) bool {
		return !w.owners.IsDeployer(o) && !owners.IsForgotten(o.Manager)
	})
}

// isDefault reports whether the API would default the live value in live's own context.
func (w *objectWalk) isDefault(path object.Path, value any) bool {
	if !w.Shape.Lookup(path[:len(path)-1]).HasDefaults() {
		return false // keys of a map have no defaults
	}
	without, ok := object.Without(w.live, path).(map[string]any)
	if !ok {
		return false
	}
	kinds.FillDefaults(without, w.Shape)
	filled, ok := path.Lookup(without)
	return ok && object.Equal(filled, value)
}

// classOf returns the class of one place. It is empty for most places.
func (w *objectWalk) classOf(path object.Path, n States) report.Class {
	switch {
	case w.autoscaler.Name != "" && !w.autoscaler.Leaves && IsReplicas(path) && !w.isSwitchedOff(path, n) && !w.switchesOff(path, n):
		return report.ClassAutoscaled
	case w.Volatile && n.isVolatile():
		return report.ClassVolatile
	case w.Unknown != "" && holdsText(n.Desired.Value, w.Unknown):
		return report.ClassUnknown
	}
	return ""
}

// setClass sets the class of a finding, and the note or template that belongs to the class.
func (w *objectWalk) setClass(e *entry, class report.Class) {
	switch e.Class = class; class {
	case report.ClassAutoscaled:
		e.Notes = report.Notes{w.autoscalerNote(e.Finding)}
	case report.ClassVolatile:
		e.Template = w.Template
	case report.ClassUnknown:
		e.Certain, e.Notes = false, append(e.Notes, "what the chart sets here is not known")
	case report.ClassOrder, report.ClassAllocated:
	}
}

// noteKept explains why metrics that the chart drops are kept.
func (w *objectWalk) noteKept(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; w.Kept != nil && f.Verdict == report.Ignore && f.Path.Equal(w.Kept) {
			f.Notes = report.NotesOf("no longer in the manifest, but the API server keeps it, as the object was written at both versions of its API")
		}
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

// addListNote adds a note on how the items of a list were matched.
func (e *entry) addListNote(note string) {
	if e.weight != silent {
		e.Notes.Add(note)
	}
}

// Writes reports whether the upgrade changes the field.
func (f Finding) Writes() bool { return f.Verdict.Writes() }

// Acts reports whether the upgrade changes the field or fails on it.
func (f Finding) Acts() bool { return f.Verdict.Acts() }

// IsAffectedBy reports whether an uncertainty affects the finding.
func (f Finding) IsAffectedBy(d engine.Uncertainty) bool {
	return (d.Matches == nil || d.Matches(f.Path)) && (d.Affects == nil || d.Affects(f.Verdict))
}

// Sort sorts findings by path.
func Sort(findings []Finding) {
	order.Sort(findings, func(a, b Finding) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
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
