package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// State is one side of an object (old, desired, live or result) at one place.
type State struct {
	// Value is the normal form with defaults. Present reports whether the side has the place.
	Value   any
	Present bool
	// Written is what the manifest says, zero values and nulls included. Named reports whether the manifest names the place.
	Written any
	Named   bool
}

// Field returns the state of a field or map key. What stands below a null of a manifest counts as named: it is absent on purpose.
func (s State) Field(name string) State {
	var out State
	if m, ok := s.Value.(map[string]any); ok {
		out.Value, out.Present = m[name], object.Has(m, name)
	}
	switch m := s.Written.(type) {
	case map[string]any:
		out.Written, out.Named = m[name], object.Has(m, name)
	case nil:
		out.Named = s.Named
	}
	return out
}

// Item returns the state of the list item that a step names, or of all items of that name together. The written list has its items at the
// same indexes as the normal form.
func (s State) Item(step object.Step) State {
	list, _ := s.Value.([]any)
	written, _ := s.Written.([]any)
	var values, texts []any
	for _, i := range step.Indexes(list) {
		values = append(values, list[i])
		if i < len(written) {
			texts = append(texts, written[i])
		}
	}
	if len(values) == 0 {
		return State{Named: s.Named && s.Written == nil}
	}
	return State{Value: object.OneOrList(values), Present: true, Written: object.OneOrList(texts), Named: len(texts) > 0}
}

// Shown returns the state as people see it: a value that a manifest writes is there, also if the server would leave it out.
func (s State) Shown() State {
	if !s.Present && s.Named && s.Written != nil {
		s.Value, s.Present = s.Written, true
	}
	return s
}

// IsUnstored reports whether a manifest writes more than a zero value, and the server stores nothing.
func (s State) IsUnstored() bool { return !s.Present && s.Named && !object.IsZero(s.Written) }

// WrittenOr returns what the manifest writes, or else the given value. A finding on a whole subtree shows it, because the normal form
// has all defaults.
func (s State) WrittenOr(value any) any {
	if value != nil && s.Named && s.Written != nil {
		return s.Written
	}
	return value
}

// Same reports whether the server would store the same for both states.
func (s State) Same(o State) bool {
	return s.Present == o.Present && (!s.Present || object.Equal(s.Value, o.Value))
}

// Object returns the value if it is a map, such as a whole object, and nil otherwise.
func (s State) Object() map[string]any {
	m, _ := s.Value.(map[string]any)
	return m
}

// Lookup returns the state at a path below s.
func (s State) Lookup(path object.Path) State {
	return object.Follow(s, path, State.Field, State.Item)
}
