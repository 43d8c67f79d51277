package search

import (
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// LineOf returns the number of the line of a template that writes a field, or 0 if there is none. It looks only at the text: the line has
// the field's key, and as many of the keys above as possible before it, at less indentation. The number is an aid for people. With an
// include, the real line may be a neighbour, and they still find it.
func LineOf(text string, path object.Path) int {
	var names []string
	for _, step := range path {
		if step.Form == object.FieldStep {
			names = append(names, step.Name)
		}
	}
	if len(names) == 0 {
		return 0
	}
	lines := strings.Split(text, "\n")
	best, most := 0, 0
	for i, line := range lines {
		if !writesKey(line, names[len(names)-1]) {
			continue
		}
		if n := 1 + parentsAbove(lines[:i], indentation(line), names[:len(names)-1]); n > most {
			best, most = i+1, n
		}
	}
	return best
}

// parentsAbove counts the names that enclose a line, by indentation, from the innermost outwards: a key such as name occurs many times.
func parentsAbove(lines []string, indent int, names []string) int {
	found := 0
	for i := len(lines) - 1; i >= 0 && len(names) > 0; i-- {
		if indentation(lines[i]) < indent && writesKey(lines[i], names[len(names)-1]) {
			indent, names, found = indentation(lines[i]), names[:len(names)-1], found+1
		}
	}
	return found
}

// writesKey reports whether a line begins with a key.
func writesKey(line, key string) bool {
	line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
	return strings.HasPrefix(line, key+":") || strings.HasPrefix(line, `"`+key+`":`)
}

// indentation returns the column of the first character of a line or, for an item of a list, of the first character after the dash.
func indentation(line string) int {
	return len(line) - len(strings.TrimLeft(line, " -"))
}
