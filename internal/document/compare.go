package document

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Sides are the three states of one thing, by the indexes below.
type Sides[T any] [3]T

// These are the indexes of Sides.
const (
	Old = iota
	Desired
	Live
)

// Difference is what differs between documents in one format.
type Difference struct {
	Format Format
	// Changes are the places that differ. There are none if only the formatting differs. More counts the changes beyond the first hundred.
	Changes []Change
	More    int
	// Roots are the values of the documents, or nil for an absent side.
	Roots Sides[any]
}

// Kind is what happened to a place of a document.
type Kind string

// These are the kinds of changes.
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
	// Values are the sides at the path: nil if the side lacks it, object.Null for a null. They are empty for a list that differs only in
	// order.
	Values Sides[any]
	// Live reports whether live differs from old, and Desired whether desired does. If there is no old document, Desired reports whether
	// desired differs from live.
	Live, Desired bool
}

// Compare compares the texts of an entry with a name. A nil text is absent. It returns false unless at least two texts are documents in
// one format, and differ. All texts must have the same format, because otherwise a typo in one of them would show as a change of the whole
// document.
func Compare(name string, texts Sides[*string]) (Difference, bool) {
	// Most entries are equal on all sides, and are never parsed.
	if allEqual(texts, func(a, b *string) bool { return *a == *b }) {
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
	// The walk compares names as texts, so it does not distinguish a key 1 from a key "1". Documents that differ only in that seem to differ
	// only in formatting, so show the texts.
	if len(d.Changes) == 0 && !allEqual(documents, func(a, b *parsed) bool { return slices.Equal(a.oddKeys, b.oddKeys) }) {
		return Difference{}, false
	}
	return d, true
}

// allEqual reports whether the sides that exist are equal.
func allEqual[T any](sides Sides[*T], equal func(a, b *T) bool) bool {
	var first *T
	for _, s := range sides {
		if first == nil {
			first = s
		} else if s != nil && !equal(s, first) {
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
	// has says which documents exist.
	has Sides[bool]
}

// walk compares one place of all documents.
func (c *comparison) walk(path object.Path, at Sides[side]) {
	live, desired := c.moved(func(a, b int) bool { return !at[a].isEqual(at[b]) })
	switch {
	case !live && !desired:
	// Ignore a side without a document, but not a side that lacks the place: then the whole place was added or removed.
	case all(c.has, at, isMap):
		c.maps(path, at)
	case all(c.has, at, isList):
		c.lists(path, at)
	default:
		c.add(path, at, live, desired)
	}
}

// moved reports whether live differs from old and whether desired does. The function differ compares two sides. Without old, every
// difference counts as a change by desired.
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
	var sides Sides[map[string]any]
	for i, s := range at {
		sides[i], _ = s.value.(map[string]any)
	}
	// Keys of any side count, in a sorted order, so that the same documents always give the same list.
	for _, name := range object.AllKeys(sides[:]...) {
		var below Sides[side]
		for i, m := range sides {
			below[i].value, below[i].there = m[name]
		}
		c.walk(path.Field(name), below)
	}
}

// add adds a change, or counts it.
func (c *comparison) add(path object.Path, at Sides[side], live, desired bool) {
	// If both live and desired changed, the kind describes the change in the cluster, which the reader does not know yet.
	from, to := at[Old], at[Desired]
	switch {
	case live:
		to = at[Live]
	case !c.has[Old]:
		from = at[Live]
	}
	change := Change{Path: path, Kind: Changed, Live: live, Desired: desired}
	switch {
	case !from.there:
		change.Kind = Added
	case !to.there:
		change.Kind = Removed
	}
	for i, s := range at {
		w, isWord := s.value.(word)
		switch {
		case !s.there:
		case s.value == nil:
			change.Values[i] = object.Null{}
		// Do not show two sides that look the same: the text yes, and the word yes without quotes.
		case isWord && slices.ContainsFunc(at[:], func(other side) bool { return other.value == string(w) }):
			change.Values[i] = string(w) + " (without quotes)"
		default:
			change.Values[i] = shown(s.value)
		}
	}
	c.append(change)
}

func (c *comparison) append(change Change) {
	// A replaced file has a change in every line. People read only the first ones, and the size of the report is limited.
	if len(c.Changes) == maxChanges {
		c.More++
		return
	}
	c.Changes = append(c.Changes, change)
}

// shown returns a copy of a value with words as strings. It is a copy, because the words are still needed to compare other places.
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

// itemKeys are the fields that name list items, the best first. They come from common content of ConfigMaps: rules and scrape jobs of
// Prometheus, dashboards, users and routes.
var itemKeys = []string{
	"name", "id", "uid", "key", "job_name", "alert", "record", "title", "role", "host", "path", "url", "userarn", "rolearn",
}

// lists compares lists: by the key of their items if all have one, or else by position. Compared by position, an item that is inserted
// in the middle would make all items after it differ.
//
// Items of a list have no names, so this function decides which items of two lists correspond:
//
//	[{name: a, v: 1}, {name: b}]  and  [{name: b}, {name: a, v: 2}]   ─► [name=a].v changed
//	[x, y, z]                     and  [x, Y, z]                      ─► [1] changed
func (c *comparison) lists(path object.Path, at Sides[side]) {
	var lists Sides[[]any]
	for i, s := range at {
		lists[i], _ = s.value.([]any)
	}
	for _, key := range itemKeys {
		if indexes, ok := byKey(key, lists); ok {
			c.keyedLists(path, key, lists, indexes)
			return
		}
	}
	c.plainLists(path, lists)
}

// byKey returns the indexes of the items by the values of a key. It returns false unless every item of every list is a map that has the
// key, and each list has each value once. If one item lacks the key, the items have no identity, and matching some of them would be a
// guess.
func byKey(key string, lists Sides[[]any]) (out Sides[map[any]int], ok bool) {
	for i, list := range lists {
		out[i] = map[any]int{}
		for n, item := range list {
			m, _ := item.(map[string]any)
			switch v := m[key].(type) {
			case string, json.Number, int64:
				if _, twice := out[i][v]; twice || v == "" {
					return out, false
				}
				out[i][v] = n
			default:
				return out, false
			}
		}
	}
	return out, true
}

// keyedLists compares items with the same key. If no item differs, the order does.
func (c *comparison) keyedLists(path object.Path, key string, lists Sides[[]any], indexes Sides[map[any]int]) {
	before := len(c.Changes) + c.More
	done := map[any]bool{}
	for _, list := range lists {
		for _, item := range list {
			v := item.(map[string]any)[key]
			// Compare each value once, at its place in the first list that has it.
			if done[v] {
				continue
			}
			done[v] = true
			var below Sides[side]
			for i := range lists {
				if n, has := indexes[i][v]; has {
					below[i] = side{true, lists[i][n]}
				}
			}
			c.walk(path.Item([]object.ListKey{{Name: key, Value: v}}), below)
		}
	}
	// The lists differ, otherwise walk would not call this function.
	if len(c.Changes)+c.More == before {
		live, desired := c.moved(func(a, b int) bool { return !object.Identical(lists[a], lists[b]) })
		c.append(Change{Path: path, Kind: Reordered, Live: live, Desired: desired})
	}
}

// plainLists compares items by position. It skips the equal items at the beginning and at the end of all lists, so that it compares only
// the part where something was inserted, removed or changed. A longest common subsequence of three lists would be slower but not clearer.
func (c *comparison) plainLists(path object.Path, lists Sides[[]any]) {
	var existing [][]any
	shortest, longest := math.MaxInt, 0
	for i, list := range lists {
		if c.has[i] {
			existing = append(existing, list)
			shortest, longest = min(shortest, len(list)), max(longest, len(list))
		}
	}
	start := 0
	for start < shortest && sameItem(existing, func(int) int { return start }) {
		start++
	}
	end := 0
	for end < shortest-start && sameItem(existing, func(length int) int { return length - 1 - end }) {
		end++
	}
	for n := start; n < longest-end; n++ {
		var below Sides[side]
		for i, list := range lists {
			if n < len(list)-end {
				below[i] = side{true, list[n]}
			}
		}
		c.walk(path.Index(n), below)
	}
}

// sameItem reports whether an item is the same in all lists. Index returns where it is in a list of a length.
func sameItem(lists [][]any, index func(length int) int) bool {
	itemOf := func(list []any) any { return list[index(len(list))] }
	first := itemOf(lists[0])
	return !slices.ContainsFunc(lists[1:], func(list []any) bool { return !object.Identical(itemOf(list), first) })
}
