package apiserver

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// rulesExtension holds the CEL rules of a schema. Only one of them is evaluated here: self == oldSelf. It makes nearly every immutable
// field of a custom resource, it fails at an upgrade where others fail at the installation, and it needs no interpreter. All other rules
// are left to the API server.
const rulesExtension = "x-kubernetes-validations"

// brokenRule is an error for a change that the rule self == oldSelf forbids.
type brokenRule struct{ err *field.Error }

// Error returns the API server's words.
func (e brokenRule) Error() string { return e.err.Error() }

// brokenRules returns the errors of the rules by which a value that has changed may not change (apiextensions-apiserver v0.37.1
// pkg/apiserver/schema/cel/validation.go validateExpressions).
func brokenRules(schema *spec.Schema, at *field.Path, is any) (out []error) {
	rules, _ := schema.Extensions[rulesExtension].([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		if text, _ := rule["rule"].(string); is != nil && saysImmutable(text) && comparesPlainly(schema) {
			out = append(out, brokenRule{ruleError(rule, at, is)})
		}
	}
	return out
}

// saysImmutable reports whether a rule in CEL says that a value never changes, however it is spaced.
func saysImmutable(rule string) bool {
	rule = strings.Join(strings.Fields(rule), "")
	return rule == "self==oldSelf" || rule == "oldSelf==self"
}

// ruleError returns the API server's error for a value that breaks a rule.
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

// uncheckedRules returns the error that the API server adds to others that keep it from checking the rules of a schema; nil if the schema
// has no rules (apiextensions-apiserver v0.37.1 pkg/registry/customresource/strategy.go hasBlockingErr).
func uncheckedRules(schema *spec.Schema) field.ErrorList {
	if !hasRules(schema) {
		return nil
	}
	return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
		"correct the existing errors to complete validation")}
}

// blocksRules reports whether an error keeps the API server from checking rules (hasBlockingErr).
func blocksRules(err *field.Error) bool {
	return slices.Contains([]field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong,
		field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}, err.Type)
}

// hasRules reports whether a schema has any rules (apiextensions-apiserver v0.37.1 pkg/apiserver/schema/cel/validation.go
// hasXValidations).
func hasRules(schema *spec.Schema) bool {
	return anySchema(schema, func(s *spec.Schema) bool {
		rules, _ := s.Extensions[rulesExtension].([]any)
		return len(rules) > 0
	})
}

// comparesPlainly reports whether two values of a schema are equal in CEL only if they are equal in JSON. CEL ignores the order of sets
// and keyed lists, the spelling of times, and some fields that the schema does not have (apiserver v0.37.1
// pkg/cel/common/valuesunstructured.go). Whether such values are equal is left to the API server.
func comparesPlainly(schema *spec.Schema) bool {
	return !anySchema(schema, func(s *spec.Schema) bool {
		list, _ := s.Extensions.GetString("x-kubernetes-list-type")
		open, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
		return open || list == "set" || list == "map" || slices.Contains([]string{"byte", "date", "date-time", "duration"}, s.Format)
	})
}

// anySchema reports whether a schema or one below it satisfies a condition.
func anySchema(schema *spec.Schema, satisfies func(*spec.Schema) bool) bool {
	if schema == nil {
		return false
	}
	for _, property := range schema.Properties {
		if anySchema(&property, satisfies) {
			return true
		}
	}
	return satisfies(schema) || schema.Items != nil && anySchema(schema.Items.Schema, satisfies) ||
		schema.AdditionalProperties != nil && anySchema(schema.AdditionalProperties.Schema, satisfies)
}
