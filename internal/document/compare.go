package document

import (
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Sides are the three states of one thing, by the indexes below.
type Sides[T any] [3]T

// The indexes of Sides.
const (
	Old = iota
	Desired
	Live
)

// Difference is what differs between documents in one format.
type Difference struct {
	Format Format
	// Changes are the places that differ; none if only the formatting does. More counts those beyond the first hundred.
	Changes []Change
	More    int
	// Roots are the values of the documents; nil where a side is absent.
	Roots Sides[any]
}

// Kind is what happened to a place of a document.
type Kind string

// The kinds of changes.
const (
	Added     Kind = "added"
	Removed   Kind = "removed"
	Changed   Kind = "changed"
	Reordered Kind = "reordered"
)

// Change is one place of a document that differs between sides.
type Change struct {
	Path object.Path
	Kind Kind
	// Values are the sides at the path: nil where one lacks it, object.Null for a null. They are empty for a list of which only the order
	// differs.
	Values Sides[any]
	// Live reports whether live differs from old, and Desired whether desired does. If old is no document, Desired reports whether desired
	// differs from live.
	Live, Desired bool
}

// Compare compares the texts of an entry with a name. A nil text is absent. It returns false unless two texts at least are documents in one
// format, and differ. If the formats were decided text by text, a typo in one of them would show as a change of the whole document.
func Compare(name string, texts Sides[*string]) (Difference, bool) {
	if !differ(texts) {
		return Difference{}, false
	}
	format, documents, ok := parseAll(name, texts)
	if !ok {
		return Difference{}, false
	}
	d := Difference{Format: format}
	c := comparison{Difference: &d}
	var sides Sides[side]
	for i, doc := range documents {
		if doc != nil {
			c.has[i] = true
			sides[i] = side{there: true, value: doc.root}
			d.Roots[i] = shown(doc.root)
		}
	}
	c.walk(nil, sides)
	// Nothing that can be shown differs, but the documents are not the same either, so the texts are shown.
	if len(d.Changes) == 0 && !sameOddKeys(documents) {
		return Difference{}, false
	}
	return d, true
}

// differ reports whether two texts that are there differ. Most entries are equal on all sides, and are never parsed.
func differ(texts Sides[*string]) bool {
	var first *string
	for _, t := range texts {
		if first == nil {
			first = t
		} else if t != nil && *t != *first {
			return true
		}
	}
	return false
}

// sameOddKeys reports whether the keys that are no strings are the same in all documents. The walk compares names as texts, so a key 1 and
// a key "1" are one there. Without this check such documents would seem to differ in formatting only.
func sameOddKeys(documents Sides[*parsed]) bool {
	var first *parsed
	for _, d := range documents {
		if first == nil {
			first = d
		} else if d != nil && !slices.Equal(d.oddKeys, first.oddKeys) {
			return false
		}
	}
	return true
}

// side is a place of one document. An absent place and a null are different things: a null in a document may switch something off.
type side struct {
	there bool
	value any
}

// isEqual reports whether two sides are the same.
func (s side) isEqual(o side) bool { return s.there == o.there && object.Identical(s.value, o.value) }

// comparison collects the changes.
type comparison struct {
	*Difference
	// has says which documents are there.
	has Sides[bool]
}

// walk compares one place of all documents.
func (c *comparison) walk(path object.Path, at Sides[side]) {
	live, desired := c.moved(func(a, b int) bool { return !at[a].isEqual(at[b]) })
	switch {
	case !live && !desired:
	// A side that is no document is ignored. A side that lacks the place is not: then the place as a whole was added or removed.
	case all(c.has, at, isMap):
		c.maps(path, at)
	case all(c.has, at, isList):
		c.lists(path, at)
	default:
		c.add(path, at, live, desired)
	}
}

// moved reports whether live differs from old and whether desired does, by a comparison of two sides. Without old there is nobody who could
// have changed something first, so what differs is for desired to change.
func (c *comparison) moved(differ func(a, b int) bool) (live, desired bool) {
	if !c.has[Old] {
		return false, c.has[Desired] && c.has[Live] && differ(Desired, Live)
	}
	return c.has[Live] && differ(Old, Live), c.has[Desired] && differ(Old, Desired)
}

// all reports whether every document has the place, with a value of one type.
func all(has Sides[bool], at Sides[side], is func(any) bool) bool {
	for i, s := range at {
		if has[i] && !is(s.value) {
			return false
		}
	}
	return true
}

// maps compares maps, key by key.
func (c *comparison) maps(path object.Path, at Sides[side]) {
	// Keys of any side count, in a sorted order, so that the same documents always give the same list.
	names := map[string]bool{}
	for _, s := range at {
		m, _ := s.value.(map[string]any)
		for name := range m {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var below Sides[side]
		for i, s := range at {
			m, _ := s.value.(map[string]any)
			below[i].value, below[i].there = m[name]
		}
		c.walk(path.Field(name), below)
	}
}

// add adds a change, or counts it.
func (c *comparison) add(path object.Path, at Sides[side], live, desired bool) {
	// If both live and desired moved, the kind is that of what happened in the cluster, which the reader does not know yet.
	from, to := at[Old], at[Desired]
	switch {
	case live:
		to = at[Live]
	case !c.has[Old]:
		from = at[Live]
	}
	change := Change{Path: path, Kind: kindOf(from, to), Live: live, Desired: desired}
	strings := map[string]bool{}
	for _, s := range at {
		if text, ok := s.value.(string); ok {
			strings[text] = true
		}
	}
	for i, s := range at {
		w, isWord := s.value.(word)
		switch {
		case !s.there:
		case s.value == nil:
			change.Values[i] = object.Null{}
		// Two sides that look the same would be no help: one is the text yes, the other one the word yes without quotes.
		case isWord && strings[string(w)]:
			change.Values[i] = string(w) + " (without quotes)"
		default:
			change.Values[i] = shown(s.value)
		}
	}
	c.append(change)
}

func (c *comparison) append(change Change) {
	// A file that was replaced has a change in every line. People read the first ones, and the report has a size.
	if len(c.Changes) == maxChanges {
		c.More++
		return
	}
	c.Changes = append(c.Changes, change)
}

func kindOf(from, to side) Kind {
	switch {
	case !from.there:
		return Added
	case !to.there:
		return Removed
	}
	return Changed
}

// shown returns a copy of a value in which words are strings. It is a copy, because the words are still needed to compare other places.
func shown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = shown(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = shown(v[i])
		}
		return out
	case word:
		return string(v)
	}
	return v
}
