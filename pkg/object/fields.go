package object

import (
	"maps"
	"slices"
)

// Child returns the map in a field of m, or nil if the field is absent or holds something else.
func Child(m map[string]any, name string) map[string]any {
	c, _ := m[name].(map[string]any)
	return c
}

// Items returns the maps among the items of the list in a field of m.
func Items(m map[string]any, name string) []map[string]any {
	list, _ := m[name].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, v := range list {
		if item, ok := v.(map[string]any); ok {
			out = append(out, item)
		}
	}
	return out
}

// Texts returns the texts among the items of a list. A value that is not a list counts as empty.
func Texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Field returns a field of v, or nil if v is not a map or lacks the field.
func Field(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// Has reports whether v is a map with a field of that name.
func Has(v any, name string) bool {
	m, _ := v.(map[string]any)
	_, ok := m[name]
	return ok
}

// Filter returns the items of a list that keep accepts.
func Filter[T any](list []T, keep func(T) bool) []T {
	var out []T
	for _, item := range list {
		if keep(item) {
			out = append(out, item)
		}
	}
	return out
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// AllKeys returns the keys of several maps in order, each once.
func AllKeys(all ...map[string]any) []string {
	keys := map[string]any{}
	for _, m := range all {
		maps.Copy(keys, m)
	}
	return SortedKeys(keys)
}

// IsZero reports whether v is null or the zero value of its type: what the API server omits from a field that is not a pointer.
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

// IsScalar reports whether v is a string, a number or a boolean.
func IsScalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

// EndsDeletion reports whether a write removes an object that is being deleted, because it takes away all finalizers (apiserver v0.37.1
// pkg/registry/generic/registry/store.go ShouldDeleteDuringUpdate). A Namespace also has finalizers in its spec, which its controller takes
// away last (kubernetes v1.36.3 pkg/registry/core/namespace/storage/storage.go ShouldDeleteNamespaceDuringUpdate). Result is nil if there is
// no write.
func EndsDeletion(live, result map[string]any) bool {
	was, is := Child(live, "metadata"), Child(result, "metadata")
	if live["kind"] == "Namespace" && live["apiVersion"] == "v1" && !IsZero(Child(live, "spec")["finalizers"]) {
		return false
	}
	return was["deletionTimestamp"] != nil && IsZero(was["deletionGracePeriodSeconds"]) &&
		result != nil && !IsZero(was["finalizers"]) && IsZero(is["finalizers"])
}
