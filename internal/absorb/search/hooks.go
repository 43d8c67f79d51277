package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Hook is a hook that the chart renders, with the events that run it.
type Hook struct {
	object.Object
	Events []string
}

// Hooks tells the effects of changed values on hooks from differences that each rendering has.
type Hooks struct {
	// random has the origins of hooks whose names differ with each rendering, fixed has the keys of hooks that each rendering has, and
	// noise has the places that differ with each rendering.
	random map[origin]bool
	fixed  map[object.Key]bool
	noise  map[hookPlace]bool
}

// hookID identifies a hook in all renderings: by its key or, if its name is random, by its template, kind and events. Several hooks with
// the same identity are distinguished by their order.
type hookID struct {
	key            object.Key
	source, events string
	n              int
}

type hookPlace struct {
	id   hookID
	path string
}

// NewHooks returns Hooks, given the hooks of two renderings of the same values.
func NewHooks(first, again []Hook) Hooks {
	h := Hooks{random: map[origin]bool{}, fixed: map[object.Key]bool{}, noise: map[hookPlace]bool{}}
	for _, one := range first {
		if slices.ContainsFunc(again, func(o Hook) bool { return o.Key == one.Key }) {
			h.fixed[one.Key] = true
		} else {
			h.random[originOf(one.Object)] = true
		}
	}
	known := h.byID(again)
	for id, one := range h.byID(first) {
		walkDifferences(one.Content, known[id].Content, nil, func(path object.Path, _, _ any) {
			h.noise[hookPlace{id, path.String()}] = true
		})
	}
	return h
}

// byID returns hooks by their identities.
func (h Hooks) byID(hooks []Hook) map[hookID]Hook {
	out := map[hookID]Hook{}
	for _, one := range hooks {
		id := hookID{key: one.Key}
		if h.random[originOf(one.Object)] && !h.fixed[one.Key] {
			id.key.Name, id.source, id.events = "", one.Source, strings.Join(one.Events, ",")
		}
		for _, taken := out[id]; taken; _, taken = out[id] {
			id.n++
		}
		out[id] = one
	}
	return out
}

// Effects returns what differs between the hooks of two renderings, except for what differs with each rendering. Helm never patches a
// hook, so Effects compares hooks as they are written, without the defaults of the API.
func (h Hooks) Effects(before, after []Hook) []Effect {
	was, is := h.byID(before), h.byID(after)
	var out []Effect
	for _, id := range sortedIDs(was) {
		a := was[id]
		b, found := is[id]
		if !found {
			out = append(out, Effect{Key: a.Key, Hook: a.Events, Before: a.Content})
			continue
		}
		events := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Events, b.Events))))
		walkDifferences(a.Content, b.Content, nil, func(path object.Path, before, after any) {
			if !h.noise[hookPlace{id, path.String()}] {
				out = append(out, Effect{
					Key: b.Key, Hook: events, Path: path, Before: before, After: after, Derived: isDerived(path, before, after),
				})
			}
		})
	}
	for _, id := range sortedIDs(is) {
		if _, found := was[id]; !found {
			out = append(out, Effect{Key: is[id].Key, Hook: is[id].Events, After: is[id].Content})
		}
	}
	return out
}

func sortedIDs(hooks map[hookID]Hook) []hookID {
	return order.Sorted(maps.Keys(hooks), func(a, b hookID) int {
		return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.source, b.source), cmp.Compare(a.events, b.events), cmp.Compare(a.n, b.n))
	})
}
