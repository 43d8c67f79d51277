package threeway

import (
	"cmp"
	"reflect"
	"slices"
)

// isZero tells whether v is what the server leaves out for a value that is not a pointer.
func isZero(v any) bool {
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
		return ok && equalLists(a, bl)
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

func equalLists(a, b []any) bool {
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

// child gives a field that is a map, nil where it is not.
func child(m map[string]any, name string) map[string]any {
	c, _ := m[name].(map[string]any)
	return c
}

func has(v any, name string) bool {
	m, _ := v.(map[string]any)
	_, ok := m[name]
	return ok
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

func fieldOf(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}
