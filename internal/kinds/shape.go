package kinds

import (
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Shape is what the API says of a value: which fields it has, which defaults belong to it, how the items of its lists are named, and what
// the server leaves out when it writes it. Shapes of native kinds come from Go types (catalog.go), and shapes of custom resources from
// their definition (custom_schema.go). A nil shape describes nothing: the value is plain JSON.
type Shape struct {
	Form Form
	// Custom marks the shape of a whole object whose Go type is not known.
	Custom bool
	// PlainStatus is set for a custom kind without a status subresource: the status of such an object is a field like any other.
	PlainStatus bool
	Fields      map[string]*structField
	// embedded are the fields that hold a struct and not a pointer. Such a struct exists even if it is not written; pointers and lists do
	// not.
	embedded []string
	// required are the fields that the Go type always writes, because their tag lacks omitempty.
	required []string
	// defaults hold wherever the struct occurs. They come from the table for native kinds, and from the schema for custom resources.
	defaults map[string]any
	// rule sets the defaults that depend on a sibling. Only native kinds have one.
	rule func(map[string]any)
	// Elem is the shape of the items of a list or of the values of a map.
	Elem *Shape
	List ListRule
	// nulls is the meaning of a null in a map, or among the unknown fields of a struct.
	nulls nullRule
	// closed marks a struct whose unknown fields the server drops.
	closed bool
	// Quantity marks the API's own quantities.
	Quantity bool
	// alike reports whether two values mean the same although the server stores each as it is written. It is nil for most shapes of native
	// kinds.
	alike func(a, b any) bool
	// Canonical returns the canonical form of a scalar, or of a value whose type marshals itself. It returns false if the value does
	// not decode.
	Canonical func(any) (any, bool)
	// respells is set if Canonical may return another value than it gets; see canonicalOf.
	respells bool
	// schema is set for a leaf that usually is a schema of a definition. It is the shape of that schema.
	schema *Shape
}

// Form is the form of the values that a Shape describes.
type Form int

// These are the forms. A leaf is a scalar, or a value whose type marshals itself. Plain is JSON of any form.
const (
	FormPlain Form = iota
	FormLeaf
	FormStruct
	FormMap
	FormList
)

// structField is one field of a struct, and what the server writes for it.
type structField struct {
	*Shape
	wire  wireRule
	patch PatchRule
	// zero is the value that the server writes for an absent field, if it is not the zero value of the JSON type.
	zero any
	// nullable marks a field of a custom resource that may store a null.
	nullable bool
}

// wireRule says which values of a field the server leaves out.
type wireRule int

const (
	// omitZero is the rule of a Go value: its zero value is not written.
	omitZero wireRule = iota
	// omitNil is the rule of a Go pointer: zero values and empty structs are written.
	omitNil
	// keepAll is the rule of a custom resource: everything except null is written.
	keepAll
)

// nullRule says what a null in a map means.
type nullRule int

const (
	// nullDeletes: in a native kind, the server stores the zero value at install, and Helm deletes the key later.
	nullDeletes nullRule = iota
	// nullIsZero: in labels and annotations, which Helm itself rewrites before it sends them, it is the empty string.
	nullIsZero
	// nullIsAbsent: the schema of a custom resource does not allow it there, and the server drops it.
	nullIsAbsent
	// nullIsStored: the schema of a custom resource allows it, or says nothing.
	nullIsStored
)

// ListRule says how the items of a list are named. The zero rule means that the list is compared as one value.
type ListRule struct {
	// Keys are the API's list-map keys.
	Keys []string
	// Set marks a list of scalars that Helm merges as a set.
	Set bool
	// MergeKey is the key that identifies an item in Helm's strategic patch. It is empty for a set.
	MergeKey string
}

// PatchRule says how a strategic patch treats a field that is a map or a list.
type PatchRule struct {
	// Replaces is set if the patch always has the whole field. RetainsKeys is set if the patch removes what desired lacks, from the field
	// or from the items of the list.
	Replaces, RetainsKeys bool
}

// PatchRule returns the rule for a field of a struct, or false if the shape describes no such field.
func (s *Shape) PatchRule(name string) (rule PatchRule, known bool) {
	if s == nil || s.Fields[name] == nil {
		return PatchRule{}, false
	}
	return s.Fields[name].patch, true
}

// undescribed describes plain JSON, as a nil shape does.
var undescribed = &Shape{Form: FormPlain}

// openShape describes a value that the schema of a custom resource leaves open. It may be anything, including null.
var openShape = &Shape{Form: FormPlain, nulls: nullIsStored}

// isOpen reports whether the schema of a custom resource leaves the value open or, for a struct, allows unknown fields.
func (s *Shape) isOpen() bool {
	return s != nil && s.nulls == nullIsStored && (s.Form == FormPlain || s.Form == FormStruct)
}

// IsMap reports whether the values are maps whose keys are not fields.
func (s *Shape) IsMap() bool { return s != nil && s.Form == FormMap }

// Omits reports whether the server leaves out a field of a struct if it has this value.
func (s *Shape) Omits(name string, v any) bool {
	return s != nil && s.Fields[name] != nil && object.IsZero(v) && s.Fields[name].omits(v)
}

// SameLeaf reports whether two scalars decode into the same value.
func (s *Shape) SameLeaf(a, b any) bool {
	if s == nil || s.Form != FormLeaf {
		return false
	}
	was, ok := s.Canonical(a)
	is, alsoOK := s.Canonical(b)
	return ok && alsoOK && object.Equal(was, is)
}

// Defaulted returns the normal form of a part of an object as the server returns it, with the defaults that hold wherever its type occurs.
func (s *Shape) Defaulted(v map[string]any) any {
	n := normalization{fidelity: asRead}
	out := n.normalize(v, s)
	fillValue(out, s)
	return out
}

// Field returns the shape of a field or of the value of a map, or nil if nothing is known.
func (s *Shape) Field(name string) *Shape {
	if s == nil {
		return nil
	}
	if f := s.Fields[name]; f != nil {
		return f.Shape
	}
	switch {
	case s.Form == FormMap:
		return s.Elem
	case s.isOpen():
		return openShape
	}
	return nil
}

// Item returns the shape of the items of a list, or nil if nothing is known.
func (s *Shape) Item() *Shape {
	switch {
	case s == nil:
		return nil
	case s.Form == FormList:
		return s.Elem
	case s.Form == FormPlain && s.isOpen():
		return s
	}
	return nil
}

// Lookup returns the shape of the value at a path below s, or nil if nothing is known.
func (s *Shape) Lookup(path object.Path) *Shape {
	return object.Follow(s, path, (*Shape).Field, func(s *Shape, _ object.Step) *Shape { return s.Item() })
}

// Prunes reports whether the server drops a field when it writes the struct.
func (s *Shape) Prunes(name string) bool {
	return s != nil && s.closed && s.Fields[name] == nil
}

// HasDefaults reports whether the API may set defaults in the value. A map has defaults only if there is a rule.
func (s *Shape) HasDefaults() bool { return s == nil || s.Form != FormMap || s.rule != nil }

// ListRule returns the rule that names the items of the value, or the zero rule if the value is not a list.
func (s *Shape) ListRule() ListRule {
	if s == nil || s.Form != FormList {
		return ListRule{}
	}
	return s.List
}

// Keyed reports whether the items of the value have names, so that they are compared one by one.
func (s *Shape) Keyed() bool {
	rule := s.ListRule()
	return rule.Set || len(rule.Keys) > 0
}

// StepTo returns the step to a list item: by its keys, or as a member of a set. It returns false if the item lacks a key.
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

// StepAt returns the step to the item at index i of a list: by its name, or by the index if it has none.
func StepAt(i int, item any, rule ListRule) object.Step {
	if step, named := StepTo(item, rule); named {
		return step
	}
	return object.Step{Form: object.IndexStep, Index: i}
}

// EachPlace calls visit with the path of every value below v. Items of lists are named as the API names them.
func EachPlace(v any, s *Shape, path object.Path, visit func(object.Path)) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			visit(path.Field(name))
			EachPlace(below, s.Field(name), path.Field(name), visit)
		}
	case []any:
		for i, item := range v {
			at := path.With(StepAt(i, item, s.ListRule()))
			visit(at)
			EachPlace(item, s.Item(), at, visit)
		}
	}
}
