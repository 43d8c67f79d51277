package text

import "github.com/helmdrift/helmdrift/internal/english"

// clauses are the predicates of one sentence, such as "deletes 2 objects".
type clauses []string

// add appends a predicate if there is anything to count.
func (c *clauses) add(verb string, n int, thing string) {
	if n > 0 {
		*c = append(*c, verb+" "+english.Count(n, thing))
	}
}

// count appends a number of things if there are any.
func (c *clauses) count(n int, thing string) {
	if n > 0 {
		*c = append(*c, english.Count(n, thing))
	}
}

// oneIf returns 1 if a condition holds and 0 otherwise, for counting.
func oneIf(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

// distinct returns the different names of all, in the order in which they first occur.
func distinct[T any, K comparable](all []T, name func(T) K) []K {
	var names []K
	seen := map[K]bool{}
	for _, x := range all {
		if n := name(x); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}
