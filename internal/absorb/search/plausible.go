package search

import (
	"regexp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// hole returns the first effect that leaves a hole in a text: the edits remove a value, and a template that does not test it writes only
// the text around it, such as http://web:/ without a port. Nobody wants that, so such edits are refused unless live has that text.
func hole(values map[string]any, edits []Edit, effects []Effect) *Effect {
	gone := taken(values, edits)
	for _, e := range effects {
		before, ok := e.Before.(string)
		after, ok2 := e.After.(string)
		if !ok || !ok2 || e.Converges {
			continue
		}
		if failedFormat.MatchString(after) && !failedFormat.MatchString(before) ||
			slices.ContainsFunc(gone, func(value string) bool { return isHole(before, after, value) }) {
			return &e
		}
	}
	return nil
}

// failedFormat matches what printf writes for a missing value, or for a value of another type than its verb.
var failedFormat = regexp.MustCompile(`%![A-Za-z]\(`)

// taken returns the texts that edits remove.
func taken(values map[string]any, edits []Edit) []string {
	var out []string
	for _, e := range edits {
		if !e.Remove && !isNothing(e.Value) {
			continue
		}
		was, _ := valuesfile.ValueAt(values, e.Path)
		eachScalar(was, func(v any) {
			if text := textOf(v); text != "" {
				out = append(out, text)
			}
		})
	}
	return out
}

// isNothing reports whether a value is null or empty.
func isNothing(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return isEmpty(v)
}

// eachScalar visits the scalars in a value.
func eachScalar(v any, visit func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			eachScalar(v[name], visit)
		}
	case []any:
		for _, item := range v {
			eachScalar(item, visit)
		}
	default:
		visit(v)
	}
}

// isHole reports whether one text differs from another by a value that became empty, or by what templates write for nothing.
func isHole(before, after, value string) bool {
	head, tail, found := strings.Cut(before, value)
	if !found || head+tail == "" {
		return false
	}
	for _, nothing := range []string{"<nil>", "0"} {
		if after == strings.ReplaceAll(before, value, nothing) {
			return true
		}
	}
	return after == strings.ReplaceAll(before, value, "") && isOpen(head, tail)
}

// isOpen reports whether something is missing between two texts. A text may begin with the colon of a port or end with the slash of a path.
func isOpen(head, tail string) bool {
	if head == "" {
		return strings.ContainsAny(tail[:1], "=@,.-")
	}
	last := head[len(head)-1:]
	return strings.ContainsAny(last, ":=@,.-") || last == "/" && tail != "" && strings.ContainsAny(tail[:1], ":@")
}
