package kinds

import (
	"github.com/helmdrift/helmdrift/pkg/object"
)

// openShape is a value of a custom resource that its schema leaves open: anything, nulls included.
var openShape = &Shape{Form: FormPlain, nulls: nullIsStored}

// isOpen reports whether a value, or what a struct has beside its fields, is left open by the schema of a custom resource.
func (s *Shape) isOpen() bool {
	return s != nil && s.nulls == nullIsStored && (s.Form == FormPlain || s.Form == FormStruct)
}

// Shape is what an API says of a value: which fields it has, which defaults belong to it, how its lists are told apart
// and what the server leaves out when it writes it. Shapes of native kinds come from Go types (shape_native.go), those of
// custom resources from their CRD (shape_custom.go). A nil shape is a value nobody described: plain JSON.
type Shape struct {
	Form   shapeForm
	Fields map[string]*shapeField
	// defaults are those that hold wherever the struct occurs: of native kinds from the table, of custom resources from their
	// schema.
	defaults map[string]any
	// Rule fills what depends on a sibling; only native kinds have such.
	Rule func(map[string]any)
	Elem *Shape
	List ListRule
	// nulls is the rule for the nulls in a map, or among the unknown fields of a struct.
	nulls nullRule
	// Closed marks a struct whose unknown fields the server drops.
	Closed bool
	// Quantity marks the API's own quantities.
	Quantity bool
	// alike tells values that mean the same although the server stores each as it is written; few but custom resources have such.
	alike func(a, b any) bool
	// Leaf canonicalises one scalar, or a type that marshals itself; false when the value does not decode.
	Leaf func(any) (any, bool)
}

// shapeField is one field of a struct, and what the server writes for it.
type shapeField struct {
	*Shape
	wire wireRule
	// zero is a value that the server writes for an absent field, where that is not the zero of its JSON.
	zero any
	// nullable marks a field of a custom resource in which the server stores a null.
	nullable bool
}

// wireRule tells which values the server leaves out.
type wireRule int

const (
	// omitZero: a Go value; its zero is not written.
	omitZero wireRule = iota
	// omitNil: a Go pointer; zero values and empty structs are written.
	omitNil
	// keepAll: a custom resource; everything but null is written.
	keepAll
)

// nullRule tells what a null in a map means.
type nullRule int

const (
	// nullDeletes: a native kind; the server stores the zero value at install and Helm deletes the key later.
	nullDeletes nullRule = iota
	// nullIsZero: labels and annotations, which Helm itself rewrites before it sends them.
	nullIsZero
	// nullIsAbsent: a custom resource whose schema takes no null there.
	nullIsAbsent
	// nullIsStored: a custom resource whose schema takes one, or says nothing.
	nullIsStored
)

type shapeForm int

const (
	FormPlain shapeForm = iota
	FormLeaf
	FormStruct
	FormMap
	FormList
)

// ListRule tells how items of a list are recognised.
type ListRule struct {
	// Keys are the API's list-map keys; nil means that the list is compared as one value.
	Keys []string
	// Set marks a list of scalars that Helm merges as a set.
	Set bool
}

// Field gives the shape of a field, nil where nothing is known.
func (s *Shape) Field(name string) *Shape {
	switch {
	case s == nil:
		return nil
	case s.Form == FormStruct:
		if f, ok := s.Fields[name]; ok {
			return f.Shape
		}
		if s.isOpen() {
			return openShape
		}
		return nil
	case s.Form == FormMap:
		return s.Elem
	case s.isOpen():
		return s
	}
	return nil
}

// ShapeAt gives the shape at a path below s, nil where nothing is known.
func (s *Shape) ShapeAt(path object.Path) *Shape {
	for _, step := range path {
		if step.Form == object.FieldStep {
			s = s.Field(step.Name)
		} else {
			s = s.Item()
		}
	}
	return s
}

// Prunes tells whether the server drops a field when it writes the struct.
func (s *Shape) Prunes(name string) bool {
	if s == nil || !s.Closed {
		return false
	}
	_, known := s.Fields[name]
	return !known
}

// Item gives the shape of the items of a list, nil where nothing is known.
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

// Merges tells how items of a list are recognised; the zero rule is "compare as one value".
func (s *Shape) Merges() ListRule {
	if s == nil || s.Form != FormList {
		return ListRule{}
	}
	return s.List
}

// Keyed tells whether items of a list are recognised one by one.
func (s *Shape) Keyed() bool {
	rule := s.Merges()
	return rule.Set || len(rule.Keys) > 0
}

// EachPlace visits every place of a value, named as the API names list items.
func EachPlace(v any, s *Shape, path object.Path, visit func(object.Path)) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			visit(path.Field(name))
			EachPlace(below, s.Field(name), path.Field(name), visit)
		}
	case []any:
		for i, item := range v {
			step, named := StepTo(item, s.Merges())
			if !named {
				step = object.Step{Form: object.IndexStep, Index: i}
			}
			visit(path.With(step))
			EachPlace(item, s.Item(), path.With(step), visit)
		}
	}
}
