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

// customReason returns the reason why the API server refuses a custom resource by the schema of its kind; empty if it accepts it or the
// schema was not read. Was is the live object, nil if there is none. Of the CEL rules it evaluates one (immutable_custom.go).
func customReason(definition *kinds.CustomSchema, ref object.Ref, was, is map[string]any) string {
	schema := definition.Parsed(ref.Version)
	if schema.OpenAPI == nil {
		return ""
	}
	var all, ofRules field.ErrorList
	for _, err := range slices.Concat(ratcheted(schema.OpenAPI, was, is), duplicateErrors(schema.Structural, was, is)) {
		said := serverError(err)
		switch _, isRule := errors.AsType[brokenRule](err); {
		case isServerField(said.Field, definition.PlainStatus(ref.Version)): // no manifest changes it, or the normal form does not have it
		case isRule:
			ofRules = append(ofRules, said)
		default:
			all = append(all, said)
		}
	}
	if slices.ContainsFunc(all, blocksRules) {
		ofRules = uncheckedRules(schema.OpenAPI)
	}
	all = append(all, ofRules...)
	if len(all) == 0 {
		return ""
	}
	texts := make([]string, len(all))
	for i, err := range all {
		texts[i] = err.Error()
	}
	slices.Sort(texts) // they come in random order
	return invalidObject(ref, slices.Compact(texts))
}

// isServerField reports whether a field is not checked here: the identity of the object, and a status that is a subresource.
func isServerField(name string, plainStatus bool) bool {
	root, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"apiVersion", "kind", "metadata"}, root) || root == "status" && !plainStatus
}

// serverError returns an error in the server's words. It masks values that are secret by their place: short values are not scrubbed later.
func serverError(err error) *field.Error {
	var out *field.Error
	if broken, ok := errors.AsType[brokenRule](err); ok {
		out = broken.err
	} else if invalid, ok := errors.AsType[*openapierrors.Validation](err); ok {
		out = schemaError(invalid)
	} else if !errors.As(err, &out) {
		return field.Invalid(nil, "", err.Error()) // such as that of oneOf
	}
	_, omitted := out.BadValue.(field.OmitValueType)
	shows := []field.ErrorType{field.ErrorTypeInvalid, field.ErrorTypeNotSupported, field.ErrorTypeDuplicate}
	if !omitted && slices.Contains(shows, out.Type) && placeOf(out.Field).Holds(out.BadValue) {
		out.BadValue = secret.Mask
	}
	return out
}

// placeOf returns the place of a field as errors of the API server name it: spec.users[0].token.
func placeOf(name string) (place secret.Place) {
	for step := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if _, err := strconv.Atoi(step); err == nil {
			place = place.Item("")
		} else {
			place = place.Field(step)
		}
	}
	return place
}

// schemaError returns the server's error for one of the schema validator (apiextensions-apiserver v0.37.1
// pkg/apiserver/validation/validation.go kubeOpenAPIResultToFieldErrors). The only nulls are those in lists, which it does not prune.
func schemaError(err *openapierrors.Validation) *field.Error {
	name := strings.TrimPrefix(err.Name, ".")
	path, value := field.NewPath(name), err.Value
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
	switch err.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(path, "")
	case openapierrors.EnumFailCode:
		texts := make([]string, len(err.Values))
		for i, allowed := range err.Values {
			text, isText := allowed.(string)
			if raw, fault := json.Marshal(allowed); !isText && fault == nil {
				text = string(raw)
			}
			texts[i] = text
		}
		return field.NotSupported(path, value, texts)
	case openapierrors.TooLongFailCode:
		return field.TooLong(path, "", number(err.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(path, number(err.Value), number(err.Valid))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(path, value, err.Error())
	}
	return field.Invalid(path, value, err.Error())
}
