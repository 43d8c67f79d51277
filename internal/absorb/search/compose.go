package search

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// segment is a part of the field that comes from a value: desired consists of before, the value, and after. Before and after are texts of
// the rendering and not of the template, so the search needs to know nothing about functions such as quote, printf and trimSuffix.
type segment struct {
	leaf          leaf
	before, after string
}

// composition is how the field is composed of values, as far as the renderings have shown it.
type composition struct {
	*field
	// moves are the values that changed the field, with the texts around them in it.
	moves []segment
}

// solved returns the attempts that follow from a rendering that changed the field, but not to live: live without what surrounds the value.
func (c *composition) solved(a attempt, r Rendering) []attempt {
	if a.leaf == nil || a.put == "" {
		return nil
	}
	was, _ := c.desired(c.current)
	is, present := c.desired(r)
	// If the field did not change, the value is not a part of it, and the rendering does not show how the field is composed.
	if !present || !object.IsScalar(is) || !object.IsScalar(c.Live) || object.Equal(was, is) {
		return nil
	}
	has, live := textOf(is), textOf(c.Live)
	var out []attempt
	for i := 0; ; {
		// The field may contain the text several times, such as a version in a tag and in a path. Each place is a guess of its own.
		at := strings.Index(has[i:], a.put)
		if at < 0 {
			break
		}
		at += i
		s := segment{leaf: *a.leaf, before: has[:at], after: has[at+len(a.put):]}
		c.moves = append(c.moves, s)
		if rest, ok := s.rest(live); ok {
			for _, v := range spellings(rest, a.leaf.value) {
				out = append(out, attempt{edits: []Edit{{Path: a.leaf.path, Value: v}}, score: a.score + 20})
			}
		}
		i = at + 1
	}
	return out
}

// rest returns the value that makes the field equal a text: the text without before and after, or a quantity in the unit after the value.
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

// composed returns the attempts that set together all values that make up the field. One value after the other would not do: with only a
// new tag, the field does not equal live yet, so the rendering proves nothing.
func (c *composition) composed([]leaf) []attempt {
	parts := c.parts()
	if len(parts) < 2 {
		return nil
	}
	var out []attempt
	for _, greedy := range []bool{false, true} {
		texts, ok := cut(textOf(c.Live), parts, greedy)
		if !ok {
			continue
		}
		// Parts that already have their text need no edit.
		if edits := setTo(parts, texts); len(edits) > 0 {
			out = append(out, attempt{edits: edits, score: parts[0].leaf.score})
		}
	}
	return out
}

// emptied returns the attempts that empty one part of the field, such as the digest of an image, and set the other parts as in live.
// Templates leave out the separator of an empty part, so the text cannot be cut at it.
func (c *composition) emptied([]leaf) []attempt {
	parts := c.parts()
	var out []attempt
	for i, gone := range parts {
		if gone.now == "" {
			continue
		}
		rest := slices.Concat(parts[:i], parts[i+1:])
		if len(rest) == 0 {
			continue
		}
		// The last part also loses the text before it, such as the @ of a digest.
		if i == len(parts)-1 {
			rest[len(rest)-1].tail = gone.tail
		}
		for _, greedy := range []bool{false, true} {
			if texts, ok := cut(textOf(c.Live), rest, greedy); ok {
				edits := append([]Edit{{Path: gone.leaf.path, Value: ""}}, setTo(rest, texts)...)
				out = append(out, attempt{edits: edits, score: gone.leaf.score})
			}
		}
	}
	return out
}

// setTo returns the edits that give parts other texts. A value keeps its type, so that a port stays a number.
func setTo(parts []part, texts []string) []Edit {
	var out []Edit
	for i, p := range parts {
		if texts[i] != p.now {
			out = append(out, Edit{Path: p.leaf.path, Value: spelling(texts[i], p.leaf.value)})
		}
	}
	return out
}

// part is a value in its place in the field: separator is the text between it and the previous part, and now is its own text.
type part struct {
	leaf           leaf
	separator, now string
	tail           string
}

// parts returns the parts of the field in their order, each value once. It leaves out parts that overlap others. A move was seen with
// another text in the field, so parts compares its surroundings with the present text.
func (c *composition) parts() []part {
	now, _ := c.desired(c.current)
	if !object.IsScalar(now) || !object.IsScalar(c.Live) {
		return nil
	}
	text := textOf(now)
	kept := object.Filter(c.moves, func(m segment) bool {
		return len(m.before)+len(m.after) <= len(text) && strings.HasPrefix(text, m.before) && strings.HasSuffix(text, m.after)
	})
	order.Sort(kept, func(a, b segment) int { return len(a.before) - len(b.before) })
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

// cut cuts a text at the separators of the parts. If greedy is set, it cuts at the last place of a separator instead of the first. The
// search tries both, because a registry may have a colon for its port, and a repository may have slashes.
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
