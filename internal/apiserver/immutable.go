package apiserver

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// immutability is one line of the table of immutable fields (immutable_table.go). Its paths have the form of an object.FieldTree.
type immutability struct {
	// kind is "Kind" or "Kind.group".
	kind string
	// paths are the immutable fields.
	paths []string
	// when is the condition that makes them immutable. Nil means always.
	when func(change) bool
	// except has the fields below paths that may change.
	except []string
	// unless has the fields below paths that may change in some cases.
	unless map[string]exception
	// source is the function of Kubernetes that has the rule.
	source string
}

// exception reports whether the API server accepts the change of one value. An absent value is nil.
type exception func(c change, was, is any) bool

// change is one update of an object.
type change struct {
	// was and is are the normal forms before and after the update.
	was, is map[string]any
	// live is the object as it was read, with its status.
	live map[string]any
}

// immutableFields lists the immutable fields that the update changes.
func (u Update) immutableFields() []object.Path {
	c := change{was: u.Live, is: u.Result, live: u.Text}
	var out []object.Path
	for _, line := range immutables() {
		if line.kind == u.Ref.GroupKind().String() && (line.when == nil || line.when(c)) {
			out = append(out, line.changed(c)...)
		}
	}
	order.Sort(out, func(a, b object.Path) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(out, func(a, b object.Path) bool { return a.Equal(b) })
}

// changed lists the fields of one line that an update changes.
func (l *immutability) changed(c change) []object.Path {
	mutable := &mutableFields{}
	for _, path := range l.except {
		mutable.Set(path, always)
	}
	for path, accepts := range l.unless {
		mutable.Set(path, accepts)
	}
	var out []object.Path
	for _, text := range l.paths {
		path := object.TablePath(text)
		was, _ := path.Lookup(c.was)
		is, _ := path.Lookup(c.is)
		out = append(out, changedFields(mutable.At(path), c, path, was, is)...)
	}
	return out
}

// always is the exception for a field that may always change.
func always(change, any, any) bool { return true }

// mutableFields are the fields below an immutable field that may change.
type mutableFields = object.FieldTree[exception]

// changedFields lists the immutable fields that differ between two values at path. It goes down only if something below may change, so
// that it names the immutable field and not the parts of it.
func changedFields(mutable *mutableFields, c change, path object.Path, was, is any) []object.Path {
	accepts := mutable.Value()
	switch {
	case object.Equal(was, is), accepts != nil && accepts(c, was, is):
		return nil
	case mutable.HasFields() && isMapOrNil(was) && isMapOrNil(is):
		found := changedBelow(mutable, c, path, was, is)
		if len(found) == 0 || was != nil && is != nil {
			return found
		}
	case mutable.HasItems():
		if found, ok := changedItems(mutable, c, path, was, is); ok {
			return found
		}
	}
	return []object.Path{path}
}

// isMapOrNil reports whether a value can be compared field by field.
func isMapOrNil(v any) bool {
	_, ok := v.(map[string]any)
	return ok || v == nil
}

// changedBelow compares two maps field by field.
func changedBelow(mutable *mutableFields, c change, path object.Path, was, is any) []object.Path {
	before, _ := was.(map[string]any)
	after, _ := is.(map[string]any)
	var out []object.Path
	for _, name := range object.AllKeys(before, after) {
		next := mutable.Next(object.Step{Name: name})
		out = append(out, changedFields(next, c, path.Field(name), before[name], after[name])...)
	}
	return out
}

// changedItems compares two lists item by item, as the API server does; it returns false if their lengths differ.
func changedItems(mutable *mutableFields, c change, path object.Path, was, is any) ([]object.Path, bool) {
	before, _ := was.([]any)
	after, _ := is.([]any)
	if len(before) != len(after) {
		return nil, false
	}
	var out []object.Path
	for i := range before {
		step := kinds.StepAt(i, after[i], kinds.ListRule{Keys: []string{"name"}})
		out = append(out, changedFields(mutable.Next(step), c, path.With(step), before[i], after[i])...)
	}
	return out, true
}

// rulesExtension holds the CEL rules of a schema. This package evaluates only one of them: self == oldSelf. Nearly every immutable field
// of a custom resource has this rule, an upgrade can break it while most other rules fail at installation, and it needs no interpreter.
// All other rules are left to the API server.
const rulesExtension = "x-kubernetes-validations"

// brokenRule is an error for a change that the rule self == oldSelf forbids.
type brokenRule struct{ err *field.Error }

// Error returns the API server's words.
func (e brokenRule) Error() string { return e.err.Error() }

// brokenRules returns the errors of the rules that forbid the change of a changed value (apiextensions-apiserver v0.37.1
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

// saysImmutable reports whether a rule in CEL says that a value never changes. Spaces do not matter.
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

// uncheckedRules returns the error that the API server adds if other errors keep it from checking the rules of a schema. It is nil if the
// schema has no rules (apiextensions-apiserver v0.37.1 pkg/registry/customresource/strategy.go hasBlockingErr).
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

// hasRules reports whether a schema has any rules (apiextensions-apiserver v0.37.1 pkg/apiserver/schema/cel/validation.go hasXValidations).
func hasRules(schema *spec.Schema) bool {
	return anySchema(schema, func(s *spec.Schema) bool {
		rules, _ := s.Extensions[rulesExtension].([]any)
		return len(rules) > 0
	})
}

// comparesPlainly reports whether two values of a schema are equal in CEL only if they are equal in JSON. CEL ignores the order of sets
// and keyed lists, the spelling of times, and some fields that the schema does not have (apiserver v0.37.1
// pkg/cel/common/valuesunstructured.go). This package leaves the comparison of such values to the API server.
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
