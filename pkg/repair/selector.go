package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Selector names objects of a release, and optionally one place in them. People write it like this:
//
//	KIND/NAME              every object of the kind with that name: deployment/web
//	KIND.GROUP/NAME        if the kind alone is not enough: Ingress.networking.k8s.io/web
//	KIND/NAME:PATH         one field, as the report prints its path: deployment/web:spec.replicas
//
// The kind and its group are not case-sensitive. PATH may end before any step of the field's path; it then names everything that drifted
// below: deployment/web:spec.template, or deployment/web:spec.template.spec.containers[name=web].
type Selector struct {
	kind, group string
	// rest is the name, and the path after a colon. A name may have colons itself, so the objects decide where it ends.
	rest string
	text string
	// key is set by SelectorOf, ofPath by OfPath, and alone by Alone.
	key           object.Key
	ofPath, alone bool
}

// SelectorOf returns the selector of one object, or of a place in it. It selects no other object, in whatever group and namespace.
func SelectorOf(key object.Key, path string) Selector {
	out := Selector{key: key, rest: key.Name}
	if path != "" {
		out.rest += ":" + path
	}
	out.text = key.GroupKind().String() + "/" + out.rest
	return out
}

// Alone returns the selector without what is below its place: it selects the order of a list, and not the items.
func (s Selector) Alone() Selector {
	s.alone = true
	return s
}

// ParseSelector reads a selector.
func ParseSelector(text string) (Selector, error) {
	text = strings.TrimSpace(text)
	kind, rest, ok := strings.Cut(text, "/")
	if !ok || kind == "" || rest == "" || strings.HasPrefix(rest, ":") {
		return Selector{}, &SelectorError{
			fmt.Sprintf("%q selects nothing", text),
			"write KIND/NAME or KIND/NAME:PATH, such as Deployment/web:spec.replicas",
		}
	}
	kind, group, _ := strings.Cut(kind, ".")
	return Selector{kind: strings.ToLower(kind), group: strings.ToLower(group), rest: rest, text: text}, nil
}

// OfPath returns the selector for a place that was selected by its path alone, in whatever object has it. It selects the same, but does not
// name the object: it allows nothing that a plan does only for objects and fields that are named.
func (s Selector) OfPath() Selector {
	s.ofPath = true
	return s
}

// String returns the selector as it was written.
func (s Selector) String() string { return s.text }

// SelectorError is the error of a selector that cannot be read, or that matches nothing.
type SelectorError struct{ message, hint string }

// Error returns what is wrong.
func (e *SelectorError) Error() string { return e.message }

// Hint returns what to try.
func (e *SelectorError) Hint() string { return e.hint }

// object reports whether the selector names an object, and returns the place in it. An empty place means the whole object.
func (s Selector) object(key object.Key) (place string, ok bool) {
	isOther := s.kind != strings.ToLower(key.Kind) || s.group != "" && s.group != strings.ToLower(key.Group)
	if isExact := s.key != (object.Key{}); isExact && s.key != key || !isExact && isOther {
		return "", false
	}
	if s.rest == key.Name {
		return "", true
	}
	place, ok = strings.CutPrefix(s.rest, key.Name+":")
	return strings.TrimSpace(place), ok
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
		place, ok := s.object(key)
		switch {
		case ok && (place == "" || isWithin(path, place) && !(s.alone && path.String() != place)):
			return inside
		case ok && isAbove(path, place):
			out = inPart
		}
	}
	return out
}

// reachOfObject returns how far selectors name an object.
func reachOfObject(selectors []Selector, key object.Key) reach {
	out := outside
	for _, s := range selectors {
		place, ok := s.object(key)
		switch {
		case ok && place == "":
			return inside
		case ok:
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
	return object.Filter(c.only, func(s Selector) bool { return !s.ofPath })
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

// check refuses a selector that names no object, or no place that any side of its object has.
func (s *Selector) check(in *threeway.Comparison) error {
	var place, owner string
	var all []string
	for i := range in.Objects {
		o := &in.Objects[i]
		all = append(all, o.Kind+"/"+o.Name)
		path, ok := s.object(o.Key)
		if ok && (path == "" || o.Err != nil || o.Missing) {
			return nil
		}
		if ok {
			if known := in.PlaceOf(o, path); known != "" {
				s.rest = o.Name + ":" + known
				return nil
			}
			place, owner = path, o.Key.String()
		}
	}
	if owner != "" {
		return &SelectorError{
			fmt.Sprintf("%q matches nothing: %s has no %s", s.text, owner, place),
			"write the path as the report prints it, or its beginning up to any step",
		}
	}
	if len(all) == 0 {
		return &SelectorError{fmt.Sprintf("%q matches nothing: the release has no objects", s.text), "leave the selection out"}
	}
	return &SelectorError{
		fmt.Sprintf("%q matches nothing of the release, whose objects are %s", s.text, strings.Join(all, ", ")),
		"write KIND/NAME or KIND.GROUP/NAME",
	}
}
