package search

import (
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// A mark in a map shows where the map appears in a rendering. It is valid as a name of any object. One rendering has marks in several
// maps, so each key ends in a number and a letter: no key is a part of another one.
const (
	markPrefix = "helmdriftmark"
	markValue  = "helmdriftvalue"
)

// maxMarks is how many maps get a mark.
const maxMarks = 40

// marks returns the attempts that put a mark into the maps that the template may read. One rendering with all marks shows where each map
// goes. Reading the template cannot show that for certain, because of toYaml, tpl and merge.
func (f *field) marks(nodes []leaf) []attempt {
	if !f.Present {
		return nil
	}
	var out []attempt
	for _, l := range nodes {
		m, isMap := l.value.(map[string]any)
		if !isMap && l.value != nil || len(out) >= maxMarks || !l.read {
			continue
		}
		// A mark in a map of settings does no harm, but a chart may refuse a key that it does not know.
		if isMap && len(m) > 0 && !isFree(m) {
			continue
		}
		key := markPrefix + strconv.Itoa(len(out)) + "x"
		path := append(l.path[:len(l.path):len(l.path)], key)
		out = append(out, attempt{edits: []Edit{{Path: path, Value: markValue}}, score: l.score, mark: l.path, markKey: key})
	}
	return out
}

// isFree reports whether a map is likely to accept other keys. A map with an empty list is rather a group of settings.
func isFree(m map[string]any) bool {
	for _, v := range m {
		if list, ok := v.([]any); ok && len(list) == 0 {
			return false
		}
	}
	return true
}

// extensions returns the attempts that follow from a rendering with a mark: they set the rest of the field's path below the mark.
func (f *field) extensions(a attempt, r Rendering) []attempt {
	o, found := r.Objects[f.Key]
	if !found {
		return nil
	}
	place := f.place(o.Content)
	var out []attempt
	for _, at := range findMark(o.Content, a.markKey, nil) {
		parent := at[:len(at)-1]
		// The map appears above the field: the missing rest of the path becomes keys of the map, such as limits.memory below resources. Or
		// the map appears as the field itself, and the whole live value replaces it.
		if len(parent) <= len(place) && slices.Equal(parent, place[:len(parent)]) {
			path := slices.Clone(a.mark)
			for _, name := range place[len(parent):] {
				path = append(path, name)
			}
			out = append(out, attempt{edits: []Edit{{Path: path, Value: f.text()}}, score: a.score + 20})
		}
		out = append(out, f.textItem(a, r, at)...)
		// A map of names and values appears as a list of items with a name and a value.
		if at[len(at)-1] == "name" {
			out = append(out, f.namedItem(a)...)
		}
	}
	return out
}

// textItem returns the attempts that follow from a mark within a text: a map of names and values that appears as arguments or lines. In a
// new text of live, the name and the value are where the mark and its value are. Charts write arguments as "--{{ $key }}={{ $value }}",
// and lines of configuration in much the same way.
func (f *field) textItem(a attempt, r Rendering, at object.Pointer) []attempt {
	v, _ := at.Lookup(r.Objects[f.Key].Content)
	text, ok := v.(string)
	if !ok || text == a.markKey {
		return nil
	}
	before, rest, _ := strings.Cut(text, a.markKey)
	between, after, found := strings.Cut(rest, markValue)
	if !found || between == "" {
		return nil
	}
	added, _, _ := f.itemChanges()
	var out []attempt
	for _, item := range added {
		text, _ := item.(string)
		text, starts := strings.CutPrefix(text, before)
		text, ends := strings.CutSuffix(text, after)
		if name, value, ok := strings.Cut(text, between); starts && ends && ok {
			out = append(out, attempt{edits: []Edit{{Path: append(slices.Clone(a.mark), name), Value: value}}, score: a.score + 20})
		}
	}
	return out
}

// namedItem returns the attempts that set the value of an item under its name. Charts write environment variables from a map in this way.
func (f *field) namedItem(a attempt) []attempt {
	for i, step := range f.Path {
		if step.Form != object.KeyStep {
			continue
		}
		for _, key := range step.Keys {
			name, ok := key.Value.(string)
			if !ok || key.Name != "name" {
				continue
			}
			value := f.text()
			if m, isMap := value.(map[string]any); isMap && i == len(f.Path)-1 {
				// The whole item was added; the chart makes its name and its value from one entry.
				value = m["value"]
			}
			if object.IsScalar(value) {
				path := append(slices.Clone(a.mark), name)
				return []attempt{{edits: []Edit{{Path: path, Value: value}}, score: a.score + 20}}
			}
		}
	}
	return nil
}

// place returns the pointer of the field in a text: that of the deepest part of the field's path that the text has, with the names below
// it. The names end before an item of a list that the text lacks, because a key of the marked map cannot make a list item.
func (f *field) place(content map[string]any) object.Pointer {
	form := f.Form(f.Key, content)
	for n := len(f.Path); ; n-- {
		pointer, found := f.Path[:n].PointerInto(content, form)
		if !found {
			continue // every text has the empty path
		}
		for _, step := range f.Path[n:] {
			if step.Form != object.FieldStep {
				break
			}
			pointer = append(pointer, step.Name)
		}
		return pointer
	}
}

// findMark returns the pointers of the mark in a value: of keys that are the mark, and of texts that contain it, such as an argument.
func findMark(v any, mark string, at object.Pointer) []object.Pointer {
	var out []object.Pointer
	switch v := v.(type) {
	case map[string]any:
		for _, key := range object.SortedKeys(v) {
			below := append(at[:len(at):len(at)], key)
			if key == mark {
				out = append(out, below)
				continue
			}
			out = append(out, findMark(v[key], mark, below)...)
		}
	case []any:
		for i, item := range v {
			out = append(out, findMark(item, mark, append(at[:len(at):len(at)], strconv.Itoa(i)))...)
		}
	case string:
		if strings.Contains(v, mark) {
			out = append(out, at)
		}
	}
	return out
}
