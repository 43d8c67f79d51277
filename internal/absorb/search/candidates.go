package search

import (
	"encoding/json"
	"strings"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// likelyLeaves is how many values the first phase tries. The name of a value and its present content nearly always point to it.
const likelyLeaves = 24

// likely returns the attempts with the values that are most likely.
func (f *field) likely(nodes []leaf) []attempt {
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

// others returns the attempts with all values that the template may read: charts have their own names for some things of Kubernetes.
func (f *field) others(nodes []leaf) []attempt {
	var out []attempt
	for _, l := range nodes {
		if l.read {
			out = append(out, f.direct(l)...)
		}
	}
	return out
}

// unread returns the attempts with values that the template does not seem to read, if they are like the field. The parse trees are a guide
// and not a proof: a template that computes the name of a value reads it too.
func (f *field) unread(nodes []leaf) []attempt {
	var out []attempt
	for _, l := range nodes {
		if !l.read && l.score > 0 && len(out) < likelyLeaves {
			out = append(out, f.direct(l)...)
		}
	}
	return out
}

// direct returns the attempts that set a value to the live value itself, or remove what live lacks.
func (f *field) direct(l leaf) []attempt {
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
		// This text would break the document around it. A short text shows how the field is composed.
		out = append(out, l.replacedBy(probeFor(l.value)))
	}
	for _, v := range spellings(value, l.value) {
		if l.value == nil || textOf(v) != textOf(l.value) || isText(v) != isText(l.value) {
			out = append(out, l.replacedBy(v))
		}
	}
	return out
}

// replacedBy returns the attempt that replaces a scalar by another one.
func (l leaf) replacedBy(v any) attempt {
	return attempt{edits: []Edit{{Path: l.path, Value: v}}, score: l.score, leaf: &l, put: textOf(v)}
}

// isAlike reports whether a map or a list may replace a value: one of the same kind, or nothing.
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

// probeFor returns a value of the same type that occurs nowhere else. It is short and plain, so it is valid as a name, a tag or a port.
func probeFor(like any) any {
	switch like.(type) {
	case float64, int64, int, json.Number:
		return 64919.0
	case bool:
		return nil
	}
	return markValue
}

// deletions returns the attempts that remove a value.
func (f *field) deletions(l leaf) []attempt {
	var out []attempt
	score := l.score
	add := func(e Edit, score int) { out = append(out, attempt{edits: []Edit{e}, score: score}) }
	switch v := l.value.(type) {
	case bool:
		// Flip a switch and do not set it to null: most templates would accept a null, but people expect true or false. If a whole object
		// should go, a switch is likely.
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
	// Remove the value if the file itself adds it. Otherwise set it to null, because a default of the chart would come back.
	if _, inFile := valuesfile.ValueAt(f.edited, l.path); inFile {
		add(Edit{Path: l.path, Remove: true}, score+1)
	}
	add(Edit{Path: l.path}, score)
	return out
}

// maxSwitch is how many switches are tried, and enoughLeft is how much less likely a switch together with a value is than either alone.
const (
	maxSwitch  = 12
	enoughLeft = 64
)

// switches returns the attempts that flip a switch, alone and together with a likely value that the switch may hide. For example, an
// autoscaler that is on hides the number of replicas: then neither the switch nor the number alone changes the field to live's value.
func (f *field) switches(nodes []leaf) []attempt {
	var flips, values []attempt
	for _, l := range nodes {
		if b, ok := l.value.(bool); ok && l.read && len(flips) < maxSwitch {
			flips = append(flips, attempt{edits: []Edit{{Path: l.path, Value: !b}}, score: l.score})
		} else if len(values) < 4 && l.score > 0 {
			values = append(values, f.direct(l)...)
		}
	}
	out := flips
	for _, flip := range flips {
		for _, v := range values {
			out = append(out, attempt{edits: append(flip.edits[:1:1], v.edits...), score: flip.score + v.score - enoughLeft})
		}
	}
	return out
}
