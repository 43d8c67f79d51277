package search

import (
	"reflect"
	"slices"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Edit is one change of the values file.
type Edit struct {
	// Path has keys of maps as strings and indexes of lists as ints.
	Path []any
	// Value is the new value. Null means that a default of the chart is dropped.
	Value any
	// Remove removes the value from the file.
	Remove bool
}

// Apply returns the content of a values file after edits. Values are what the templates see. Before an item of a default list changes,
// Apply copies the list into the file, because Helm replaces lists as a whole.
func Apply(edited, values map[string]any, edits []Edit) map[string]any {
	out, _ := object.Copy(edited).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	for _, e := range edits {
		// An index into a list that the file does not have would make a list with this one item.
		if i := firstIndex(e.Path); i >= 0 {
			if _, found := valuesfile.ValueAt(out, e.Path[:i]); !found {
				list, _ := valuesfile.ValueAt(values, e.Path[:i])
				out, _ = set(out, e.Path[:i], object.Copy(list)).(map[string]any)
			}
		}
		if e.Remove {
			out, _ = remove(out, e.Path).(map[string]any)
		} else {
			out, _ = set(out, e.Path, object.Copy(e.Value)).(map[string]any)
		}
	}
	return out
}

// seen returns what the templates would see after edits, as far as that is known without rendering. Only the order of the leaves and
// the copies of lists depend on it. Proofs do not, because they are rendered.
func seen(values map[string]any, edits []Edit) map[string]any {
	out, _ := object.Copy(values).(map[string]any)
	for _, e := range edits {
		switch {
		// To Helm, a null removes a default, but a null in a list stays.
		case e.Remove, e.Value == nil && firstIndex(e.Path) < 0:
			out, _ = remove(out, e.Path).(map[string]any)
		default:
			out, _ = set(out, e.Path, object.Copy(e.Value)).(map[string]any)
		}
	}
	return out
}

// firstIndex returns the position of the first list index in a path, or -1 if it has none.
func firstIndex(path []any) int {
	return slices.IndexFunc(path, func(step any) bool {
		_, isIndex := step.(int)
		return isIndex
	})
}

// set sets the value at a path, in place, and returns the root. An index beyond the end appends. As in Helm, a map replaces a scalar.
func set(v any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		m, _ := v.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		m[step] = set(m[step], path[1:], value)
		return m
	case int:
		list, _ := v.([]any)
		if step >= len(list) {
			return append(list, set(nil, path[1:], value))
		}
		list[step] = set(list[step], path[1:], value)
		return list
	}
	return v
}

// remove removes the value at a path, in place, and returns the root.
func remove(v any, path []any) any {
	if len(path) == 0 {
		return v
	}
	switch step := path[0].(type) {
	case string:
		m, _ := v.(map[string]any)
		if _, found := m[step]; !found {
			return v
		}
		if len(path) == 1 {
			delete(m, step)
		} else {
			m[step] = remove(m[step], path[1:])
		}
		return m
	case int:
		list, _ := v.([]any)
		if step >= len(list) {
			return v
		}
		if len(path) == 1 {
			return append(list[:step:step], list[step+1:]...)
		}
		list[step] = remove(list[step], path[1:])
		return list
	}
	return v
}

// difference returns the edits that turn one content of the values file into another. Lists change item by item if only the end differs,
// or if they have as many items. Joining the edits of single fields would not do: a later field may change what an earlier one set, and a
// patch should have each place once.
func difference(before, after any, path []any) []Edit {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	if a, ok := before.(map[string]any); ok {
		if b, ok := after.(map[string]any); ok && (len(b) > 0 || len(path) == 0) {
			return mapDifference(a, b, path)
		}
	}
	if a, ok := before.([]any); ok {
		if b, ok := after.([]any); ok && len(a) > 0 && len(b) >= len(a) {
			return listDifference(a, b, path)
		}
	}
	return []Edit{{Path: path, Value: after}}
}

func mapDifference(a, b map[string]any, path []any) []Edit {
	var out []Edit
	for _, key := range object.AllKeys(a, b) {
		before, had := a[key]
		after, has := b[key]
		below := append(path[:len(path):len(path)], key)
		switch {
		case !has:
			out = append(out, Edit{Path: below, Remove: true})
		case !had:
			out = append(out, added(after, below)...)
		default:
			out = append(out, difference(before, after, below)...)
		}
	}
	return out
}

// added returns the edits that add a value: one for each value inside maps, so that edits of one map do not overwrite each other.
func added(v any, path []any) []Edit {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return []Edit{{Path: path, Value: v}}
	}
	return mapDifference(nil, m, path)
}

func listDifference(a, b []any, path []any) []Edit {
	var out []Edit
	for i := range b {
		below := append(path[:len(path):len(path)], i)
		if i >= len(a) {
			out = append(out, Edit{Path: below, Value: b[i]})
		} else {
			out = append(out, difference(a[i], b[i], below)...)
		}
	}
	return out
}

// Overlay returns the values that turn one content of a values file into another when they are merged over it, as Helm merges the files of
// -f: maps by their keys, everything else as a whole. A null removes a value.
func Overlay(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range object.AllKeys(before, after) {
		was, had := before[key]
		is, has := after[key]
		switch {
		case !has:
			out[key] = nil
		case had && reflect.DeepEqual(was, is):
		default:
			wasMap, ok := was.(map[string]any)
			isMap, ok2 := is.(map[string]any)
			if ok && ok2 {
				out[key] = Overlay(wasMap, isMap)
			} else {
				out[key] = is
			}
		}
	}
	return out
}

// Removes reports whether an overlay has a null for a value of the content that it is merged over.
func Removes(content, overlay map[string]any) bool {
	for key, v := range overlay {
		was, _ := content[key].(map[string]any)
		below, isMap := v.(map[string]any)
		if v == nil && content[key] != nil || isMap && Removes(was, below) {
			return true
		}
	}
	return false
}

// Name returns the path of the edit in the form that people use.
func (e Edit) Name() string { return nameOf(e.Path) }
