package verdict

import (
	"maps"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// allocation returns the table's line for a place. It returns nil if there is none, if live has another value than the server would fill
// in, or if a person has edited the value.
func (w *objectWalk) allocation(path object.Path, live kinds.State) *Allocation {
	line := w.allocated().At(path).Value()
	if line == nil || !line.fills(live) || line.Edited && w.owners.HasPerson(path) {
		return nil
	}
	return line
}

// isAllocated reports whether the server or a controller fills in the place, both before and after the upgrade: the table has the place,
// and no manifest sets a value that counts. A value that the upgrade removes for good does not count as allocated, so that it is reported.
func (w *objectWalk) isAllocated(path object.Path, n States) bool {
	line := w.allocation(path, n.Live)
	if line == nil {
		return false
	}
	// If live still has what Helm deployed, no controller has overwritten it, although one was asked to.
	overrides := line.overrides(w.old, w.Text, w.result) && !n.Live.Same(n.Old.WithoutNulls(n.Live.Value))
	if !overrides && (line.isSet(n.Old.Written) || line.isSet(n.Desired.Written)) || !line.when.holds(w.result) {
		return false
	}
	goes := n.Live.Present && !n.Result.Present
	if w.Engine == report.EngineReplace {
		fits := line.Kind != "Service" || apiserver.ServiceOf(w.result).MayHave(path[len(path)-1].Name)
		return !goes || (overrides || !line.lost) && fits
	}
	comesBack := !line.lost && line.Kind != "Service" // the type of a Service decides which fields it has
	return !goes || comesBack || n.leaving || n.Desired.Named || overrides
}

// isOverridden reports whether a controller by design overwrites the value that Helm deployed at the place.
func (w *objectWalk) isOverridden(path object.Path, n States) bool {
	line := w.allocation(path, n.Live)
	return line != nil && line.overrides(w.old, w.Text)
}

// noteOverwritten adds the note that a controller will overwrite again what the upgrade writes. It is for objects that ask for the
// controller only in live, not in what Helm deployed.
func (w *objectWalk) noteOverwritten(e *entry) {
	if !e.Managed || !e.Writes() {
		return
	}
	if line := w.called().At(e.Path).Value(); line != nil && line.overrides(w.Text, w.result) {
		e.Notes.Add("live asks a controller to write this, and it will do so again: " + line.Reason)
	}
}

// withAllocatedOld returns old with live's allocated value if old's manifest does not set the place, or a controller overwrites what it
// sets. So the allocation does not count as drift.
func (w *objectWalk) withAllocatedOld(path object.Path, n States) kinds.State {
	line := w.allocation(path, n.Live)
	never := line != nil && line.Kind == "Service" && !apiserver.ServiceOf(w.old).MayHave(path[len(path)-1].Name)
	if line != nil && !never && (!line.isSet(n.Old.Written) || line.overrides(w.old, w.Text)) {
		n.Old.Value, n.Old.Present = n.Live.Value, n.Live.Present
	}
	return n.Old
}

// withAllocatedBelow returns old at path with live's allocated values in its fields. If the place is compared as one value, such as
// one of several items that share their keys, these must not make it drifted.
func (w *objectWalk) withAllocatedBelow(path object.Path, n States) kinds.State {
	old, isMap := n.Old.Value.(map[string]any)
	if !isMap || !w.allocated().At(path).HasFields() {
		return n.Old
	}
	filled := maps.Clone(old)
	for name := range n.Live.Object() {
		if now := w.withAllocatedOld(path.Field(name), n.field(name)); now.Present {
			filled[name] = now.Value
		}
	}
	n.Old.Value = filled
	return n.Old
}

// Filled reports whether the server or a controller fills in a place of live: the place is allocated, or its value is the API's
// default. Text is the object as it was read, and live is its normal form.
func Filled(key object.Key, shape *kinds.Shape, text, live map[string]any, path object.Path) (allocated, defaulted bool) {
	w := &objectWalk{Object: Object{Shape: shape}, live: live}
	v, ok := path.Lookup(live)
	line := AllocatedFor(key, text).At(path).Value()
	return line != nil && line.fills(kinds.State{Value: v, Present: ok}), ok && w.isDefault(path, v)
}
