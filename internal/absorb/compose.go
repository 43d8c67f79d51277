package absorb

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// segment is a part of the field that a value makes: desired is before, the value, after. Before and after are texts of the rendering and
// not of the template, so functions such as quote, printf and trimSuffix need no knowledge here.
type segment struct {
	leaf          leaf
	before, after string
}

// solved returns the attempts that follow from a rendering in which the field moved and is not live: what stands before and after the value
// is taken off live.
func (f *fieldSearch) solved(a attempt, r Rendering) []attempt {
	if a.leaf == nil || a.put == "" {
		return nil
	}
	was, _ := f.desired(f.current)
	is, present := f.desired(r)
	// A field that stays as it is shows nothing of how it is composed, and the value is none of its parts.
	if !present || !object.IsScalar(is) || !object.IsScalar(f.Live) || object.Equal(was, is) {
		return nil
	}
	has, live := textOf(is), textOf(f.Live)
	var out []attempt
	for i := 0; ; {
		// The text may stand in the field several times, such as a version in a tag and in a path; each place is a guess of its own.
		at := strings.Index(has[i:], a.put)
		if at < 0 {
			break
		}
		at += i
		s := segment{leaf: *a.leaf, before: has[:at], after: has[at+len(a.put):]}
		f.moves = append(f.moves, s)
		if rest, ok := s.rest(live); ok {
			for _, v := range spellings(rest, a.leaf.value) {
				out = append(out, attempt{edits: []Edit{{Path: a.leaf.path, Value: v}}, score: a.score + 20})
			}
		}
		i = at + 1
	}
	return out
}

// rest returns what the value must be for the field to be a text: what is left without the texts around it, or a quantity in the unit that
// the template writes behind the value.
func (s segment) rest(text string) (string, bool) {
	if inside, ok := strings.CutPrefix(text, s.before); ok {
		if inside, ok = strings.CutSuffix(inside, s.after); ok {
			return inside, true
		}
	}
	if s.before != "" {
		return "", false
	}
	return inUnit(text, s.after)
}

// composed returns the attempts that set all values of which the field is composed together. One value after the other would not do: with a
// new tag alone the field is still not live, so nothing would be proved.
func (f *fieldSearch) composed([]leaf) []attempt {
	now, _ := f.desired(f.current)
	if !object.IsScalar(now) || !object.IsScalar(f.Live) || len(f.moves) < 2 {
		return nil
	}
	parts := inOrder(f.moves, textOf(now))
	if len(parts) < 2 {
		return nil
	}
	var out []attempt
	for _, greedy := range []bool{false, true} {
		texts, ok := cut(textOf(f.Live), parts, greedy)
		if !ok {
			continue
		}
		// Parts that have their text already are no edits: the smallest change is wanted.
		if edits := setTo(parts, texts); len(edits) > 0 {
			out = append(out, attempt{edits: edits, score: parts[0].leaf.score})
		}
	}
	return out
}

// emptied returns the attempts in which one part of the field is empty, such as the digest of an image, and the other parts are as live has
// them. Templates leave out the separator of an empty part, so the text cannot be cut at it.
func (f *fieldSearch) emptied([]leaf) []attempt {
	now, _ := f.desired(f.current)
	if !object.IsScalar(now) || !object.IsScalar(f.Wanted.Live) || len(f.moves) < 2 {
		return nil
	}
	parts := inOrder(f.moves, textOf(now))
	var out []attempt
	for i, gone := range parts {
		if gone.now == "" {
			continue
		}
		rest := slices.Concat(parts[:i], parts[i+1:])
		if len(rest) == 0 {
			continue
		}
		// The last part also loses what stands before it, such as the @ of a digest.
		if i == len(parts)-1 {
			rest[len(rest)-1].tail = gone.tail
		}
		for _, greedy := range []bool{false, true} {
			if texts, ok := cut(textOf(f.Wanted.Live), rest, greedy); ok {
				edits := append([]Edit{{Path: gone.leaf.path, Value: ""}}, setTo(rest, texts)...)
				out = append(out, attempt{edits: edits, score: gone.leaf.score})
			}
		}
	}
	return out
}

// setTo returns the edits that give parts other texts. The type is that of the old value, so that a port stays a number.
func setTo(parts []part, texts []string) []Edit {
	var out []Edit
	for i, p := range parts {
		if texts[i] != p.now {
			out = append(out, Edit{Path: p.leaf.path, Value: spelling(texts[i], p.leaf.value)})
		}
	}
	return out
}

// part is a value in its place in the field: separator, what stands between it and the part before it; now, its own text.
type part struct {
	leaf           leaf
	separator, now string
	tail           string
}

// inOrder returns the parts of a text in their order, each value once. Parts that overlap others are left out. A move was seen with another
// text in its place, so its surroundings are compared with the present text again.
func inOrder(moves []segment, text string) []part {
	var kept []segment
	for _, m := range moves {
		if len(m.before)+len(m.after) <= len(text) && strings.HasPrefix(text, m.before) && strings.HasSuffix(text, m.after) {
			kept = append(kept, m)
		}
	}
	slices.SortStableFunc(kept, func(a, b segment) int { return len(a.before) - len(b.before) })
	var out []part
	end := 0
	for _, m := range kept {
		if len(m.before) < end || slices.ContainsFunc(out, func(p part) bool { return nameOf(p.leaf.path) == nameOf(m.leaf.path) }) {
			continue
		}
		stop := len(text) - len(m.after)
		out = append(out, part{leaf: m.leaf, separator: text[end:len(m.before)], now: text[len(m.before):stop]})
		end = stop
	}
	if len(out) > 0 {
		out[len(out)-1].tail = text[end:]
	}
	return out
}

// cut cuts a text at the separators of the parts. Greedy takes the last place of a separator instead of the first. Both are tried, because
// a registry may have a colon for its port and a repository slashes of its own.
//
// With the parts registry, "/" repository and ":" tag, the text mirror.example:5000/team/web:2 is cut in two ways:
//
//	first   mirror.example:5000 | team/web | 2
//	last    mirror.example:5000/team | web | 2
func cut(text string, parts []part, greedy bool) ([]string, bool) {
	rest, ok := strings.CutPrefix(text, parts[0].separator)
	if !ok {
		return nil, false
	}
	if rest, ok = strings.CutSuffix(rest, parts[len(parts)-1].tail); !ok {
		return nil, false
	}
	var out []string
	for _, p := range parts[1:] {
		if p.separator == "" {
			return nil, false
		}
		at := strings.Index(rest, p.separator)
		if greedy {
			at = strings.LastIndex(rest, p.separator)
		}
		if at < 0 {
			return nil, false
		}
		out, rest = append(out, rest[:at]), rest[at+len(p.separator):]
	}
	return append(out, rest), true
}
