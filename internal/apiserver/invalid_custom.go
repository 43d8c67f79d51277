package apiserver

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// customReason says why the API server refuses a custom resource that the schema of its kind does not allow; empty where it does, or
// where the schema was not read. Was is what live holds, nil where there is nothing. Of the rules in CEL, which need half an API server,
// it knows one (immutable_custom.go).
func customReason(definition *kinds.CustomSchema, ref object.Ref, was, is map[string]any) string {
	schema := definition.ParsedRoot(ref.Version)
	if schema == nil {
		return ""
	}
	var faults, changes field.ErrorList
	for _, err := range ratcheted(schema, was, is) {
		fault := customFault(err)
		switch _, isRule := errors.AsType[brokenRule](err); {
		case isOfServer(fault.Field): // no manifest changes it, or the normal form does not have it
		case isRule:
			changes = append(changes, fault)
		default:
			faults = append(faults, fault)
		}
	}
	if slices.ContainsFunc(faults, blocksRules) {
		changes = uncheckedRules(schema)
	}
	faults = append(faults, changes...)
	if len(faults) == 0 {
		return ""
	}
	texts := make([]string, len(faults))
	for i, fault := range faults {
		texts[i] = fault.Error()
	}
	slices.Sort(texts) // they come in no order
	return invalidObject(ref, slices.Compact(texts))
}

// isOfServer tells the fields that are not the schema's to judge here: identity, and the status.
func isOfServer(name string) bool {
	root, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, root)
}

// customFault puts an error into the server's words, but for values that are secret where they stand: short ones are not scrubbed later.
func customFault(err error) *field.Error {
	var out *field.Error
	if rule, ok := errors.AsType[brokenRule](err); ok {
		out = rule.fault
	} else if fault, ok := errors.AsType[*openapierrors.Validation](err); ok {
		out = schemaFault(fault)
	} else {
		return field.Invalid(nil, "", err.Error()) // such as of oneOf
	}
	_, omitted := out.BadValue.(field.OmitValueType)
	shown := !omitted && (out.Type == field.ErrorTypeInvalid || out.Type == field.ErrorTypeNotSupported || out.Type == field.ErrorTypeDuplicate)
	if shown && placeOfField(out.Field).Holds(out.BadValue) {
		out.BadValue = secret.Mask
	}
	return out
}

// placeOfField is the place that an error of the API server names: spec.users[0].token.
func placeOfField(name string) (place secret.Place) {
	for step := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if _, err := strconv.Atoi(step); err == nil {
			place = place.Item("")
		} else {
			place = place.Field(step)
		}
	}
	return place
}

// schemaFault is what the server makes of a fault (apiextensions-apiserver v0.37.1 pkg/apiserver/validation/validation.go
// kubeOpenAPIResultToFieldErrors). There are no nulls but those in lists, which it does not prune.
func schemaFault(fault *openapierrors.Validation) *field.Error {
	name := strings.TrimPrefix(fault.Name, ".")
	path, value := field.NewPath(name), fault.Value
	if name == "" {
		path = nil
	}
	if value == nil {
		value = ""
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
		return field.Required(path, "")
	case openapierrors.EnumFailCode:
		texts := make([]string, len(fault.Values))
		for i, allowed := range fault.Values {
			text, isText := allowed.(string)
			if raw, err := json.Marshal(allowed); !isText && err == nil {
				text = string(raw)
			}
			texts[i] = text
		}
		return field.NotSupported(path, value, texts)
	case openapierrors.TooLongFailCode:
		return field.TooLong(path, "", number(fault.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(path, number(fault.Value), number(fault.Valid))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(path, value, fault.Error())
	}
	return field.Invalid(path, value, fault.Error())
}
