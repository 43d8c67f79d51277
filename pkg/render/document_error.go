package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
)

// The errors of this file do not wrap their causes: decoders quote what they cannot decode, up to the whole document
// (runtime.NewMissingKindErr), and that may be a Secret.

var (
	errNotYAML   = errors.New("cannot be read as YAML")
	errNoKind    = errors.New("has no kind, or its apiVersion is not valid")
	errNoValues  = errors.New("is not a map of values")
	errNotObject = errors.New("is neither a Kubernetes object nor a list of them")
	errAliases   = fmt.Errorf("its aliases expand it to more than %d MiB, and the API server accepts no object of that size", maxExpanded>>20)
	errNested    = errors.New("contains a list within a list, which helm cannot read")
)

// syntaxError matches the errors of the YAML scanner and parser (go.yaml.in/yaml/v2 v2.4.4 decode.go, parser.fail).
// Their texts are constants of the library. Errors of later stages may quote the document; they never begin with a
// line number.
var syntaxError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// yamlError describes what is wrong with a document without quoting it.
func yamlError(err error) error {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		if match := syntaxError.FindStringSubmatch(cause.Error()); match != nil {
			return fmt.Errorf("%w: line %s: %s", errNotYAML, match[1], match[2])
		}
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return typeError(mismatch)
	}
	return errNotYAML
}

// valuesFileError describes what is wrong with a values file without quoting it.
func valuesFileError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field == "" {
		return errNoValues
	}
	return yamlError(err)
}

// decodeError describes why a document is no object.
func decodeError(err error) error {
	if runtime.IsMissingKind(err) {
		return errNoKind
	}
	return errNotObject
}

// metadataError names the part of the metadata that cannot be decoded.
func metadataError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return typeError(mismatch)
	}
	return errors.New("metadata cannot be decoded")
}

// typeError names the field and the type that it should have. The error's own text may contain the value.
func typeError(err *json.UnmarshalTypeError) error {
	field := err.Field
	if field == "" {
		field = "it"
	}
	return fmt.Errorf("%s holds a value that is not %s", field, jsonKind(err.Type))
}

// jsonKind returns the JSON type from which a Go type is decoded.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Map, reflect.Struct:
		return "a map"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		return "a number that fits"
	}
}
