package search

import (
	"cmp"
	"iter"
	"maps"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file matches the objects and the hooks of two renderings, also if each rendering makes another name.

// naming distinguishes random names from those that each rendering has.
type naming struct {
	// random has the origins of objects whose names differ with each rendering, and fixed has the keys that each rendering has.
	random map[origin]bool
	fixed  map[object.Key]bool
}

// namingOf returns the naming, given the objects of two renderings of the same values.
func namingOf(first, again iter.Seq[object.Object]) naming {
	n, known := naming{random: map[origin]bool{}, fixed: map[object.Key]bool{}}, map[object.Key]bool{}
	for o := range again {
		known[o.Key] = true
	}
	for o := range first {
		if known[o.Key] {
			n.fixed[o.Key] = true
		} else {
			n.random[originOf(o)] = true
		}
	}
	return n
}

// isRandom reports whether an object may have another name in each rendering.
func (n naming) isRandom(o object.Object) bool { return n.random[originOf(o)] && !n.fixed[o.Key] }

// identity identifies an object in all renderings: by its key or, if its name is random, by its template and kind, and the events of a
// hook. Several objects with the same identity are distinguished by their order.
type identity struct {
	key            object.Key
	source, events string
	n              int
}

func (n naming) identityOf(o object.Object, events ...string) identity {
	id := identity{key: o.Key}
	if n.isRandom(o) {
		id.key.Name, id.source, id.events = "", o.Source, strings.Join(events, ",")
	}
	return id
}

// byIdentity returns objects or hooks by their identities.
func byIdentity[T any](all []T, identityOf func(T) identity) map[identity]T {
	out := map[identity]T{}
	for _, one := range all {
		id := identityOf(one)
		for _, taken := out[id]; taken; _, taken = out[id] {
			id.n++
		}
		out[id] = one
	}
	return out
}

func sortedIDs[T any](all map[identity]T) []identity {
	return order.Sorted(maps.Keys(all), func(a, b identity) int {
		return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.source, b.source), cmp.Compare(a.events, b.events), cmp.Compare(a.n, b.n))
	})
}

// place identifies a place of an object.
type place struct {
	id   identity
	path string
}

// noiseOf returns the places where two renderings of the same values differ. Forms returns what to compare of two objects.
func noiseOf[T any](first, again map[identity]T, forms func(a, b T) (map[string]any, map[string]any)) map[place]bool {
	out := map[place]bool{}
	for id, one := range first {
		if other, found := again[id]; found {
			a, b := forms(one, other)
			walkDifferences(a, b, nil, func(path object.Path, _, _ any) { out[place{id, path.String()}] = true })
		}
	}
	return out
}
