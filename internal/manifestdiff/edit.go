package manifestdiff

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// target is one field with its new value, or nil if it should be absent.
type target struct {
	path  object.Path
	value any
}

// gone replaces a list item that is removed until all targets are reached, so that indexes stay right.
type gone struct{}

// reached sets a target in an object. Text is the object of the document, normal is its normal form, where paths name list items, and
// root is the copy of text that is changed. It returns false if the object has no place for the target.
func (t target) reached(root, text, normal map[string]any) bool {
	if len(t.path) == 0 || isAmbiguous(t.path, normal) {
		return false
	}
	if t.path[0].Name == "data" && text["stringData"] != nil {
		return false // the manifest of a Secret has it in clear, and live in base64
	}
	depth, pointer := 0, object.Pointer{}
	for depth < len(t.path) {
		next, ok := t.path[:depth+1].PointerInto(text, normal)
		if !ok {
			break
		}
		depth, pointer = depth+1, next
	}
	switch rest := t.path[depth:]; {
	case len(rest) == 0 && t.value == nil:
		pointer.Edit(root, func(any) any { return gone{} })
	case len(rest) == 0:
		pointer.Edit(root, func(any) any { return object.Copy(t.value) })
	case t.value == nil:
		return false // the text does not name what is removed: it is a default
	default:
		return add(root, pointer, rest, object.Copy(t.value))
	}
	return true
}

// isAmbiguous reports whether a path leads through a list with several items of the same name.
func isAmbiguous(path object.Path, root any) bool {
	for i, s := range path {
		list, _ := path[:i].Lookup(root)
		if items, ok := list.([]any); ok && len(s.Indexes(items)) > 1 {
			return true
		}
	}
	return false
}

// add adds a value below the place of a pointer.
func add(root map[string]any, pointer object.Pointer, rest object.Path, value any) bool {
	if slices.ContainsFunc(rest[:len(rest)-1], func(s object.Step) bool { return s.Form != object.FieldStep }) {
		return false // a part of an item that the list lacks
	}
	fits := true
	pointer.Edit(root, func(holder any) any {
		holder, fits = with(holder, rest, value)
		return holder
	})
	return fits
}

// with returns a map or list with a value at a path that it lacks, or false if holder is something else.
func with(holder any, rest object.Path, value any) (any, bool) {
	if len(rest) == 0 {
		return value, true
	}
	if rest[0].Form != object.FieldStep {
		list, ok := holder.([]any)
		return append(list, value), ok || holder == nil
	}
	m, ok := holder.(map[string]any)
	if !ok && holder != nil {
		return holder, false
	}
	if m == nil {
		m = map[string]any{}
	}
	m[rest[0].Name], ok = with(m[rest[0].Name], rest[1:], value)
	return m, ok
}

// swept returns a value without the items that are gone.
func swept(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if v[name] = swept(below); below == (gone{}) {
				delete(v, name)
			}
		}
	case []any:
		kept := v[:0]
		for _, item := range v {
			if item != (gone{}) {
				kept = append(kept, swept(item))
			}
		}
		return kept
	}
	return v
}

// write changes the text of a document so that it has the wanted object, and nothing else.
func (d *document) write(wanted map[string]any) error {
	file, err := valuesfile.Parse("manifest", []byte(d.body))
	if err != nil {
		return err
	}
	var edits []valuesfile.Edit
	for _, name := range object.SortedKeys(wanted) {
		if !object.Identical(d.content[name], wanted[name]) {
			edits = append(edits, valuesfile.Edit{Path: []any{name}, Value: wanted[name]})
		}
	}
	for _, name := range object.SortedKeys(d.content) {
		if _, stays := wanted[name]; !stays {
			edits = append(edits, valuesfile.Edit{Path: []any{name}, Remove: true})
		}
	}
	text, err := file.Apply(edits...)
	if err == nil {
		d.edited = string(text)
	}
	return err
}
