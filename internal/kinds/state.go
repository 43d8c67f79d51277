package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// State is one of old, desired, live and result at one place of an object.
type State struct {
	// Value is the normal form with defaults; present is false where the side has no such field.
	Value   any
	Present bool
	// Written is what the manifest says, zero values and nulls included; named is false where it says nothing.
	Written any
	Named   bool
}

// At gives the side below a field or map key. Whatever stands below a null that a manifest wrote is named by it: absent on purpose.
func (s State) At(name string) State {
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

// Item returns the side at the list item that a step names, or at all items of that name together. The written list has its items
// in the same places.
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
	return State{Value: object.Together(values), Present: true, Written: object.Together(texts), Named: len(texts) > 0}
}

// Shown is the value for people: what the server would leave out, but a manifest wrote, counts as there.
func (s State) Shown() State {
	if !s.Present && s.Named && s.Written != nil {
		s.Value, s.Present = s.Written, true
	}
	return s
}

// Text prefers what the manifest says over its normal form, for a whole subtree: nobody wants to read its defaults.
func (s State) Text(shown any) any {
	if shown != nil && s.Named && s.Written != nil {
		return s.Written
	}
	return shown
}

// Same compares two sides as the server would store them.
func (s State) Same(o State) bool {
	return s.Present == o.Present && (!s.Present || object.Equal(s.Value, o.Value))
}

// OrNil gives the value, nil where the side is absent: the contract leaves the key out.
func (s State) OrNil() any {
	if !s.Present {
		return nil
	}
	return s.Value
}

// Object gives the side's whole object, nil where it is absent.
func (s State) Object() map[string]any {
	m, _ := s.Value.(map[string]any)
	return m
}

// StepTo names a list item by its keys, or as a member of a set; false where it cannot be named.
func StepTo(item any, rule ListRule) (object.Step, bool) {
	if rule.Set {
		return object.Step{Form: object.SetStep, Value: item}, object.IsScalar(item)
	}
	m, ok := item.(map[string]any)
	if !ok {
		return object.Step{}, false
	}
	step := object.Step{Form: object.KeyStep}
	for _, name := range rule.Keys {
		v, ok := m[name]
		if !ok || !object.IsScalar(v) {
			return object.Step{}, false
		}
		step.Keys = append(step.Keys, object.ListKey{Name: name, Value: v})
	}
	return step, len(step.Keys) > 0
}

// Down returns the state at a path below it.
func (s State) Down(path object.Path) State {
	for _, step := range path {
		if step.Form == object.FieldStep {
			s = s.At(step.Name)
		} else {
			s = s.Item(step)
		}
	}
	return s
}
