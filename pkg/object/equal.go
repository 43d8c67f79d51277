package object

import (
	"maps"
	"reflect"
	"slices"
)

// Equal reports whether two values are equal. An integer equals the float of the same value, because JSON has only numbers.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case string:
		return a == b
	case map[string]any:
		bm, ok := b.(map[string]any)
		return ok && (IsSameMap(a, bm) || maps.EqualFunc(a, bm, Equal))
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

// Identical is like Equal, but an integer does not equal the float of the same value, because their texts differ.
func Identical(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		bm, ok := b.(map[string]any)
		return ok && (IsSameMap(a, bm) || maps.EqualFunc(a, bm, Identical))
	case []any:
		bl, ok := b.([]any)
		return ok && slices.EqualFunc(a, bl, Identical)
	case string, int64, bool, float64:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// IsSameMap reports whether a and b are one map, not two equal ones.
func IsSameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// EqualLists reports whether two lists have equal items in the same order.
func EqualLists(a, b []any) bool { return slices.EqualFunc(a, b, Equal) }

// EqualSets reports whether two values are lists that have the same items in any order.
func EqualSets(a, b any) bool {
	left, ok := a.([]any)
	right, alsoOK := b.([]any)
	return ok && alsoOK && len(left) == len(right) && ContainsAll(left, right) && ContainsAll(right, left)
}

// ContainsAll reports whether a list has every item of another one. A value that is not a list counts as empty.
func ContainsAll(list, items any) bool {
	a, _ := list.([]any)
	b, _ := items.([]any)
	return !slices.ContainsFunc(b, func(item any) bool {
		return !slices.ContainsFunc(a, func(other any) bool { return Equal(item, other) })
	})
}
