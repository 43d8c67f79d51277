package threeway

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// refusesCustom says why the API server refuses a custom resource that the schema of its kind does not allow; empty where it does, or
// where the schema was not read. Was is what live holds, nil where there is nothing. Rules in CEL (x-kubernetes-validations) are not
// looked at: they need half an API server.
func (c comparer) refusesCustom(ref Ref, was, is map[string]any) string {
	schema := c.in.Schemas[groupKind(ref)].parsedRoot(ref.Version)
	if schema == nil {
		return ""
	}
	var faults []string
	for _, err := range ratcheted(schema, was, is) {
		if fault := customFault(err); fault != "" {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		return ""
	}
	slices.Sort(faults) // they come in no order
	return invalidObject(ref, slices.Compact(faults))
}

// customFault puts an error into the server's words (apiextensions-apiserver v0.37.1 pkg/apiserver/validation/validation.go
// kubeOpenAPIResultToFieldErrors). Empty is one about what the normal form does not have: identity, and the status, which no manifest
// changes. Nor does it have nulls but those in lists, which the server does not prune.
func customFault(err error) string {
	fault := &openapierrors.Validation{}
	if !errors.As(err, &fault) {
		return field.Invalid(nil, "", err.Error()).Error() // such as of oneOf
	}
	name := strings.TrimPrefix(fault.Name, ".")
	if root, _, _ := strings.Cut(name, "."); slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, root) {
		return ""
	}
	path, value := field.NewPath(name), fault.Value
	if name == "" {
		path = nil
	}
	if value == nil {
		value = ""
	}
	names := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	if slices.ContainsFunc(names, looksSecret) && fault.Code() != openapierrors.InvalidTypeCode {
		value = "***" // short ones are not scrubbed later on
	}
	number := func(v any) int {
		n, ok := v.(int64)
		if !ok {
			return -1
		}
		return int(n)
	}
	switch fault.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(path, "").Error()
	case openapierrors.EnumFailCode:
		texts := make([]string, len(fault.Values))
		for i, allowed := range fault.Values {
			text, isText := allowed.(string)
			if raw, err := json.Marshal(allowed); !isText && err == nil {
				text = string(raw)
			}
			texts[i] = text
		}
		return field.NotSupported(path, value, texts).Error()
	case openapierrors.TooLongFailCode:
		return field.TooLong(path, "", number(fault.Valid)).Error()
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(path, number(fault.Value), number(fault.Valid)).Error()
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(path, value, fault.Error()).Error()
	}
	return field.Invalid(path, value, fault.Error()).Error()
}

// typeIntOrStrings gives the values of a schema that may be an integer or a text those types, of which a definition is silent.
func typeIntOrStrings(s *spec.Schema) {
	if s == nil {
		return
	}
	if both, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); both {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	for name, below := range s.Properties {
		typeIntOrStrings(&below)
		s.Properties[name] = below
	}
	if s.AdditionalProperties != nil {
		typeIntOrStrings(s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		typeIntOrStrings(s.Items.Schema)
	}
}
