package document

import (
	"encoding/json"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// itemKeys are the fields by which list items are named, the best first. They come from what ConfigMaps commonly hold: rules and scrape
// jobs of Prometheus, dashboards, users and routes.
func itemKeys() []string {
	return []string{"name", "id", "uid", "key", "job_name", "alert", "record", "title", "role", "host", "path", "url", "userarn", "rolearn"}
}

// lists compares lists: by the key of their items if all have one, else by position. By position an item that is inserted in the middle
// would make all items after it differ.
//
// A list has no names for its items, so what an item of one list has to do with one of another list is decided here:
//
//	[{name: a, v: 1}, {name: b}]  and  [{name: b}, {name: a, v: 2}]   ─► [name=a].v changed
//	[x, y, z]                     and  [x, Y, z]                      ─► [1] changed
func (c *comparison) lists(path object.Path, at Sides[side]) {
	var lists Sides[[]any]
	for i, s := range at {
		lists[i], _ = s.value.([]any)
	}
	for _, key := range itemKeys() {
		if indexes, ok := byKey(key, lists); ok {
			c.keyedLists(path, key, lists, indexes)
			return
		}
	}
	c.plainLists(path, lists)
}

// byKey returns the indexes of the items by the values of a key. It returns false unless every item of every list is a map that has the
// key, and each list has each value once. If one item lacks the key, the lists have no identity of items, and to match some of them would
// be a guess.
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

// keyedLists compares items of the same key. Where no item differs, the order does.
func (c *comparison) keyedLists(path object.Path, key string, lists Sides[[]any], indexes Sides[map[any]int]) {
	before := len(c.Changes) + c.More
	done := map[any]bool{}
	for _, list := range lists {
		for _, item := range list {
			v := item.(map[string]any)[key]
			// Each value is compared once, at its place in the first list that has it.
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
	// The lists differ, or walk would not have come here.
	if len(c.Changes)+c.More == before {
		live, desired := c.moved(func(a, b int) bool { return !object.Identical(lists[a], lists[b]) })
		c.append(Change{Path: path, Kind: Reordered, Live: live, Desired: desired})
	}
}

// plainLists compares items by position, after the items with which all lists begin and before those with which all end. That leaves the
// part in which something was inserted, removed or changed; a longest common subsequence of three lists would be slower and no clearer.
func (c *comparison) plainLists(path object.Path, lists Sides[[]any]) {
	shortest, longest := -1, 0
	for i, list := range lists {
		if !c.has[i] {
			continue
		}
		if shortest < 0 || len(list) < shortest {
			shortest = len(list)
		}
		longest = max(longest, len(list))
	}
	start := 0
	for start < shortest && c.sameItem(lists, func(int) int { return start }) {
		start++
	}
	end := 0
	for end < shortest-start && c.sameItem(lists, func(length int) int { return length - 1 - end }) {
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
func (c *comparison) sameItem(lists Sides[[]any], index func(length int) int) bool {
	var all []any
	for i, list := range lists {
		if c.has[i] {
			all = append(all, list[index(len(list))])
		}
	}
	return !slices.ContainsFunc(all[1:], func(item any) bool { return !object.Identical(item, all[0]) })
}
