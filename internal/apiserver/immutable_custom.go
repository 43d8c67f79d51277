package apiserver

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// rulesExtension holds the rules in CEL of a schema. One of them is known here: self == oldSelf, by which nearly every immutable field
// of a custom resource is made, and which breaks at an upgrade where others break at the install. It needs no interpreter. All others
// are left to the API server.
const rulesExtension = "x-kubernetes-validations"

// brokenRule is a change of what a rule says cannot be changed.
type brokenRule struct{ fault *field.Error }

func (e brokenRule) Error() string { return e.fault.Error() }

// brokenRules lists the rules of a schema by which a value cannot come in the place of another (apiextensions-apiserver v0.37.1
// pkg/apiserver/schema/cel/validation.go validateExpressions).
func brokenRules(schema *spec.Schema, at *field.Path, was, is any) (out []error) {
	rules, _ := schema.Extensions[rulesExtension].([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		if text, _ := rule["rule"].(string); is != nil && saysImmutable(text) && !sameInCEL(schema, was, is) {
			out = append(out, brokenRule{ruleError(rule, at, is)})
		}
	}
	return out
}

func saysImmutable(rule string) bool {
	rule = strings.Join(strings.Fields(rule), "")
	return rule == "self==oldSelf" || rule == "oldSelf==self"
}

// ruleError is what the server says of a value that breaks a rule.
func ruleError(rule map[string]any, at *field.Path, is any) *field.Error {
	text := func(key string) string {
		text, _ := rule[key].(string)
		return strings.TrimSpace(text)
	}
	detail := text("message")
	if below := strings.TrimPrefix(text("fieldPath"), "."); below != "" {
		at = at.Child(below)
	}
	if detail == "" {
		detail = "failed rule: " + text("rule")
	}
	if !object.IsScalar(is) {
		is = field.OmitValueType{}
	}
	switch text("reason") {
	case "FieldValueForbidden":
		return field.Forbidden(at, detail)
	case "FieldValueRequired":
		return field.Required(at, detail)
	case "FieldValueDuplicate":
		return field.Duplicate(at, is)
	}
	return field.Invalid(at, is, detail)
}

// uncheckedRules is what the server says beside faults that keep it from looking at the rules of a schema; nothing where there are
// none (apiextensions-apiserver v0.37.1 pkg/registry/customresource/strategy.go hasBlockingErr).
func uncheckedRules(schema *spec.Schema) field.ErrorList {
	if !hasRules(schema) {
		return nil
	}
	return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
		"correct the existing errors to complete validation")}
}

// blocksRules tells those faults (hasBlockingErr).
func blocksRules(fault *field.Error) bool {
	return slices.Contains([]field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong,
		field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}, fault.Type)
}

// hasRules tells whether a schema has any rules (apiextensions-apiserver v0.37.1 pkg/apiserver/schema/cel/validation.go
// hasXValidations).
func hasRules(schema *spec.Schema) bool {
	if schema == nil {
		return false
	}
	rules, _ := schema.Extensions[rulesExtension].([]any)
	for _, property := range schema.Properties {
		if hasRules(&property) {
			return true
		}
	}
	return len(rules) > 0 || schema.Items != nil && hasRules(schema.Items.Schema) ||
		schema.AdditionalProperties != nil && hasRules(schema.AdditionalProperties.Schema)
}

// sameInCEL tells whether two values of a schema are equal to a rule, which does not look at the order of sets and keyed lists, nor at
// how a time is written (apiserver v0.37.1 pkg/cel/common/valuesunstructured.go).
func sameInCEL(schema *spec.Schema, a, b any) bool {
	if schema == nil || object.Equal(a, b) {
		return object.Equal(a, b)
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && len(a) == len(b) && !slices.ContainsFunc(object.SortedKeys(a), func(name string) bool {
			other, ok := b[name]
			return !ok || !sameInCEL(schemaBelow(schema, name), a[name], other)
		})
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) || schema.Items == nil {
			return false
		}
		kind, _ := schema.Extensions.GetString("x-kubernetes-list-type")
		for i := range a {
			same := func(other any) bool { return sameInCEL(schema.Items.Schema, a[i], other) }
			if anywhere := kind == "set" || kind == "map"; anywhere && !slices.ContainsFunc(b, same) || !anywhere && !same(b[i]) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		return ok && sameTime(schema.Format, a, b)
	}
	return false
}

func schemaBelow(schema *spec.Schema, name string) *spec.Schema {
	if property, ok := schema.Properties[name]; ok {
		return &property
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Schema
	}
	return nil
}

func sameTime(format, a, b string) bool {
	switch format {
	case "duration":
		p, err := strfmt.ParseDuration(a)
		q, alsoErr := strfmt.ParseDuration(b)
		return err == nil && alsoErr == nil && p == q
	case "date-time":
		p, err := strfmt.ParseDateTime(a)
		q, alsoErr := strfmt.ParseDateTime(b)
		return err == nil && alsoErr == nil && time.Time(p).Equal(time.Time(q))
	}
	return false
}
