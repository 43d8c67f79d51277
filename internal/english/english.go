// Package english writes counts for the sentences of reports, effects and errors. The golden files of internal/output test it.
package english

import "fmt"

// Count counts things: "1 object", "2 objects".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// AtMost returns the first names, and counts the others in one more: "a", "b", "3 more".
func AtMost(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
}
