package search

import (
	"maps"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// changes tells what changed values move.
type changes struct {
	*Problem
	// noise has the places that differ with each rendering, and random has the templates of objects whose names do.
	noise  map[place]bool
	random map[origin]bool
}

// effects returns what differs between two renderings, except for the field itself and for what differs with each rendering.
func (c *changes) effects(before, after Rendering, w Wanted) []Effect {
	var out []Effect
	for _, key := range order.Sorted(maps.Keys(before.Objects), object.Key.Compare) {
		was := before.Objects[key]
		is, found := after.Objects[key]
		switch {
		case !found && (key != w.Key || len(w.Path) > 0) && !c.random[originOf(was)]:
			out = append(out, Effect{Key: key, Before: was.Content, Converges: c.Lacks(key)})
		case found && !object.IsSameMap(was.Content, is.Content):
			out = append(out, c.moved(key, was.Content, is.Content, w)...)
		}
	}
	for _, key := range order.Sorted(maps.Keys(after.Objects), object.Key.Compare) {
		is := after.Objects[key]
		if _, found := before.Objects[key]; !found && !c.random[originOf(is)] {
			out = append(out, Effect{Key: key, After: is.Content})
		}
	}
	return append(out, c.Hooks.Effects(before.Hooks, after.Hooks)...)
}

// Moves returns what differs between the first rendering and another one, except for what differs with each rendering.
func (p *Problem) Moves(first, after Rendering) []Effect {
	c := &changes{Problem: p, noise: p.noiseOf(first, p.Again), random: randomOf(first, p.Again)}
	return c.effects(first, after, Wanted{})
}

// Count returns how many effects count as side effects: those on hooks, and those on other objects.
func Count(effects []Effect) (hooks, objects int) {
	for _, e := range effects {
		switch {
		case !e.counts():
		case e.Hook != nil:
			hooks++
		default:
			objects++
		}
	}
	return hooks, objects
}

// randomOf returns the origins of objects whose names differ between two renderings of the same values. Such an object is new in every
// rendering, so its appearance says nothing about the values.
func randomOf(a, b Rendering) map[origin]bool {
	out := map[origin]bool{}
	for key, o := range a.Objects {
		if _, found := b.Objects[key]; !found {
			out[originOf(o)] = true
		}
	}
	return out
}

// moved returns the places where two texts of an object differ in normal form.
func (c *changes) moved(key object.Key, was, is map[string]any, w Wanted) []Effect {
	var out []Effect
	live := c.LiveForm(key)
	before, after := any(c.Form(key, was)), any(c.Form(key, is))
	if key == w.Key {
		before, after = object.Without(before, w.Path), object.Without(after, w.Path)
	}
	walkDifferences(before, after, nil, func(path object.Path, before, after any) {
		// The field was removed from both sides. That may leave an empty map on one side and nothing on the other.
		if key == w.Key && w.Path.HasPrefix(path) && isEmpty(before) && isEmpty(after) || c.noise[place{key, path.String()}] {
			return
		}
		e := Effect{Key: key, Path: path, Before: before, After: after}
		// A place that becomes equal to live is welcome: two differing fields often have one cause.
		now, there := path.Lookup(live)
		e.Converges = live != nil && there == (after != nil) && (!there || object.Equal(now, after))
		e.Derived = isDerived(path, before, after)
		out = append(out, e)
	})
	return out
}

// place identifies a place of an object.
type place struct {
	key  object.Key
	path string
}

// noiseOf returns the places where two renderings of the same values differ.
func (p *Problem) noiseOf(a, b Rendering) map[place]bool {
	out := map[place]bool{}
	for key, o := range a.Objects {
		other, found := b.Objects[key]
		if !found || object.Equal(o.Content, other.Content) {
			continue
		}
		walkDifferences(p.Form(key, o.Content), p.Form(key, other.Content), nil, func(path object.Path, _, _ any) {
			out[place{key, path.String()}] = true
		})
	}
	return out
}

// harm counts the effects on other objects, and on the object of the field. That one matters less, since it changes in any case.
func harm(effects []Effect, w Wanted) (others, same int) {
	for _, e := range effects {
		switch {
		case !e.counts():
		case e.Key == w.Key && e.Hook == nil:
			same++
		default:
			others++
		}
	}
	return others, same
}
