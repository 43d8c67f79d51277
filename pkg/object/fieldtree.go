package object

import (
	"fmt"
	"slices"
	"strings"
)

// FieldTree holds values at places of objects that a table names:
//
//	spec.ports[].nodePort                      dots separate fields, [] is any item of a list
//	metadata.labels/controller-uid             after a slash: one key of a map, member of a set, or first key of a list item
//	metadata.annotations/pv.kubernetes.io/*    which may have dots and slashes, and is a prefix if it ends in *
//
// The zero tree and a nil tree hold nothing.
type FieldTree[T any] struct {
	value    T
	fields   map[string]*FieldTree[T]
	items    *FieldTree[T]
	prefixes []prefixTree[T]
}

// prefixTree holds the value for all keys that begin with prefix.
type prefixTree[T any] struct {
	prefix string
	tree   *FieldTree[T]
}

// TablePath returns the path of a field that a table names. It must not lead through a list.
func TablePath(text string) Path {
	names, key, keyed := splitTablePath(text)
	if keyed {
		names = append(names, key)
	}
	var path Path
	for _, name := range names {
		path = path.Field(name)
	}
	return path
}

// splitTablePath returns the fields of a table's path, and the key after the slash if there is one.
func splitTablePath(text string) (fields []string, key string, keyed bool) {
	text, key, keyed = strings.Cut(text, "/")
	return strings.Split(text, "."), key, keyed
}

// Set sets the value at a table's path and replaces an earlier one.
func (t *FieldTree[T]) Set(path string, value T) {
	fields, key, keyed := splitTablePath(path)
	for _, name := range fields {
		name, isList := strings.CutSuffix(name, "[]")
		t = t.makeField(name)
		if isList {
			if t.items == nil {
				t.items = &FieldTree[T]{}
			}
			t = t.items
		}
	}
	prefix, open := strings.CutSuffix(key, "*")
	switch {
	case open:
		t.prefixes = append(t.prefixes, prefixTree[T]{prefix, &FieldTree[T]{value: value}})
	case keyed:
		t.makeField(key).value = value
	default:
		t.value = value
	}
}

func (t *FieldTree[T]) makeField(name string) *FieldTree[T] {
	if t.fields == nil {
		t.fields = map[string]*FieldTree[T]{}
	}
	if t.fields[name] == nil {
		t.fields[name] = &FieldTree[T]{}
	}
	return t.fields[name]
}

// Value returns the value at the root of the tree, or the zero value if there is none.
func (t *FieldTree[T]) Value() T {
	if t == nil {
		var none T
		return none
	}
	return t.value
}

// HasFields reports whether the tree names fields or keys below its root.
func (t *FieldTree[T]) HasFields() bool { return t != nil && t.fields != nil }

// HasItems reports whether the root of the tree is a list with places named in its items.
func (t *FieldTree[T]) HasItems() bool { return t != nil && t.items != nil }

// At returns the part of the tree at a path and below it, or nil if that holds nothing.
func (t *FieldTree[T]) At(path Path) *FieldTree[T] {
	for _, step := range path {
		t = t.Next(step)
	}
	return t
}

// Next returns the part of the tree after one step, or nil if that holds nothing. If the table names the item of the step, Next returns
// the part of that item, not the part of all items.
func (t *FieldTree[T]) Next(step Step) *FieldTree[T] {
	if t == nil {
		return nil
	}
	name := tableKey(step)
	if next := t.fields[name]; next != nil {
		return next
	}
	if step.Form != FieldStep && t.items != nil {
		return t.items
	}
	if i := slices.IndexFunc(t.prefixes, func(p prefixTree[T]) bool { return strings.HasPrefix(name, p.prefix) }); i >= 0 {
		return t.prefixes[i].tree
	}
	return nil
}

// tableKey returns the name of a step in a table: a field, a member of a set, or the first key of an item.
func tableKey(step Step) string {
	switch step.Form {
	case FieldStep:
		return step.Name
	case SetStep:
		return fmt.Sprint(step.Value)
	case KeyStep:
		return fmt.Sprint(step.Keys[0].Value)
	case IndexStep:
	}
	return ""
}

// MatchName reports whether a name matches a pattern of a table or a rule. The pattern is the name itself, or a prefix of it followed by *.
func MatchName(pattern, name string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
