package threeway

import "github.com/helmdrift/helmdrift/pkg/object"

// openShape is a value of a custom resource that its schema leaves open: anything, nulls included.
var openShape = &shape{form: formPlain, nulls: nullIsStored}

// isOpen reports whether a value, or what a struct has beside its fields, is left open by the schema of a custom resource.
func (s *shape) isOpen() bool {
	return s != nil && s.nulls == nullIsStored && (s.form == formPlain || s.form == formStruct)
}

// shape is what an API says of a value: which fields it has, which defaults belong to it, how its lists are told apart
// and what the server leaves out when it writes it. Shapes of native kinds come from Go types (shape_native.go), those of
// custom resources from their CRD (shape_custom.go). A nil shape is a value nobody described: plain JSON.
type shape struct {
	form   shapeForm
	fields map[string]*shapeField
	// defaults are those that hold wherever the struct occurs: of native kinds from the table, of custom resources from their
	// schema.
	defaults map[string]any
	// rule fills what depends on a sibling; only native kinds have such.
	rule func(map[string]any)
	elem *shape
	list listRule
	// nulls is the rule for the nulls in a map, or among the unknown fields of a struct.
	nulls nullRule
	// closed marks a struct whose unknown fields the server drops.
	closed bool
	// quantity marks the API's own quantities.
	quantity bool
	// alike tells values that mean the same although the server stores each as it is written; few but custom resources have such.
	alike func(a, b any) bool
	// leaf canonicalises one scalar, or a type that marshals itself; false when the value does not decode.
	leaf func(any) (any, bool)
}

// shapeField is one field of a struct, and what the server writes for it.
type shapeField struct {
	*shape
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
	formPlain shapeForm = iota
	formLeaf
	formStruct
	formMap
	formList
)

// listRule tells how items of a list are recognised.
type listRule struct {
	// keys are the API's list-map keys; nil means that the list is compared as one value.
	keys []string
	// set marks a list of scalars that Helm merges as a set.
	set bool
}

// field gives the shape of a field, nil where nothing is known.
func (s *shape) field(name string) *shape {
	switch {
	case s == nil:
		return nil
	case s.form == formStruct:
		if f, ok := s.fields[name]; ok {
			return f.shape
		}
		if s.isOpen() {
			return openShape
		}
		return nil
	case s.form == formMap:
		return s.elem
	case s.isOpen():
		return s
	}
	return nil
}

// along gives the shape at a path below s, nil where nothing is known.
func (s *shape) along(path object.Path) *shape {
	for _, step := range path {
		if step.Form == object.FieldStep {
			s = s.field(step.Name)
		} else {
			s = s.item()
		}
	}
	return s
}

// prunes tells whether the server drops a field when it writes the struct.
func (s *shape) prunes(name string) bool {
	if s == nil || !s.closed {
		return false
	}
	_, known := s.fields[name]
	return !known
}

// item gives the shape of the items of a list, nil where nothing is known.
func (s *shape) item() *shape {
	switch {
	case s == nil:
		return nil
	case s.form == formList:
		return s.elem
	case s.form == formPlain && s.isOpen():
		return s
	}
	return nil
}

// merges tells how items of a list are recognised; the zero rule is "compare as one value".
func (s *shape) merges() listRule {
	if s == nil || s.form != formList {
		return listRule{}
	}
	return s.list
}

// keyed tells whether items of a list are recognised one by one.
func (s *shape) keyed() bool {
	rule := s.merges()
	return rule.set || len(rule.keys) > 0
}
