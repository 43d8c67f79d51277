package verdict

import (
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// AllocatedFields holds the lines of the table (allocations.go) that apply to one object.
type AllocatedFields = object.FieldTree[*Allocation]

// AllocatedFor picks the lines of the table for one object. Their conditions must hold in each of its states; one that is nil does not
// count.
func AllocatedFor(key object.Key, states ...map[string]any) *AllocatedFields {
	tree := &AllocatedFields{}
	kind := key.GroupKind().String()
	table := Allocations()
	for i := range table {
		line := &table[i]
		if (line.Kind == "*" || line.Kind == kind) && line.when.holds(states...) {
			tree.Set(strings.ReplaceAll(line.Path, "{name}", key.Name), line)
		}
	}
	return tree
}

// holds reports whether a condition holds in each of the states that are not nil.
func (c condition) holds(states ...map[string]any) bool {
	return c == nil || !slices.ContainsFunc(states, func(state map[string]any) bool { return state != nil && !c(state) })
}

// fills reports whether a value may be what the line says; an absent one may.
func (a *Allocation) fills(live kinds.State) bool {
	return !live.Present || a.fits == nil || a.fits(live.Value)
}

// overrides reports whether a controller overwrites what manifests say about the place in each of the states.
func (a *Allocation) overrides(states ...map[string]any) bool {
	return a.OverridesManifest != nil && a.OverridesManifest.holds(states...)
}

// allocation returns the table's line for a place; nil if there is none, if live has another value than the server would fill in, or if a
// person has edited the value.
func (w *Walker) allocation(path object.Path, live kinds.State) *Allocation {
	if w.Allocated == nil {
		w.Allocated = AllocatedFor(w.Key, w.old, w.text)
	}
	line := w.Allocated.At(path).Value()
	if line == nil || !line.fills(live) || line.Edited && w.Owners.HasPerson(path) {
		return nil
	}
	return line
}

// isAllocated reports whether the server or a controller fills in the place, before the upgrade and after it: the table has it, and no
// manifest sets a value that counts. A value that the upgrade removes for good is not allocated: it is reported.
func (w *Walker) isAllocated(path object.Path, n States) bool {
	line := w.allocation(path, n.Live)
	if line == nil {
		return false
	}
	// A controller that has left what Helm deployed does not overwrite it, whatever asks for it.
	overrides := line.overrides(w.old, w.text, w.result) && !n.Live.Same(n.Old.WithoutNulls(n.Live.Value))
	if !overrides && !(object.IsZero(n.Old.Written) && object.IsZero(n.Desired.Written)) || !line.when.holds(w.result) {
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

// isOverridden reports whether a controller has overwritten by design what Helm deployed in the place.
func (w *Walker) isOverridden(path object.Path, n States) bool {
	line := w.allocation(path, n.Live)
	return line != nil && line.overrides(w.old, w.text)
}

// noteOverwritten explains that a controller overwrites again what the upgrade writes, because live asks for it and Helm never did.
func (w *Walker) noteOverwritten(e *entry) {
	if !e.Managed || !e.Writes() {
		return
	}
	if w.called == nil {
		w.called = AllocatedFor(w.Key, w.text, w.result)
	}
	if line := w.called.At(e.Path).Value(); line != nil && line.overrides(w.text, w.result) {
		e.Notes.Add(report.NoteServer, "live asks a controller to write this, and it will do so again: "+line.Reason)
	}
}

// withAllocatedOld returns old with live's allocated value if old's manifest does not set the place, or a controller overwrites what it
// sets: the allocation is no drift.
func (w *Walker) withAllocatedOld(path object.Path, n States) kinds.State {
	line := w.allocation(path, n.Live)
	never := line != nil && line.Kind == "Service" && !apiserver.ServiceOf(w.old).MayHave(path[len(path)-1].Name)
	if line != nil && !never && (object.IsZero(n.Old.Written) || line.overrides(w.old, w.text)) {
		n.Old.Value, n.Old.Present = n.Live.Value, n.Live.Present
	}
	return n.Old
}

// withAllocatedBelow returns old at path with live's allocated values of its fields. A place that is one value, such as one of several
// items that share their keys, must not count as drifted because of them.
func (w *Walker) withAllocatedBelow(path object.Path, n States) kinds.State {
	old, isMap := n.Old.Value.(map[string]any)
	if !isMap || !w.Allocated.At(path).HasFields() {
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

// Filled reports whether the server or a controller fills in a place of live: it is allocated, or the API would default it to the value
// that it has. Text is the object as it was read, live its normal form.
func Filled(key object.Key, shape *kinds.Shape, text, live map[string]any, path object.Path) (allocated, defaulted bool) {
	w := &Walker{Shape: shape, Live: live}
	v, ok := path.Lookup(live)
	line := AllocatedFor(key, text).At(path).Value()
	return line != nil && line.fills(kinds.State{Value: v, Present: ok}), ok && w.isDefault(path, v)
}
