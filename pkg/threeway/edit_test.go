package threeway

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// editor makes one random edit of an object.
type editor struct {
	rng  *rand.Rand
	path object.Path
}

// edit edits an object of the sample's kind in place. It chooses places where an API server stores the edit and that no
// controller owns. It returns the paths that changed, or none if there was nothing to edit.
func (o sample) edit(rng *rand.Rand, obj map[string]any) []object.Path {
	job := newComparer(Input{Schemas: o.schemas})
	s := job.writer.ShapeOf(o.Ref)
	tree := verdict.AllocatedFor(o.Key, obj)
	stored := func() any { return withoutAllocated(tree, kinds.NewNormalizer(o.Key, s, obj).Stored(obj).Value) }
	before := stored()
	for range 20 {
		saved, _ := object.Copy(obj).(map[string]any)
		e := &editor{rng: rng}
		e.editMap(obj, s, rootNames(obj, s))
		if paths := e.changed(s, before, stored(), o.Content); len(paths) > 0 {
			return paths
		}
		clear(obj)
		for k, v := range saved {
			obj[k] = v
		}
	}
	return nil
}

// vary makes one edit of an object in place, even one that a server would not store. It reports whether there was anything to edit.
func (o sample) vary(rng *rand.Rand, object map[string]any) bool {
	job := newComparer(Input{Schemas: o.schemas})
	s := job.writer.ShapeOf(o.Ref)
	e := &editor{rng: rng}
	e.editMap(object, s, rootNames(object, s))
	return len(e.path) > 0
}

// changed lists the places where the edit changed what the server stores. It omits fields that the server prunes, the
// deprecated alias that the server keeps itself, and defaults that disappear only because their neighbours do.
func (e *editor) changed(s *kinds.Shape, before, after any, manifest map[string]any) []object.Path {
	last := len(e.path) - 1
	if last < 0 || s.Lookup(e.path[:last]).Prunes(e.path[last].Name) || e.path[last].Name == "serviceAccount" {
		return nil
	}
	return slices.DeleteFunc(placesThatDiffer(nil, before, after), func(path object.Path) bool {
		_, stays := path.Lookup(after)
		_, named := path.Lookup(manifest)
		return !stays && !named
	})
}

// touching returns the index of a finding at or around one of the paths, or -1 if there is none.
func touching(findings []verdict.Finding, paths []object.Path) int {
	return slices.IndexFunc(findings, func(f verdict.Finding) bool {
		return slices.ContainsFunc(paths, func(p object.Path) bool { return touches(f.Path.String(), p.String()) })
	})
}

// withoutAllocated returns a normal form without the fields in the table.
func withoutAllocated(tree *verdict.AllocatedFields, v any) any {
	if tree == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range v {
			next := tree.Next(object.Step{Name: name})
			kept := withoutAllocated(next, below)
			if next.Value() == nil && !(object.IsZero(kept) && !object.IsZero(below)) {
				out[name] = kept
			}
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			if text, ok := item.(string); !ok || tree.Next(object.Step{Form: object.SetStep, Value: text}).Value() == nil {
				out = append(out, withoutAllocated(tree.Next(object.Step{Form: object.IndexStep}), item))
			}
		}
		return out
	}
	return v
}

// rootNames are the fields of an object that count.
func rootNames(object map[string]any, s *kinds.Shape) []string {
	var out []string
	for name := range s.Fields {
		out = append(out, name)
	}
	for name := range object {
		out = append(out, name)
	}
	out = slices.DeleteFunc(out, func(name string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "status", "stringData"}, name)
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// editMap changes, removes or adds one of the names.
func (e *editor) editMap(m map[string]any, s *kinds.Shape, names []string) {
	if len(names) == 0 {
		return
	}
	name := names[e.rng.IntN(len(names))]
	if len(e.path) == 0 && name == "metadata" {
		e.path = e.path.Field(name)
		m = object.Child(m, name)
		s, name = s.Field(name), []string{"labels", "annotations", "finalizers"}[e.rng.IntN(3)]
	}
	e.path = e.path.Field(name)
	below := s.Field(name)
	v, there := m[name]
	switch {
	case !there || v == nil:
		m[name] = e.invented(below, 3)
	case e.rng.IntN(6) == 0:
		delete(m, name)
	default:
		m[name] = e.edited(v, below)
	}
}

// edited returns a value with one edit in it.
func (e *editor) edited(v any, s *kinds.Shape) any {
	switch v := v.(type) {
	case map[string]any:
		names := object.SortedKeys(v)
		if s != nil && s.Form == kinds.FormStruct {
			names = slices.Compact(slices.Sorted(slices.Values(append(names, object.SortedKeys(s.Fields)...))))
		} else {
			names = append(names, "added")
		}
		e.editMap(v, s, names)
		return v
	case []any:
		return e.editedList(v, s)
	}
	return e.other(v, s)
}

// editedList edits, drops or adds an item; its path ends at the list.
func (e *editor) editedList(v []any, s *kinds.Shape) any {
	path := e.path
	defer func() { e.path = path }()
	switch i := e.rng.IntN(len(v) + 2); {
	case i >= len(v):
		return append(v, e.item(s, 3))
	case e.rng.IntN(4) == 0:
		return slices.Delete(v, i, i+1)
	default:
		v[i] = e.edited(v[i], s.Item())
		return v
	}
}

// other returns another scalar of the same type.
func (e *editor) other(v any, s *kinds.Shape) any {
	for range 10 {
		if w := e.scalar(s); !object.Equal(v, w) {
			return w
		}
	}
	return fmt.Sprint(v, "x")
}

// scalar returns a value that decodes.
func (e *editor) scalar(s *kinds.Shape) any {
	some := []any{"x", "eA==", "7", "Zmlm", int64(7), int64(0), true, false, "5Gi", "2026-11-20T10:00:00Z"}
	e.rng.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	for _, v := range some {
		if s == nil || s.Form != kinds.FormLeaf || s.Canonical == nil {
			return v
		}
		if _, ok := s.Canonical(v); ok {
			return v
		}
	}
	return "x"
}

// invented returns a new value of a shape.
func (e *editor) invented(s *kinds.Shape, depth int) any {
	switch {
	case s == nil || s.Form == kinds.FormLeaf || s.Form == kinds.FormPlain:
		return e.scalar(s)
	case s.Form == kinds.FormList:
		return []any{e.item(s, depth)}
	case s.Form == kinds.FormMap:
		return map[string]any{"added": e.invented(s.Elem, depth-1)}
	}
	out := map[string]any{}
	names := object.SortedKeys(s.Fields)
	for range 3 {
		if len(names) > 0 && depth > 0 {
			name := names[e.rng.IntN(len(names))]
			out[name] = e.invented(s.Field(name), depth-1)
		}
	}
	return out
}

// item returns a new item of a list, with its keys.
func (e *editor) item(list *kinds.Shape, depth int) any {
	v := e.invented(list.Item(), depth-1)
	m, ok := v.(map[string]any)
	for _, key := range list.ListRule().Keys {
		if ok && m[key] == nil {
			m[key] = e.invented(list.Item().Field(key), 0)
		}
	}
	return v
}
