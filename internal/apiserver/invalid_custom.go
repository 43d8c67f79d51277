package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
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
// schema was not read. Was is the live object, nil if there is none. Of the CEL rules it evaluates one (immutable.go).
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

// isServerField reports whether this package skips a field: the identity of the object, and a status that is a subresource.
func isServerField(name string, plainStatus bool) bool {
	root, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"apiVersion", "kind", "metadata"}, root) || root == "status" && !plainStatus
}

// serverError returns an error in the server's words. It masks values that are secret by their place, because a later step does not find
// short values.
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

// schemaError returns the server's error for an error of the schema validator (apiextensions-apiserver v0.37.1
// pkg/apiserver/validation/validation.go kubeOpenAPIResultToFieldErrors). Nulls occur only in lists, because the server prunes the others.
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

// A client-side creation or patch of a custom resource loses nulls: the server prunes those that the schema does not allow
// (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults). It does not prune the result of
// a server-side apply. There, a null becomes the field's default, or is stored if the schema says nullable or nothing, or else fails the
// whole apply (pkg/apiserver/schema/defaulting Default, then validation).

// NullsReason returns the server's error for the nulls in the result of applying a custom resource to live, or "" if it accepts them all.
// WantsSchema is set if the answer depends on the kind's definition and that was not read.
func NullsReason(definition *kinds.CustomSchema, ref object.Ref, live, result map[string]any) (reason string, wantsSchema bool) {
	if kinds.Native().Shape(ref.GVK()) != nil || !addsNull(result, live) {
		return "", false
	}
	if definition == nil {
		return "", true
	}
	var errs []string
	definition.WalkDeclared(ref.Version, result, func(path object.Path, v any, schema map[string]any) {
		if v != nil || schema == nil || !refusesNull(schema) {
			return
		}
		if was, has := path.Lookup(live); has && was == nil {
			return // the server does not check again what it has stored
		}
		const refusal = `%[1]s: Invalid value: "null": %[1]s in body must be of type %[2]s: "null"`
		errs = append(errs, fmt.Sprintf(refusal, path, jsonType(schema)))
	})
	if len(errs) == 0 {
		return "", false
	}
	for _, more := range uncheckedRules(definition.Parsed(ref.Version).OpenAPI) {
		errs = append(errs, more.Error())
	}
	return invalidObject(ref, errs), false
}

// invalidObject returns the server's error for an invalid object (k8s.io/apimachinery pkg/api/errors NewInvalid, which takes a time that
// grows with the square of the number of errors).
func invalidObject(ref object.Ref, errs []string) string {
	text := strings.Join(errs, ", ")
	if len(errs) > 1 {
		text = "[" + text + "]"
	}
	return fmt.Sprintf("%s %q is invalid: %s", ref.GroupKind().String(), ref.Name, text)
}

// refusesNull reports whether the server refuses a null: the schema neither allows it nor has a default for it.
func refusesNull(schema map[string]any) bool {
	return schema["nullable"] != true && schema["default"] == nil && jsonType(schema) != ""
}

// jsonType returns the type in a schema, as the API server names it in errors, or "" if the schema accepts any.
func jsonType(schema map[string]any) string {
	if schema["x-kubernetes-int-or-string"] == true {
		return "integer,string"
	}
	name, _ := schema["type"].(string)
	return name
}

// addsNull reports whether a value has nulls where live has none.
func addsNull(v, live any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for name, below := range v {
			if was, had := object.Field(live, name), object.Has(live, name); below == nil && had && was == nil {
				continue
			}
			if name != "metadata" && name != "status" && addsNull(below, object.Field(live, name)) {
				return true
			}
		}
	case []any:
		list, _ := live.([]any)
		return !object.Equal(v, list) && slices.ContainsFunc(v, func(item any) bool { return addsNull(item, nil) })
	}
	return false
}
