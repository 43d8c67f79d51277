package search

import (
	"iter"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Hook is a hook that the chart renders, with the events that run it.
type Hook struct {
	object.Object
	Events []string
}

// Hooks tells the effects of changed values on hooks from differences that each rendering has.
type Hooks struct {
	naming
	// noise has the places that differ with each rendering.
	noise map[place]bool
}

// NewHooks returns Hooks, given the hooks of two renderings of the same values.
func NewHooks(first, again []Hook) Hooks {
	h := Hooks{naming: namingOf(objectsOf(first), objectsOf(again))}
	h.noise = noiseOf(h.byID(first), h.byID(again), func(a, b Hook) (map[string]any, map[string]any) { return a.Content, b.Content })
	return h
}

// objectsOf returns the objects of hooks.
func objectsOf(hooks []Hook) iter.Seq[object.Object] {
	return func(yield func(object.Object) bool) {
		for _, one := range hooks {
			if !yield(one.Object) {
				return
			}
		}
	}
}

// byID returns hooks by their identities.
func (h Hooks) byID(hooks []Hook) map[identity]Hook {
	return byIdentity(hooks, func(one Hook) identity { return h.identityOf(one.Object, one.Events...) })
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
			if !h.noise[place{id, path.String()}] {
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
