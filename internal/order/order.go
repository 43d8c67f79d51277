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
	unsorted, positions := slices.Clone(s), make([]int, len(s))
	for i := range positions {
		positions[i] = i
	}
	slices.SortStableFunc(positions, func(i, j int) int { return compare(unsorted[i], unsorted[j]) })
	for to, from := range positions {
		s[to] = unsorted[from]
	}
}

// Sorted returns the elements of a sequence sorted by compare, as Sort does.
func Sorted[T any](elements iter.Seq[T], compare func(a, b T) int) []T {
	out := slices.Collect(elements)
	Sort(out, compare)
	return out
}
