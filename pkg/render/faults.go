package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
)

// The faults of this file are written anew instead of wrapping their causes: decoders quote what they stumble over, up
// to the whole document (runtime.NewMissingKindErr), and that may be a Secret.

var (
	errNotYAML   = errors.New("cannot be read as YAML")
	errNoKind    = errors.New("has no kind, or an apiVersion that is none")
	errNotObject = errors.New("is no Kubernetes object, nor a list of them")
	errAliases   = fmt.Errorf("its aliases make more than %d MiB of it, and the API server takes no object of that size", maxExpanded>>20)
	errNested    = errors.New("holds a list within a list, which helm cannot read")
)

// syntaxError matches the errors of the YAML scanner and parser. Their texts are constants of the library, unlike those
// of its later stages, which never begin with a line number.
var syntaxError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// yamlFault says what is wrong with a document without quoting it.
func yamlFault(err error) error {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		if match := syntaxError.FindStringSubmatch(cause.Error()); match != nil {
			return fmt.Errorf("%w: line %s: %s", errNotYAML, match[1], match[2])
		}
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return typeFault(mismatch)
	}
	return errNotYAML
}

// decodeFault says why a document is no object.
func decodeFault(err error) error {
	if runtime.IsMissingKind(err) {
		return errNoKind
	}
	return errNotObject
}

// metadataFault says which part of metadata does not decode.
func metadataFault(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return typeFault(mismatch)
	}
	return errors.New("metadata does not decode")
}

// typeFault names the field and what it should be. The error's own text may hold the value.
func typeFault(err *json.UnmarshalTypeError) error {
	field := err.Field
	if field == "" {
		field = "it"
	}
	return fmt.Errorf("%s holds a value that is not %s", field, jsonKind(err.Type))
}

// jsonKind says in JSON's words what a Go type is decoded from.
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
