package search

import (
	"maps"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// changes tells what changed values move.
type changes struct {
	*Problem
	naming
	// noise has the places that differ with each rendering.
	noise map[place]bool
}

// newChanges returns changes, given a rendering of the same values as Problem.Again.
func (p *Problem) newChanges(first Rendering) *changes {
	c := &changes{Problem: p, naming: namingOf(maps.Values(first.Objects), maps.Values(p.Again.Objects))}
	c.noise = noiseOf(c.byID(first), c.byID(p.Again), c.forms)
	return c
}

// byID returns the objects of a rendering by their identities.
func (c *changes) byID(r Rendering) map[identity]object.Object {
	var all []object.Object
	for _, key := range order.Sorted(maps.Keys(r.Objects), object.Key.Compare) {
		all = append(all, r.Objects[key])
	}
	return byIdentity(all, func(o object.Object) identity { return c.identityOf(o) })
}

// forms returns the normal forms of two texts of an object. It returns nil if they are equal, or if the name is random: each rendering
// makes a new object then, and only its appearance counts.
func (c *changes) forms(a, b object.Object) (before, after map[string]any) {
	if a.Key != b.Key || object.Equal(a.Content, b.Content) {
		return nil, nil
	}
	return c.Form(a.Key, a.Content), c.Form(b.Key, b.Content)
}

// effects returns what differs between two renderings, except for the field itself and for what differs with each rendering.
func (c *changes) effects(before, after Rendering, w Wanted) []Effect {
	was, is := c.byID(before), c.byID(after)
	var out []Effect
	for _, id := range sortedIDs(was) {
		a := was[id]
		b, found := is[id]
		switch {
		case !found && (a.Key != w.Key || len(w.Path) > 0):
			out = append(out, Effect{Key: a.Key, Before: a.Content, Converges: c.Lacks(a.Key)})
		case found && !object.IsSameMap(a.Content, b.Content):
			out = append(out, c.moved(id, a, b, w)...)
		}
	}
	for _, id := range sortedIDs(is) {
		if _, found := was[id]; !found {
			out = append(out, Effect{Key: is[id].Key, After: is[id].Content})
		}
	}
	return append(out, c.Hooks.Effects(before.Hooks, after.Hooks)...)
}

// Moves returns what differs between the first rendering and another one, except for what differs with each rendering.
func (p *Problem) Moves(first, after Rendering) []Effect {
	return p.newChanges(first).effects(first, after, Wanted{})
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

// moved returns the places where two texts of an object differ in normal form.
func (c *changes) moved(id identity, was, is object.Object, w Wanted) []Effect {
	var out []Effect
	key, live := is.Key, c.LiveForm(is.Key)
	wasForm, isForm := c.forms(was, is)
	before, after := any(wasForm), any(isForm)
	if key == w.Key {
		before, after = object.Without(before, w.Path), object.Without(after, w.Path)
	}
	walkDifferences(before, after, nil, func(path object.Path, before, after any) {
		// The field was removed from both sides. That may leave an empty map on one side and nothing on the other.
		if key == w.Key && w.Path.HasPrefix(path) && isEmpty(before) && isEmpty(after) || c.noise[place{id, path.String()}] {
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
