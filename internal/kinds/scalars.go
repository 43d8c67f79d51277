package kinds

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// canonicalOf returns the function that makes the canonical form of a scalar type, or of a type that marshals itself. It returns nil for
// structs, maps and lists. The function returns false if a value does not decode into the type. Respells is set if its result may differ
// from the value: a quantity has several spellings, a number has one.
func canonicalOf(t reflect.Type) (canonical func(any) (any, bool), respells bool) {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return canonicalQuantity, true
	case reflect.TypeFor[intstr.IntOrString]():
		return canonicalIntOrString, false
	case reflect.TypeFor[[]byte]():
		return canonicalBytes, true
	case reflect.TypeFor[runtime.RawExtension]():
		return unchanged, false
	}
	// Times, patches and the like have their own JSON.
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return func(v any) (any, bool) { return roundTrip(t, v) }, true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return nil, false
	case reflect.Interface:
		return unchanged, false
	default:
		return func(v any) (any, bool) { return v, decodesInto(t.Kind(), v) }, false
	}
}

// isLeaf reports whether values of a type are leaves: the type is neither a struct, a map nor a list, or marshals itself.
func isLeaf(t reflect.Type) bool {
	canonical, _ := canonicalOf(t)
	return canonical != nil
}

// unchanged is the canonical form of values that the server stores as they are written.
func unchanged(v any) (any, bool) { return v, true }

// roundTrip decodes a value into a Go type and encodes it again, by the type's own JSON methods.
func roundTrip(t reflect.Type, v any) (any, bool) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	typed := reflect.New(t).Interface()
	if json.Unmarshal(raw, typed) != nil {
		return nil, false
	}
	if raw, err = json.Marshal(typed); err != nil {
		return nil, false
	}
	var out any
	if utiljson.Unmarshal(raw, &out) != nil {
		return nil, false
	}
	return out, true
}

// canonicalQuantity returns a quantity as the server stores it: 1000m is 1, 1024Mi is 1Gi.
func canonicalQuantity(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		switch {
		case HasHugeExponent(v):
		case strings.Trim(v, quantityLetters) == "": // as almost all are; JSON does not change such a text
			q, err := resource.ParseQuantity(v)
			return q.String(), err == nil
		default:
			return roundTrip(reflect.TypeFor[resource.Quantity](), v)
		}
	case int64, float64:
		return roundTrip(reflect.TypeFor[resource.Quantity](), v)
	}
	return nil, false
}

// quantityLetters are the letters of quantities.
const quantityLetters = "0123456789.+-numkMGTPEie"

// ParseQuantity parses a quantity. It returns false if the text is not a quantity, or has a huge exponent.
func ParseQuantity(text string) (resource.Quantity, bool) {
	if HasHugeExponent(text) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// HasHugeExponent reports whether a text is a number with an exponent of more than three digits. Decoding it as a quantity writes out all
// its digits, which takes practically forever.
func HasHugeExponent(text string) bool {
	i := strings.LastIndexAny(text, "eE")
	return i > 0 && len(strings.TrimLeft(text[i+1:], "+-")) > 3 && strings.Trim(text, "0123456789.+-eE") == ""
}

// canonicalIntOrString keeps an integer and a string apart: for the API, 80 and "80" are different values.
func canonicalIntOrString(v any) (any, bool) {
	switch v.(type) {
	case string, int64:
		return v, true
	}
	return nil, false
}

// canonicalBytes returns base64 without line breaks, so that equal bytes have equal texts.
func canonicalBytes(v any) (any, bool) {
	text, ok := v.(string)
	if !ok {
		return nil, false
	}
	// If a large text is already canonical, decode only its end, where the padding is.
	if end := len(text) - 4; end >= 0 && end%4 == 0 && strings.Trim(text[:end], base64Letters) == "" {
		if raw, err := base64.StdEncoding.DecodeString(text[end:]); err == nil && base64.StdEncoding.EncodeToString(raw) == text[end:] {
			return text, true
		}
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	return base64.StdEncoding.EncodeToString(raw), true
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// Decodes reports whether a value decodes into the Go type that a shape describes. It returns false if that is not certain.
func (s *Shape) Decodes(v any) bool {
	if s == nil || v == nil {
		return true // the decoder passes over a field that no type has, and null decodes into every type
	}
	switch v := v.(type) {
	case map[string]any:
		if s.schema != nil {
			_, certain := s.schema.recoded(v)
			return certain
		}
		if s.Form != FormStruct && s.Form != FormMap {
			return false
		}
		for name, below := range v {
			if !s.Field(name).Decodes(below) {
				return false
			}
		}
		return true
	case []any:
		return s.Form == FormList && !slices.ContainsFunc(v, func(item any) bool { return !s.Elem.Decodes(item) })
	case int64:
		if v != int64(int32(v)) {
			return false // it may be too large for the type
		}
	}
	if s.Form != FormLeaf {
		return false
	}
	_, ok := s.Canonical(v)
	return ok
}

// decodesInto reports whether a value decodes into a Go kind.
func decodesInto(kind reflect.Kind, v any) bool {
	switch v.(type) {
	case string:
		return kind == reflect.String
	case bool:
		return kind == reflect.Bool
	// An integer decodes into every kind of number, a float only into a float.
	case int64:
		return kind != reflect.String && kind != reflect.Bool
	case float64:
		return kind == reflect.Float32 || kind == reflect.Float64
	}
	return false
}
