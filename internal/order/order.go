// Package order sorts slices by a comparison. The compiler makes slices.SortFunc anew for each type of element, with ten functions that it
// calls, which took 0.7 MB of the program. This package sorts positions instead, which have the same type for all slices.
package order

import (
	"iter"
	"slices"
)

// Sort sorts s by compare, which returns a negative number, zero or a positive number as [cmp.Compare] does. Elements that are equal keep
// their order.
func Sort[T any](s []T, compare func(a, b T) int) {
	unsorted := make([]T, len(s))
	copy(unsorted, s)
	for to, from := range positions(len(s), func(i, j int) int { return compare(unsorted[i], unsorted[j]) }) {
		s[to] = unsorted[from]
	}
}

// positions returns the numbers below n sorted by compare.
func positions(n int, compare func(i, j int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, compare)
	return out
}

// Sorted returns the elements of a sequence sorted by compare, as Sort does.
func Sorted[T any](elements iter.Seq[T], compare func(a, b T) int) []T {
	out := slices.Collect(elements)
	Sort(out, compare)
	return out
}
