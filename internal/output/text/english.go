package text

import (
	"fmt"
	"strings"
)

// plural counts things: "1 object", "2 objects".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// pluralOfKind returns the plural of a kind: "NetworkPolicies", "Ingresses". Quoted kinds, and names that look like a plural (Endpoints),
// stay as they are.
func pluralOfKind(name string) string {
	if strings.HasSuffix(name, `"`) || strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") {
		return name
	}
	if stem, y := strings.CutSuffix(name, "y"); y && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	for _, hissing := range []string{"ss", "x", "ch", "sh"} {
		if strings.HasSuffix(name, hissing) {
			return name + "es"
		}
	}
	return name + "s"
}

// enumerate joins clauses as a sentence does: "a, b and c".
func enumerate(clauses []string) string {
	last := len(clauses) - 1
	if last < 1 {
		return strings.Join(clauses, "")
	}
	return strings.Join(clauses[:last], ", ") + " and " + clauses[last]
}

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(separator string, parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, separator)
}

// atMost returns the first names, and counts the others in one more: "a", "b", "3 more".
func atMost(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
}

// clauses are the predicates of one sentence, such as "deletes 2 objects".
type clauses []string

// add appends a predicate if there is anything to count.
func (c *clauses) add(verb string, n int, thing string) {
	if n > 0 {
		*c = append(*c, verb+" "+plural(n, thing))
	}
}

// count appends a number of things if there are any.
func (c *clauses) count(n int, thing string) {
	if n > 0 {
		*c = append(*c, plural(n, thing))
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
