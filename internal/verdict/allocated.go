package verdict

import (
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

// allocation is the table's line for a place; nil where there is none, or a person has edited what stands there.
func (w *Walker) allocation(path object.Path) *Allocation {
	line := w.Allocated.At(path).Value()
	if line != nil && line.Edited && w.Owners.ByPerson(path) {
		return nil
	}
	return line
}

// isAllocated reports whether the place belongs to the server or a controller: the table has it, and no manifest gives it a
// value that would count. What an upgrade takes away for good is worth a word all the same.
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
	comesBack := !line.lost && line.Kind != "Service" // whose type says what it has
	return !goes || comesBack || n.leaving || n.Desired.Named || line.OverridesManifest
}

// withAllocatedOld returns old what was allocated to it, where only desired names the place: the allocation is no drift.
func (w *Walker) withAllocatedOld(path object.Path, n States) kinds.State {
	line := w.allocation(path)
	never := line != nil && line.Kind == "Service" && !apiserver.ServiceOf(w.old).MayHave(path[len(path)-1].Name)
	if line != nil && object.IsZero(n.Old.Written) && !never {
		n.Old.Value, n.Old.Present = n.Live.Value, n.Live.Present
	}
	return n.Old
}

// Filled reports whether a place of live is the server's or a controller's to fill: it is allocated, or the API would default it to what it
// holds. Text is the object as it was read, live its normal form.
func Filled(key object.Key, shape *kinds.Shape, text, live map[string]any, path object.Path) (allocated, defaulted bool) {
	w := &Walker{Shape: shape, Live: live}
	v, ok := path.Lookup(live)
	return AllocatedFor(key, text).At(path).Value() != nil, ok && w.isDefault(path, v)
}
