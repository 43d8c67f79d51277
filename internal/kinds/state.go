package kinds

import (
	"maps"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// State is one side of an object (old, desired, live or result) at one place.
type State struct {
	// Value is the normal form with defaults. Present reports whether the side has the place.
	Value   any
	Present bool
	// Written is what the manifest says, including zero values and nulls. Named reports whether the manifest names the place.
	Written any
	Named   bool
}

// Field returns the state of a field or map key. Everything below a null of a manifest counts as named, because it is absent on
// purpose.
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

// Item returns the state of the list item that a step names, or of all items with that name together. The written list has its items at
// the same indexes as the normal form.
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

// Shown returns the state for people: it has every value that a manifest writes, even if the server would leave it out.
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

// visitDeclared is called for a value of a custom resource with the schema of the value; nil if the schema of the resource does not declare
// the field.
type visitDeclared = func(path object.Path, v any, schema map[string]any)

// WalkDeclared calls visit for every value of a custom resource. It does not visit what is below a value that the schema does not declare,
// values that the schema leaves open, the fields that every object has, or a status that is a subresource, which no write of the object
// changes.
func (s *CustomSchema) WalkDeclared(version string, obj map[string]any, visit visitDeclared) {
	v, _ := s.version(version)
	if object.Has(obj, "status") && !v.plainStatus {
		obj = maps.Clone(obj)
		delete(obj, "status")
	}
	walkDeclared(obj, v.schema, nil, visit)
}

func walkDeclared(v any, schema map[string]any, path object.Path, visit visitDeclared) {
	visitNext := func(path object.Path, v any, schema map[string]any) {
		visit(path, v, schema)
		if schema != nil {
			walkDeclared(v, schema, path, visit)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if below, decided := declared(schema, name, len(path) == 0); decided {
				visitNext(path.Field(name), v[name], below)
			}
		}
	case []any:
		if items := object.Child(schema, "items"); items != nil {
			for i, item := range v {
				visitNext(path.Index(i), item, items)
			}
		}
	}
}

// declared returns the schema of a field, nil if the schema does not declare it. Decided is false if the schema leaves the field open, as
// one without properties does. IsRoot reports whether the schema is that of the whole object.
func declared(schema map[string]any, name string, isRoot bool) (below map[string]any, decided bool) {
	isMeta := name == "apiVersion" || name == "kind" || name == "metadata"
	if isMeta && (isRoot || schema["x-kubernetes-embedded-resource"] == true) {
		return nil, false
	}
	if below = object.Child(object.Child(schema, "properties"), name); below != nil {
		return below, true
	}
	if below = object.Child(schema, "additionalProperties"); below != nil {
		return below, true
	}
	closed := len(object.Child(schema, "properties")) > 0 && schema["additionalProperties"] == nil
	return nil, closed && !isPreserving(schema)
}
