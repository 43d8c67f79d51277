package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fieldTree holds the lines of the table (allocations.go) that apply to one object, by the steps of their paths.
type fieldTree struct {
	fields map[string]*fieldTree
	items  *fieldTree
	prefix []prefixLine
	here   *allocation
}

type prefixLine struct {
	prefix string
	line   *allocation
}

// allocatedFor picks the lines of the table for one object.
func allocatedFor(key object.Key, live map[string]any) *fieldTree {
	root := &fieldTree{}
	kind := key.Kind
	if key.Group != "" {
		kind += "." + key.Group
	}
	table := allocations()
	for i := range table {
		line := &table[i]
		if (line.kind == "*" || line.kind == kind) && (line.when == nil || line.when(live)) {
			root.add(line, key.Name)
		}
	}
	return root
}

func (t *fieldTree) add(line *allocation, objectName string) {
	path, last, keyed := strings.Cut(line.path, "/")
	for name := range strings.SplitSeq(path, ".") {
		name, list := strings.CutSuffix(name, "[]")
		t = t.child(name)
		if list {
			if t.items == nil {
				t.items = &fieldTree{}
			}
			t = t.items
		}
	}
	last = strings.ReplaceAll(last, "{name}", objectName)
	switch prefix, open := strings.CutSuffix(last, "*"); {
	case open:
		t.prefix = append(t.prefix, prefixLine{prefix, line})
	case keyed:
		t.child(last).here = line
	default:
		t.here = line
	}
}

func (t *fieldTree) child(name string) *fieldTree {
	if t.fields == nil {
		t.fields = map[string]*fieldTree{}
	}
	if t.fields[name] == nil {
		t.fields[name] = &fieldTree{}
	}
	return t.fields[name]
}

// line finds the table's line for a path, nil where there is none.
func (t *fieldTree) line(path object.Path) *allocation {
	for i, s := range path {
		name := stepWord(s)
		next := t.fields[name]
		if next == nil && s.Form != object.FieldStep {
			next = t.items
		}
		if next == nil {
			return t.openLine(name, i == len(path)-1)
		}
		t = next
	}
	return t.here
}

// openLine finds a line that names keys by how they begin.
func (t *fieldTree) openLine(name string, last bool) *allocation {
	i := slices.IndexFunc(t.prefix, func(p prefixLine) bool { return strings.HasPrefix(name, p.prefix) })
	if i < 0 || !last {
		return nil
	}
	return t.prefix[i].line
}

// stepWord is how the table names the step: a field, a member of a set, or an item by its first key.
func stepWord(s object.Step) string {
	switch s.Form {
	case object.FieldStep:
		return s.Name
	case object.SetStep:
		return fmt.Sprint(s.Value)
	case object.KeyStep:
		return fmt.Sprint(s.Keys[0].Value)
	case object.IndexStep:
	}
	return ""
}

// allocation is the table's line for a place; nil where there is none, or a person has edited what stands there.
func (w *walker) allocation(path object.Path) *allocation {
	line := w.allocated.line(path)
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
