package threeway

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// allocatedFields holds the lines of the table (allocations.go) that apply to one object.
type allocatedFields = object.FieldTree[*allocation]

// allocatedFor picks the lines of the table for one object.
func allocatedFor(key object.Key, live map[string]any) *allocatedFields {
	tree := &allocatedFields{}
	kind := key.GroupKind().String()
	table := allocations()
	for i := range table {
		line := &table[i]
		if (line.kind == "*" || line.kind == kind) && (line.when == nil || line.when(live)) {
			tree.Set(strings.ReplaceAll(line.path, "{name}", key.Name), line)
		}
	}
	return tree
}

// allocation is the table's line for a place; nil where there is none, or a person has edited what stands there.
func (w *walker) allocation(path object.Path) *allocation {
	line := w.allocated.At(path).Value()
	if line != nil && line.edited && w.owners.ByPerson(path) {
		return nil
	}
	return line
}

// isAllocated tells whether the place belongs to the server or a controller: the table has it, and no manifest gives it a
// value that would count. What an upgrade takes away for good is worth a word all the same.
func (w *walker) isAllocated(path object.Path, n sides) bool {
	line := w.allocation(path)
	if line == nil || !line.even && !(object.IsZero(n.old.Written) && object.IsZero(n.desired.Written)) {
		return false
	}
	goes := n.live.Present && !n.result.Present
	if w.engine == report.EngineReplace {
		fits := line.kind != "Service" || apiserver.ServiceOf(w.result).MayHave(path[len(path)-1].Name)
		return !goes || !line.lost && fits
	}
	comesBack := !line.lost && line.kind != "Service" // whose type says what it has
	return !goes || comesBack || n.leaving || n.desired.Named || line.even
}

// oldAllocated gives old what was allocated to it, where only desired names the place: the allocation is no drift.
func (w *walker) oldAllocated(path object.Path, n sides) kinds.State {
	line := w.allocation(path)
	never := line != nil && line.kind == "Service" && !apiserver.ServiceOf(w.old).MayHave(path[len(path)-1].Name)
	if line != nil && object.IsZero(n.old.Written) && !never {
		n.old.Value, n.old.Present = n.live.Value, n.live.Present
	}
	return n.old
}
