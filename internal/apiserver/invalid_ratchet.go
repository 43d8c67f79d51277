package apiserver

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// ratchet checks a value by its schema as an update of the value before: what did not change is accepted, so that nobody has to fix what
// somebody else wrote (apiextensions-apiserver v0.37.1 pkg/apiserver/validation/ratcheting.go).
type ratchet struct {
	schema *spec.Schema
	path   string
	// at is the same path as errors of rules have it; nil for the whole object.
	at *field.Path
	// was is the value before, is the value while it is checked.
	was, is any
}

var _ validate.ValueValidator = (*ratchet)(nil)

// ratcheted returns the errors of a schema for an object that replaces another one; was is nil if it is new. A schema that no server
// accepts, such as one with references, makes the library panic; then there are no errors.
func ratcheted(schema *spec.Schema, was, is map[string]any) (out []error) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	if was == nil {
		return validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(is).Errors
	}
	return (&ratchet{schema: schema, was: was}).Validate(is).Errors
}

// SetPath implements validate.ValueValidator. It is not called on validators of fields and items.
func (r *ratchet) SetPath(string) {}

// Applies implements validate.ValueValidator: all values are checked.
func (r *ratchet) Applies(any, reflect.Kind) bool { return true }

// Validate checks a value and everything below it.
func (r *ratchet) Validate(v any) *validate.Result {
	r.is = v
	below := func(o *validate.SchemaValidatorOptions) {
		o.NewValidatorForField, o.NewValidatorForIndex = r.field, r.item
	}
	result := validate.NewSchemaValidator(r.schema, nil, r.path, strfmt.Default, below).Validate(v)
	if object.Equal(r.was, v) {
		return &validate.Result{}
	}
	if r.at != nil { // a rule of the whole object does not see all fields
		result.AddErrors(brokenRules(r.schema, r.at, v)...)
	}
	return result
}

// field returns the validator of a field or map key.
func (r *ratchet) field(name string, schema *spec.Schema, _ any, path string, _ strfmt.Registry, _ ...validate.Option,
) validate.ValueValidator {
	was, _ := r.was.(map[string]any)
	at := r.at.Key(name)
	if _, known := r.schema.Properties[name]; known {
		at = r.at.Child(name)
	}
	return next(schema, path, at, was[name])
}

// item returns the validator of a list item, with the item of the same keys as value before. In a list without keys all items count as
// new, unless the list is the same.
func (r *ratchet) item(index int, schema *spec.Schema, _ any, path string, _ strfmt.Registry, _ ...validate.Option,
) validate.ValueValidator {
	was, _ := r.was.([]any)
	is, _ := r.is.([]any)
	keys, _ := r.schema.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	step, named := kinds.StepTo(is[index], kinds.ListRule{Keys: keys})
	for i, before := range was {
		if named && step.Matches(i, before) {
			return next(schema, path, r.at.Index(index), before)
		}
	}
	return next(schema, path, nil, nil)
}

// next returns the validator of a value below; a value that was not there before is checked as a new one.
func next(schema *spec.Schema, path string, at *field.Path, was any) validate.ValueValidator {
	if was == nil {
		return validate.NewSchemaValidator(schema, nil, path, strfmt.Default)
	}
	return &ratchet{schema: schema, path: path, at: at, was: was}
}
