package absorb

import (
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// refusal returns why the values file cannot take edits on top of those of the fields before; nil if it can. The whole difference is asked
// for and not the edits alone: two fields may need one shared value alike, which the file takes only from both together.
func (s *search) refusal(edits []Edit) *Refusal {
	if s.Refuses == nil {
		return nil
	}
	return s.Refuses(difference(s.Edited, apply(s.edited, s.values, edits), nil))
}

// refuse notes a change that was refused. The first one stays, since the likely ones come first, unless a later one has fewer edits.
func (f *fieldSearch) refuse(r *Refused) {
	if f.refused == nil || len(r.Edits) < len(f.refused.Edits) {
		f.refused = r
	}
}

// refusedAtOnce notes that the template of the object itself refuses an attempt, and returns what to try instead. That is only said of a value
// that stands in the field as it is: the others may fail because they have nothing to do with the field.
func (f *fieldSearch) refusedAtOnce(a attempt, r Rendering) []attempt {
	now, _ := f.desired(f.current)
	if r.GivenUp || a.leaf == nil || !a.leaf.read || a.leaf.value == nil || !f.Present || len(a.edits) != 1 ||
		a.put != textOf(f.Live) || !object.IsScalar(now) || textOf(now) != textOf(a.leaf.value) {
		return nil
	}
	f.refuse(&Refused{Edits: a.edits, Reason: r.Fault})
	return f.permitted(a, r.Fault)
}

// permitted returns the attempts that flip a switch together with edits that the chart refuses: the switches are those that the chart names
// in its refusal. Charts guard some values so, such as the registry of an image with a switch for images that its authors do not know.
func (f *fieldSearch) permitted(a attempt, fault string) []attempt {
	var out []attempt
	walkValues(f.values, func(path []any, v any) {
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

// names reports whether a text has a name that is no part of a longer one.
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

// endsInName reports whether a name could go on after a text. "Values." before a name is how templates write it.
func endsInName(text string) bool {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "Values."), ".")
	return text != "" && strings.ContainsRune(nameLetters, rune(text[len(text)-1]))
}

// beginsName reports whether a text goes on with a name. A dot alone ends a sentence.
func beginsName(text string) bool {
	text = strings.TrimPrefix(text, ".")
	return text != "" && strings.ContainsRune(nameLetters, rune(text[0]))
}
