// Package english puts counts and lists into sentences, as reports, effects and errors have them.
package english

import (
	"fmt"
	"strings"
)

// Count counts things: "1 object", "2 objects".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// PluralOfKind returns the plural of a kind: "NetworkPolicies", "Ingresses". Quoted kinds, and names that look like a plural (Endpoints),
// stay as they are.
func PluralOfKind(name string) string {
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

// Enumerate joins clauses as a sentence does: "a, b and c".
func Enumerate(clauses []string) string {
	last := len(clauses) - 1
	if last < 1 {
		return strings.Join(clauses, "")
	}
	return strings.Join(clauses[:last], ", ") + " and " + clauses[last]
}

// JoinNonEmpty joins the parts that are not empty.
func JoinNonEmpty(separator string, parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, separator)
}

// AtMost returns the first names, and counts the others in one more: "a", "b", "3 more".
func AtMost(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
}
