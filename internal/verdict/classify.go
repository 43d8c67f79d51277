package verdict

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

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

// Writes reports whether the upgrade changes the field.
func (f Finding) Writes() bool { return f.Verdict.Writes() }

// Acts reports whether the upgrade changes the field or fails on it.
func (f Finding) Acts() bool { return f.Writes() || f.Verdict == report.Conflict }

// IsAffectedBy reports whether an uncertainty affects the finding.
func (f Finding) IsAffectedBy(d engine.Uncertainty) bool {
	if d.Matches != nil && !d.Matches(f.Path) {
		return false
	}
	switch d.Affects {
	case engine.Acting:
		return f.Acts()
	case engine.Writing:
		return f.Writes()
	case engine.Conflicting:
		return f.Verdict == report.Conflict
	case engine.AnyFinding:
	}
	return true
}

// Sort sorts findings by path.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
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
		Path: path, Classification: report.Classification{Verdict: v, Cause: causeOf(n.hasDrifted(), n.hasChanged()), Managed: managed}, Certain: true,
		Old: w.valueOf(n.Old.Shown()), Desired: w.valueOf(n.Desired.Shown()), Live: w.valueOf(n.Live), Notes: notes,
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

// classOf returns the class of one place. It is empty for most places.
func (w *objectWalk) classOf(path object.Path, n States) report.Class {
	switch {
	case w.autoscaler.Name != "" && !w.autoscaler.Leaves && IsReplicas(path) && !w.isSwitchedOff(path, n):
		return report.ClassAutoscaled
	case w.Volatile && n.isVolatile():
		return report.ClassVolatile
	case w.unknown != "" && holdsText(n.Desired.Value, w.unknown):
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

// isDropped reports whether old's manifest names the field and desired's does not. Such a field counts as absent even if it has a
// default.
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

// classifyUnmanaged decides whether a field that no manifest names is an edit.
func (w *objectWalk) classifyUnmanaged(e entry, n States) entry {
	switch {
	case !n.Live.Present:
		return entry{weight: silent}
	case w.isDefault(e.Path, n.Live.Value):
		return entry{weight: silent, isDefault: true}
	case w.isLeftByLast(e.Path, n):
		w.markLeftByLast(&e)
		return e
	case w.isEdit(e.Owners), w.isScaled(e.Path, e.Owners):
		e.weight = hard
		return e
	case owners.AreForgotten(e.Owners):
		e.weight = soft // it counts, and folds into what another writer added around it
		return e
	}
	return entry{weight: silent}
}

// isEdit reports whether somebody other than the deployer wrote a value that only live has. A value without an owner was allocated,
// and forgotten writers prove nothing. If the object records no writers at all, every value counts as an edit.
func (w *objectWalk) isEdit(writers []report.Owner) bool {
	if !w.owners.IsRecorded() {
		return true
	}
	for _, o := range writers {
		if !w.owners.IsDeployer(o) && !owners.IsForgotten(o.Manager) {
			return true
		}
	}
	return false
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
