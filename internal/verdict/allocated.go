package verdict

import (
	"maps"
	"strings"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// AllocatedFields holds the lines of the table (allocations.go) that apply to one object.
type AllocatedFields = object.FieldTree[*Allocation]

// AllocatedFor picks the lines of the table for one object.
func AllocatedFor(key object.Key, live map[string]any) *AllocatedFields {
	tree := &AllocatedFields{}
	kind := key.GroupKind().String()
	table := Allocations()
	for i := range table {
		line := &table[i]
		if (line.Kind == "*" || line.Kind == kind) && (line.when == nil || line.when(live)) {
			tree.Set(strings.ReplaceAll(line.Path, "{name}", key.Name), line)
		}
	}
	return tree
}

// allocation returns the table's line for a place; nil if there is none, or if a person has edited the value.
func (w *Walker) allocation(path object.Path) *Allocation {
	if w.Allocated == nil {
		w.Allocated = AllocatedFor(w.Key, w.text)
	}
	line := w.Allocated.At(path).Value()
	if line != nil && line.Edited && w.Owners.HasPerson(path) {
		return nil
	}
	return line
}

// isAllocated reports whether the server or a controller fills in the place: the table has it, and no manifest sets a value that
// counts. A value that the upgrade removes for good is not allocated: it is reported.
func (w *Walker) isAllocated(path object.Path, n States) bool {
	line := w.allocation(path)
	if line == nil || !line.OverridesManifest && !(object.IsZero(n.Old.Written) && object.IsZero(n.Desired.Written)) {
		return false
	}
	goes := n.Live.Present && !n.Result.Present
	if w.Engine == report.EngineReplace {
		fits := line.Kind != "Service" || apiserver.ServiceOf(w.result).MayHave(path[len(path)-1].Name)
		return !goes || !line.lost && fits
	}
	comesBack := !line.lost && line.Kind != "Service" // the type of a Service decides which fields it has
	return !goes || comesBack || n.leaving || n.Desired.Named || line.OverridesManifest
}

// withAllocatedOld returns old with live's allocated value if old's manifest does not set the place: the allocation is no drift.
func (w *Walker) withAllocatedOld(path object.Path, n States) kinds.State {
	line := w.allocation(path)
	never := line != nil && line.Kind == "Service" && !apiserver.ServiceOf(w.old).MayHave(path[len(path)-1].Name)
	if line != nil && object.IsZero(n.Old.Written) && !never {
		n.Old.Value, n.Old.Present = n.Live.Value, n.Live.Present
	}
	return n.Old
}

// withAllocatedBelow returns old at path with live's allocated values of its fields. A place that is one value, such as one of several items
// that share their keys, must not count as drifted because of them.
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
	return AllocatedFor(key, text).At(path).Value() != nil, ok && w.isDefault(path, v)
}
