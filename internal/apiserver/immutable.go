package apiserver

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// immutability is one line of the table of immutable fields (immutable_table.go). Its paths are those of an object.FieldTree.
type immutability struct {
	// kind is "Kind" or "Kind.group".
	kind string
	// paths are the immutable fields.
	paths []string
	// when is the condition under which they are immutable; nil means always.
	when func(change) bool
	// except are fields below paths that may change.
	except []string
	// unless are fields below paths that may change in some cases.
	unless map[string]exception
	// source is the function of Kubernetes that has the rule.
	source string
}

// exception reports whether the API server accepts the change of one value; was or is may be nil if the value is absent.
type exception func(c change, was, is any) bool

// change is one update of an object.
type change struct {
	// was and is are the normal forms before and after the update.
	was, is map[string]any
	// live is the object as it was read, with its status.
	live map[string]any
}

// immutableFields lists the immutable fields that an update changes.
func immutableFields(key object.Key, c change) []object.Path {
	var out []object.Path
	table := immutables()
	for i := range table {
		if line := &table[i]; line.kind == key.GroupKind().String() && (line.when == nil || line.when(c)) {
			out = append(out, line.changed(c)...)
		}
	}
	slices.SortFunc(out, func(a, b object.Path) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(out, func(a, b object.Path) bool { return a.Equal(b) })
}

// changed lists the fields of one line that an update changes.
func (l *immutability) changed(c change) []object.Path {
	mutable := &mutableFields{}
	for _, path := range l.except {
		mutable.Set(path, always)
	}
	for path, accepts := range l.unless {
		mutable.Set(path, accepts)
	}
	var out []object.Path
	for _, text := range l.paths {
		path := object.TablePath(text)
		was, _ := path.Lookup(c.was)
		is, _ := path.Lookup(c.is)
		out = append(out, changedFields(mutable.At(path), c, path, was, is)...)
	}
	return out
}

// always is the exception for a field that may change in every case.
func always(change, any, any) bool { return true }

// mutableFields are the fields below an immutable one that may change.
type mutableFields = object.FieldTree[exception]

// changedFields lists the immutable fields in which two values at path differ. It goes down only if something below may change, so that
// it names the immutable field and not the parts of it.
func changedFields(mutable *mutableFields, c change, path object.Path, was, is any) []object.Path {
	accepts := mutable.Value()
	switch {
	case object.Equal(was, is), accepts != nil && accepts(c, was, is):
		return nil
	case mutable.HasFields() && isMapOrNil(was) && isMapOrNil(is):
		found := changedBelow(mutable, c, path, was, is)
		if len(found) == 0 || was != nil && is != nil {
			return found
		}
	case mutable.HasItems():
		if found, ok := changedItems(mutable, c, path, was, is); ok {
			return found
		}
	}
	return []object.Path{path}
}

// isMapOrNil reports whether a value can be compared field by field.
func isMapOrNil(v any) bool {
	_, ok := v.(map[string]any)
	return ok || v == nil
}

// changedBelow compares two maps field by field.
func changedBelow(mutable *mutableFields, c change, path object.Path, was, is any) []object.Path {
	names := map[string]bool{}
	for _, side := range []any{was, is} {
		m, _ := side.(map[string]any)
		for name := range m {
			names[name] = true
		}
	}
	var out []object.Path
	for _, name := range object.SortedKeys(names) {
		next := mutable.Next(object.Step{Name: name})
		out = append(out, changedFields(next, c, path.Field(name), object.Field(was, name), object.Field(is, name))...)
	}
	return out
}

// changedItems compares two lists item by item, as the API server does; it returns false if their lengths differ.
func changedItems(mutable *mutableFields, c change, path object.Path, was, is any) ([]object.Path, bool) {
	before, _ := was.([]any)
	after, _ := is.([]any)
	if len(before) != len(after) {
		return nil, false
	}
	var out []object.Path
	for i := range before {
		step := kinds.StepAt(i, after[i], kinds.ListRule{Keys: []string{"name"}})
		out = append(out, changedFields(mutable.Next(step), c, path.With(step), before[i], after[i])...)
	}
	return out, true
}
