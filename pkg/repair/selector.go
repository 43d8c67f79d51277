package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Selector names one object of a release, or a place in it: a field, as Path.String writes its path, or everything that drifted below a
// place, such as spec.template or spec.template.spec.containers[name=web]. An empty path means the whole object.
type Selector struct {
	Key  object.Key
	Path string
	// ByPath is set if the place was selected by its path alone, in whatever object has it. It selects the same, but does not name the
	// object: it allows nothing that a plan does only for objects and fields that are named.
	ByPath bool
	// Alone leaves out what is below the place: it selects the order of a list, and not the items.
	Alone bool
}

// String returns the kind, the name and the path.
func (s Selector) String() string {
	out := s.Key.GroupKind().String() + "/" + s.Key.Name
	if s.Path != "" {
		out += ":" + s.Path
	}
	return out
}

// choice is what the selectors of a plan select.
type choice struct{ only, skip []Selector }

// reach says how far a field, or an object, is selected.
type reach int

const (
	// outside means that it is not selected.
	outside reach = iota
	// inPart means that something inside it is selected, but it can only be put back as a whole.
	inPart
	// inside means that it is selected.
	inside
)

// field returns how far a field is selected. A value around a skipped place is not put back: that would write the place too.
func (c choice) field(key object.Key, path object.Path) reach {
	return c.reach(func(selectors []Selector) reach { return reachOf(selectors, key, path) })
}

// placement returns how far the order of a list is selected. No item is part of it, so selectors below do not matter.
func (c choice) placement(key object.Key, path object.Path) reach {
	return c.reach(func(selectors []Selector) reach {
		if how := reachOf(selectors, key, path); how != inPart {
			return how
		}
		return outside
	})
}

// object returns how far an object as a whole is selected.
func (c choice) object(key object.Key) reach {
	return c.reach(func(selectors []Selector) reach { return reachOfObject(selectors, key) })
}

// reach combines what Only and Skip select.
func (c choice) reach(of func([]Selector) reach) reach {
	skipped, chosen := of(c.skip), inside
	if len(c.only) > 0 {
		chosen = of(c.only)
	}
	switch {
	case skipped == inside || chosen == outside:
		return outside
	case skipped == inPart || chosen == inPart:
		return inPart
	}
	return inside
}

// reachOf returns how far selectors name a field.
func reachOf(selectors []Selector, key object.Key, path object.Path) reach {
	out := outside
	for _, s := range selectors {
		switch {
		case s.Key != key:
		case s.Path == "" || isWithin(path, s.Path) && !(s.Alone && path.String() != s.Path):
			return inside
		case isAbove(path, s.Path):
			out = inPart
		}
	}
	return out
}

// reachOfObject returns how far selectors name an object.
func reachOfObject(selectors []Selector, key object.Key) reach {
	out := outside
	for _, s := range selectors {
		switch {
		case s.Key != key:
		case s.Path == "":
			return inside
		default:
			out = inPart
		}
	}
	return out
}

// isWithin reports whether a path is the place that a selector names, or leads through it.
func isWithin(path object.Path, place string) bool {
	for n := 1; n <= len(path); n++ {
		if path[:n].String() == place {
			return true
		}
	}
	return false
}

// isAbove reports whether the place that a selector names is below a path.
func isAbove(path object.Path, place string) bool {
	rest, below := strings.CutPrefix(place, path.String())
	return below && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// named returns the selectors of Only that name an object.
func (c choice) named() []Selector {
	return object.Filter(c.only, func(s Selector) bool { return !s.ByPath })
}

// names reports whether a selector names an object, or something in it.
func (c choice) names(key object.Key) bool { return reachOfObject(c.named(), key) != outside }

// namesField reports whether a selector names a field, and the object that has it.
func (c choice) namesField(key object.Key, path object.Path) bool {
	return reachOf(c.named(), key, path) == inside
}

// isNamed reports whether a selector asks for the whole object by name.
func (c choice) isNamed(key object.Key) bool { return reachOfObject(c.only, key) == inside }

// checked refuses selectors that match nothing in the release. If a report prints a path differently from the object, the selector
// gets the object's path.
func (c choice) checked(in *threeway.Comparison) (out choice, err error) {
	out = choice{only: slices.Clone(c.only), skip: slices.Clone(c.skip)}
	for _, selectors := range [][]Selector{out.only, out.skip} {
		for i := range selectors {
			if err := selectors[i].check(in); err != nil {
				return c, err
			}
		}
	}
	return out, nil
}

// check refuses a selector of an object that the release does not have, or of a place that no side of the object has.
func (s *Selector) check(in *threeway.Comparison) error {
	for i := range in.Objects {
		o := &in.Objects[i]
		if o.Key != s.Key {
			continue
		}
		if s.Path == "" || o.Err != nil || o.Missing {
			return nil
		}
		if known := in.PlaceOf(o, s.Path); known != "" {
			s.Path = known
			return nil
		}
	}
	return fmt.Errorf("the release has no %s", s)
}
