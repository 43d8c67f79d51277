package absorb

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// likelyLeaves is how many values are tried first, before maps and lists are. The name of a value and its present content nearly always
// point to it, so most fields need no other attempts.
const likelyLeaves = 24

// likely returns the attempts with the values that are most likely.
func (f *fieldSearch) likely(nodes []leaf) []attempt {
	var out []attempt
	count := 0
	for _, l := range nodes {
		if count >= likelyLeaves || l.score < 0 {
			break
		}
		if found := f.direct(l); len(found) > 0 {
			out, count = append(out, found...), count+1
		}
	}
	return out
}

// others returns the attempts with all values that the template may read. That is every value and not only those whose names are like the
// field: charts call some things otherwise than Kubernetes does.
func (f *fieldSearch) others(nodes []leaf) []attempt {
	var out []attempt
	for _, l := range nodes {
		if l.read {
			out = append(out, f.direct(l)...)
		}
	}
	return out
}

// unread returns the attempts with values that the template does not seem to read, as far as they are like the field. The parse trees are a
// guide and no proof: a template that computes the name of a value reads it, too.
func (f *fieldSearch) unread(nodes []leaf) []attempt {
	var out []attempt
	for _, l := range nodes {
		if !l.read && l.score > 0 && len(out) < likelyLeaves {
			out = append(out, f.direct(l)...)
		}
	}
	return out
}

// direct returns the attempts that put the live value itself into a value, or take away what live lacks.
func (f *fieldSearch) direct(l leaf) []attempt {
	if !f.Present {
		return f.deletions(l)
	}
	value := f.text()
	if !object.IsScalar(value) {
		// A map in the place of a list, or a text in the place of a map, makes Helm warn and keep the default.
		if !isAlike(l.value, value) || object.Equal(l.value, value) {
			return nil
		}
		return []attempt{{edits: []Edit{{Path: l.path, Value: value}}, score: l.score}}
	}
	if l.value != nil && !object.IsScalar(l.value) {
		return nil
	}
	var out []attempt
	if text := textOf(value); strings.ContainsAny(text, "\n") {
		// The text would break the document that it is a part of. A short one shows how the field is composed.
		one, probe := l, probeFor(l.value)
		out = append(out, attempt{edits: []Edit{{Path: l.path, Value: probe}}, score: l.score, leaf: &one, put: textOf(probe)})
	}
	for _, v := range spellings(value, l.value) {
		if l.value != nil && textOf(v) == textOf(l.value) && sameType(v, l.value) {
			continue
		}
		one := l
		out = append(out, attempt{edits: []Edit{{Path: l.path, Value: v}}, score: l.score, leaf: &one, put: textOf(v)})
	}
	return out
}

// isAlike reports whether a map or a list may take the place of another value: one of its kind, or nothing.
func isAlike(now, value any) bool {
	_, isMap := value.(map[string]any)
	switch now := now.(type) {
	case nil:
		return true
	case map[string]any:
		return isMap
	case []any:
		return !isMap || len(now) == 0
	}
	return false
}

// probeFor returns a value of the type of another one that nothing else has. It is short and plain, so that it is valid wherever a name, a
// tag or a port stands.
func probeFor(like any) any {
	switch like.(type) {
	case float64, int64, int, json.Number:
		return 64919.0
	case bool:
		return nil
	}
	return markValue
}

// deletions returns the attempts that take a value away.
func (f *fieldSearch) deletions(l leaf) []attempt {
	score := l.score
	out := []attempt{}
	add := func(e Edit, score int) { out = append(out, attempt{edits: []Edit{e}, score: score}) }
	switch v := l.value.(type) {
	case bool:
		// A null would do for most templates, but a switch is set to a side by whoever reads the file later.
		// A switch is what takes an object away.
		add(Edit{Path: l.path, Value: !v}, score+boolInt(v)+6*boolInt(len(f.Path) == 0))
		return out
	case nil:
		return nil
	case string:
		if v != "" {
			add(Edit{Path: l.path, Value: ""}, score)
		}
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		add(Edit{Path: l.path, Value: []any{}}, score)
	}
	if i := firstIndex(l.path); i >= 0 && i == len(l.path)-1 {
		add(Edit{Path: l.path, Remove: true}, score+1) // an item of a list
		return out
	}
	// What the file itself adds is taken out of it. A default of the chart would come back then, so it becomes null.
	if _, inFile := object.ValueAt(f.edited, l.path); inFile {
		add(Edit{Path: l.path, Remove: true}, score+1)
	}
	add(Edit{Path: l.path}, score)
	return out
}

// spellings returns a scalar in the types that a value may have: that of the value it replaces comes first. Charts have
// "8080" and 8080 for one purpose, and the type that values.yaml has is the one that its templates can take.
func spellings(v, like any) []any {
	text := textOf(v)
	switch like.(type) {
	case string:
		return []any{text}
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return []any{b}
		}
		return nil // a template that tests a switch may fail on a text
	case float64, int64, int, json.Number:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			if textOf(n) == text {
				return []any{n}
			}
			// A number does not have the text 1.20, and a long one is rounded. Files have such versions without quotes.
			return []any{n, text}
		}
	}
	if _, isText := v.(string); !isText && like == nil {
		return []any{v, text}
	}
	return []any{v}
}

// spelling returns a text in the type of a value if it can have that. A part that is cut out of a text is a text at first, but values.yaml
// may have a number there.
func spelling(text string, like any) any {
	if all := spellings(text, like); len(all) > 0 {
		return all[0]
	}
	return text
}

// sameType reports whether two scalars have one type; all numbers have one. JSON has one type for them, so a difference between int64 and
// float64 is none in the file.
func sameType(a, b any) bool {
	kind := func(v any) int {
		switch v.(type) {
		case string:
			return 1
		case bool:
			return 2
		case nil:
			return 3
		}
		return 4
	}
	return kind(a) == kind(b)
}
