package object

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// IsZero reports whether v is what the API server leaves out for a value that is not a pointer.
func IsZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// Equal reports whether two values are equal. An integer equals the float of the same value, as JSON numbers do.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		bm, ok := b.(map[string]any)
		return ok && equalMaps(a, bm)
	case []any:
		bl, ok := b.([]any)
		return ok && EqualLists(a, bl)
	case int64:
		if f, ok := b.(float64); ok {
			return float64(a) == f && int64(f) == a
		}
	case float64:
		if i, ok := b.(int64); ok {
			return Equal(i, a)
		}
	}
	return reflect.DeepEqual(a, b)
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

// EqualLists reports whether two lists have equal items in the same order.
func EqualLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Child returns a field that is a map, nil if it is none.
func Child(m map[string]any, name string) map[string]any {
	c, _ := m[name].(map[string]any)
	return c
}

// Has reports whether v is a map with a field of that name.
func Has(v any, name string) bool {
	m, _ := v.(map[string]any)
	_, ok := m[name]
	return ok
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// IsScalar reports whether v is a string, a number or a boolean.
func IsScalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

// Field returns a field of v, nil if v is no map or lacks it.
func Field(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// Glob reports whether text is want or, where want ends in *, begins with the rest of it.
func Glob(want, text string) bool {
	if prefix, open := strings.CutSuffix(want, "*"); open {
		return strings.HasPrefix(text, prefix)
	}
	return want == text
}

// ContainsAll reports whether a list has every item of another one. What is no list has no items.
func ContainsAll(list, items any) bool {
	a, _ := list.([]any)
	b, _ := items.([]any)
	return !slices.ContainsFunc(b, func(item any) bool {
		return !slices.ContainsFunc(a, func(other any) bool { return Equal(item, other) })
	})
}
