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

// ratchet checks a value by its schema as an update of what stood there before: what did not change passes, as nobody is asked to mend
// what somebody else wrote (apiextensions-apiserver v0.37.1 pkg/apiserver/validation/ratcheting.go).
type ratchet struct {
	schema *spec.Schema
	path   string
	// at is the same place as rules name it; nil is the whole object.
	at  *field.Path
	was any
	// is is the value, once it is being checked.
	is any
}

var _ validate.ValueValidator = (*ratchet)(nil)

// ratcheted lists what a schema has against an object that comes in the place of another one; nil for one that is new. A schema that no
// server would take, such as one with references, crashes the library and has nothing against anything.
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

// SetPath is not called on validators of fields and items.
func (r *ratchet) SetPath(string) {}

// Applies is for all values.
func (r *ratchet) Applies(any, reflect.Kind) bool { return true }

// Validate checks a value and all below it.
func (r *ratchet) Validate(v any) *validate.Result {
	r.is = v
	below := func(o *validate.SchemaValidatorOptions) {
		o.NewValidatorForField, o.NewValidatorForIndex = r.field, r.item
	}
	result := validate.NewSchemaValidator(r.schema, nil, r.path, strfmt.Default, below).Validate(v)
	if object.Equal(r.was, v) {
		return &validate.Result{}
	}
	if r.at != nil { // of a whole object a rule does not see all
		result.AddErrors(brokenRules(r.schema, r.at, r.was, v)...)
	}
	return result
}

func (r *ratchet) field(name string, schema *spec.Schema, _ any, path string, _ strfmt.Registry, _ ...validate.Option) validate.ValueValidator {
	was, _ := r.was.(map[string]any)
	at := r.at.Key(name)
	if _, known := r.schema.Properties[name]; known {
		at = r.at.Child(name)
	}
	return next(schema, path, at, was[name])
}

// item knows items of a list by its keys. In one without keys all are new, unless the list is the same.
func (r *ratchet) item(index int, schema *spec.Schema, _ any, path string, _ strfmt.Registry, _ ...validate.Option) validate.ValueValidator {
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

func next(schema *spec.Schema, path string, at *field.Path, was any) validate.ValueValidator {
	if was == nil {
		return validate.NewSchemaValidator(schema, nil, path, strfmt.Default)
	}
	return &ratchet{schema: schema, path: path, at: at, was: was}
}
