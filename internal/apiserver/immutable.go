package apiserver

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// immutability is one line of the table of fields that the API server lets nobody change (immutable_table.go).
type immutability struct {
	// Kind is "Kind" or "Kind.group".
	Kind string
	// paths are the fields, with a dot between their names. After a slash stands one key of a map, which may have dots.
	paths []string
	// when names a condition; nil means always.
	when func(change) bool
	// except are fields below paths that may change. In them [] is any item of a list.
	except []string
	// unless are fields below paths whose change the server takes in some cases.
	unless map[string]judgement
	// source is the function of Kubernetes that has the rule.
	source string
}

// judgement tells whether the server takes a change of one value, which is nil where it is absent.
type judgement func(c change, was, is any) bool

// change is one update of an object, as the API server judges it.
type change struct {
	// was and is are the normal forms of live and of result.
	was, is map[string]any
	// live is what was read, with its status.
	live map[string]any
}

// immutableFields lists the fields that a change touches and the server does not let change.
func immutableFields(key object.Key, c change) []object.Path {
	var out []object.Path
	table := Immutables()
	for i := range table {
		if line := &table[i]; line.Kind == key.GroupKind().String() && (line.when == nil || line.when(c)) {
			out = append(out, line.touched(c)...)
		}
	}
	slices.SortFunc(out, func(a, b object.Path) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(out, func(a, b object.Path) bool { return a.Equal(b) })
}

func (l *immutability) touched(c change) []object.Path {
	free := &freedom{}
	for _, path := range l.except {
		free.at(path).judge = always
	}
	for path, judge := range l.unless {
		free.at(path).judge = judge
	}
	var out []object.Path
	for _, text := range l.paths {
		path, below := object.Path{}, free
		was, is := any(c.was), any(c.is)
		for _, name := range namesOf(text) {
			path, below = path.Field(name), below.below(name)
			was, is = object.Field(was, name), object.Field(is, name)
		}
		out = append(out, below.touched(c, path, was, is)...)
	}
	return out
}

func always(change, any, any) bool { return true }

// namesOf takes a path of the table apart.
func namesOf(text string) []string {
	fields, key, keyed := strings.Cut(text, "/")
	names := strings.Split(fields, ".")
	if keyed {
		names = append(names, key)
	}
	return names
}

// freedom is what may change at a place and below it. A nil freedom is a place where nothing may.
type freedom struct {
	judge  judgement
	fields map[string]*freedom
	items  *freedom
}

// at gives the node for a path of the table, and makes it where it is missing.
func (f *freedom) at(text string) *freedom {
	for _, name := range namesOf(text) {
		name, list := strings.CutSuffix(name, "[]")
		if f.fields == nil {
			f.fields = map[string]*freedom{}
		}
		if f.fields[name] == nil {
			f.fields[name] = &freedom{}
		}
		f = f.fields[name]
		if list {
			if f.items == nil {
				f.items = &freedom{}
			}
			f = f.items
		}
	}
	return f
}

// below gives the node of a field, nil where nothing in it may change.
func (f *freedom) below(name string) *freedom {
	if f == nil {
		return nil
	}
	return f.fields[name]
}

// touched lists what differs between two values and may not. It goes down only where something below may change, so that it
// names the field that is fixed and not its parts.
func (f *freedom) touched(c change, path object.Path, was, is any) []object.Path {
	switch {
	case object.Equal(was, is), f != nil && f.judge != nil && f.judge(c, was, is):
		return nil
	case f != nil && f.fields != nil && isMapOrNil(was) && isMapOrNil(is):
		found := f.touchedFields(c, path, was, is)
		if len(found) == 0 || was != nil && is != nil {
			return found
		}
	case f != nil && f.items != nil:
		if found, ok := f.touchedItems(c, path, was, is); ok {
			return found
		}
	}
	return []object.Path{path}
}

func isMapOrNil(v any) bool {
	_, ok := v.(map[string]any)
	return ok || v == nil
}

func (f *freedom) touchedFields(c change, path object.Path, was, is any) []object.Path {
	names := map[string]bool{}
	for _, side := range []any{was, is} {
		m, _ := side.(map[string]any)
		for name := range m {
			names[name] = true
		}
	}
	var out []object.Path
	for _, name := range object.SortedKeys(names) {
		out = append(out, f.fields[name].touched(c, path.Field(name), object.Field(was, name), object.Field(is, name))...)
	}
	return out
}

// touchedItems compares lists item by item, as the server does; false where their lengths differ.
func (f *freedom) touchedItems(c change, path object.Path, was, is any) ([]object.Path, bool) {
	before, _ := was.([]any)
	after, _ := is.([]any)
	if len(before) != len(after) {
		return nil, false
	}
	var out []object.Path
	for i := range before {
		step, named := kinds.StepTo(after[i], kinds.ListRule{Keys: []string{"name"}})
		if !named {
			step = object.Step{Form: object.IndexStep, Index: i}
		}
		out = append(out, f.items.touched(c, path.With(step), before[i], after[i])...)
	}
	return out, true
}
