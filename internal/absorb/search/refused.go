package search

import (
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// isValueItself reports whether the field is exactly the value that an attempt replaces. If the template of the object refuses such an
// attempt, the refusal is about the field. Other values may fail because they have nothing to do with it.
func (f *field) isValueItself(a attempt) bool {
	now, _ := f.desired(f.current)
	return a.leaf != nil && a.leaf.read && a.leaf.value != nil && f.Present && len(a.edits) == 1 &&
		a.put == textOf(f.Live) && object.IsScalar(now) && textOf(now) == textOf(a.leaf.value)
}

// permitted returns the attempts that flip a switch together with edits that the chart refuses. The switches are those that the chart
// names in its refusal. Charts guard some values in this way, such as the registry of an image with a switch that allows unknown images.
func (f *field) permitted(a attempt, fault string) []attempt {
	var out []attempt
	EachValue(f.values, func(path []any, v any) {
		flag, isSwitch := v.(bool)
		if !isSwitch || len(path) < 2 || !names(fault, nameOf(path)) || len(out) == maxPermits {
			return
		}
		edits := append(a.edits[:len(a.edits):len(a.edits)], Edit{Path: path, Value: !flag})
		out = append(out, attempt{edits: edits, score: a.score})
	})
	return out
}

// maxPermits is how many switches of one refusal are tried.
const maxPermits = 3

// names reports whether a text contains a name that is not a part of a longer name.
func names(text, name string) bool {
	for rest := text; ; {
		before, after, found := strings.Cut(rest, name)
		if !found {
			return false
		}
		if !endsInName(before) && !beginsName(after) {
			return true
		}
		rest = after
	}
}

// nameLetters are the characters of the names of values, besides the dots between them.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// endsInName reports whether a text ends in a part of a name. "Values." does not count, because templates write it before a name.
func endsInName(text string) bool {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "Values."), ".")
	return text != "" && strings.ContainsRune(nameLetters, rune(text[len(text)-1]))
}

// beginsName reports whether a text begins with the rest of a name. A dot alone ends a sentence.
func beginsName(text string) bool {
	text = strings.TrimPrefix(text, ".")
	return text != "" && strings.ContainsRune(nameLetters, rune(text[0]))
}
