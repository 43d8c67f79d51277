package search

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// maxFragments is how many values are tried with each part of the live text.
const maxFragments = 30

// separators separate the parts of a text that is composed of values: image references, URLs, arguments and lines of configuration.
const separators = "/:@=, \n\"'"

// fragments returns the attempts that put the differing parts of the live text into the likely values. The chart may refuse a whole text
// in the place of a part, such as an image reference where it compares versions.
func (f *field) fragments(nodes []leaf) []attempt {
	now, _ := f.desired(f.current)
	has, ok := now.(string)
	live, ok2 := f.Wanted.Live.(string)
	if !ok || !ok2 {
		return nil
	}
	parts := differing(has, live)
	// A text without separators was tried as a whole. In a text with many differences, hardly any part is a value of its own.
	if len(parts) == 0 || len(parts) > 4 || slices.Equal(parts, []string{live}) {
		return nil
	}
	var out []attempt
	count := 0
	for _, l := range nodes {
		if !l.read || l.value != nil && !object.IsScalar(l.value) || count >= maxFragments {
			continue
		}
		count++
		for _, part := range parts {
			for _, v := range spellings(part, l.value) {
				out = append(out, l.replacedBy(v))
			}
		}
	}
	return out
}

// differing returns the parts of a text that differ from another one: part by part if both have as many parts, and otherwise what is left
// without the equal parts at both ends. The values that make the equal parts must not change.
func differing(has, live string) []string {
	a, b := partsOf(has), partsOf(live)
	var out []string
	if len(a) == len(b) {
		for i := range b {
			if a[i] != b[i] && !strings.ContainsAny(b[i], separators) {
				out = append(out, b[i])
			}
		}
		return out
	}
	start, end := 0, 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return object.Filter(b[start:len(b)-end], func(part string) bool { return !strings.ContainsAny(part, separators) })
}

// partsOf splits a text at separators. A separator is a part of its own.
func partsOf(text string) []string {
	var out []string
	for text != "" {
		at := strings.IndexAny(text, separators)
		switch {
		case at < 0:
			return append(out, text)
		case at > 0:
			out = append(out, text[:at])
		}
		out, text = append(out, text[at:at+1]), text[at+1:]
	}
	return out
}
