package kinds

import (
	"reflect"
	"slices"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsbeta "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// A definition has schemas within schemas. Their Go types marshal themselves, because such a value may also be a list or a bool, so it is a
// leaf. A round trip through JSON for each of them was half of the work for a chart with definitions.

// schemaLeaf returns the Go type of the schema that a value of type t usually is, or nil if t is no such type.
func schemaLeaf(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray](), reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():
		return reflect.TypeFor[apiextensions.JSONSchemaProps]()
	case reflect.TypeFor[apiextensionsbeta.JSONSchemaPropsOrArray](), reflect.TypeFor[apiextensionsbeta.JSONSchemaPropsOrBool]():
		return reflect.TypeFor[apiextensionsbeta.JSONSchemaProps]()
	}
	return nil
}

// canonicalSchema returns the canonical form of the leaves of a type that schemaLeaf knows: of a schema by its shape, and of anything else
// by the type's own JSON methods.
func canonicalSchema(t reflect.Type, schema *Shape) func(any) (any, bool) {
	return func(v any) (any, bool) {
		if m, isMap := v.(map[string]any); isMap {
			if out, certain := schema.recoded(m); certain {
				return out, true
			}
		}
		return roundTrip(t, v)
	}
}

// largestExact is the largest integer n such that a float holds all integers up to n.
const largestExact = 1 << 53

// recoded returns what roundTrip would return for a value of the Go type that the shape describes. It returns false if that is not
// certain, or if the value does not decode. It leaves nulls, fractions and unknown fields to roundTrip.
func (s *Shape) recoded(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		switch {
		case s.schema != nil:
			return s.schema.recoded(v)
		case s.Form == FormStruct && len(s.embedded) == 0:
			return s.recodedStruct(v)
		case s.Form == FormMap:
			out := make(map[string]any, len(v))
			for k, child := range v {
				below, certain := s.Elem.recoded(child)
				if !certain {
					return nil, false
				}
				out[k] = below
			}
			return out, true
		}
	case []any:
		if s.Form == FormList {
			out := make([]any, len(v))
			for i, child := range v {
				var certain bool
				if out[i], certain = s.Elem.recoded(child); !certain {
					return nil, false
				}
			}
			return out, true
		}
	case int64:
		if v > largestExact || v < -largestExact {
			return nil, false
		}
	case float64:
		return nil, false
	}
	if v == nil || s.Form != FormLeaf {
		return nil, false
	}
	out, ok := s.Canonical(v)
	return out, ok && out != nil // a schema that is a bool where a list is allowed becomes null
}

// recodedStruct is recoded for a struct.
func (s *Shape) recodedStruct(v map[string]any) (any, bool) {
	out := make(map[string]any, len(v))
	for k, child := range v {
		field := s.Fields[k]
		if field == nil {
			return nil, false
		}
		below, certain := field.Shape.recoded(child)
		if !certain {
			return nil, false
		}
		if !field.omits(below) || slices.Contains(s.required, k) {
			out[k] = below
		}
	}
	for _, name := range s.required {
		if !object.Has(out, name) {
			return nil, false
		}
	}
	return out, true
}
