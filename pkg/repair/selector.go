package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Selector names objects of a release, and maybe one place in them, as a person writes it:
//
//	KIND/NAME              every object of the kind with that name: deployment/web
//	KIND.GROUP/NAME        where the kind alone is not enough: Ingress.networking.k8s.io/web
//	KIND/NAME:PATH         one field, as the report prints its path: deployment/web:spec.replicas
//
// The kind and its group are not case-sensitive. PATH may end before any step of the field's path; it then names all that drifted
// below: deployment/web:spec.template, or deployment/web:spec.template.spec.containers[name=web].
type Selector struct {
	kind, group string
	// rest is the name, and the path after a colon. A name may have colons itself, so the objects decide where it ends.
	rest string
	text string
}

// ParseSelector reads a selector.
func ParseSelector(text string) (Selector, error) {
	text = strings.TrimSpace(text)
	kind, rest, ok := strings.Cut(text, "/")
	if !ok || kind == "" || rest == "" || strings.HasPrefix(rest, ":") {
		return Selector{}, &SelectorError{fmt.Sprintf("%q selects nothing", text), "write KIND/NAME or KIND/NAME:PATH, such as Deployment/web:spec.replicas"}
	}
	kind, group, _ := strings.Cut(kind, ".")
	return Selector{kind: strings.ToLower(kind), group: strings.ToLower(group), rest: rest, text: text}, nil
}

// String gives the selector as it was written.
func (s Selector) String() string { return s.text }

// SelectorError is the error of a selector that cannot be read, or that matches nothing.
type SelectorError struct{ message, hint string }

// Error says what is wrong.
func (e *SelectorError) Error() string { return e.message }

// Hint says what to try.
func (e *SelectorError) Hint() string { return e.hint }

// object tells whether the selector names an object, and which place of it; an empty place is all of it.
func (s Selector) object(key object.Key) (place string, ok bool) {
	if s.kind != strings.ToLower(key.Kind) || s.group != "" && s.group != strings.ToLower(key.Group) {
		return "", false
	}
	if s.rest == key.Name {
		return "", true
	}
	place, ok = strings.CutPrefix(s.rest, key.Name+":")
	return strings.TrimSpace(place), ok
}

// choice is what a repair is to be about.
type choice struct{ only, skip []Selector }

// reach tells how far a field, or an object, is chosen.
type reach int

const (
	// outside: it is not chosen.
	outside reach = iota
	// inPart: something that it holds is named, and it can only be put back as a whole.
	inPart
	// inside: it is chosen.
	inside
)

// field tells how far a field is chosen. What holds a place that is to be skipped is not put back around it.
func (c choice) field(key object.Key, path object.Path) reach {
	skipped := reachOf(c.skip, key, path)
	chosen := inside
	if len(c.only) > 0 {
		chosen = reachOf(c.only, key, path)
	}
	switch {
	case skipped == inside || chosen == outside:
		return outside
	case skipped == inPart || chosen == inPart:
		return inPart
	}
	return inside
}

// reachOf is how far selectors name a field.
func reachOf(selectors []Selector, key object.Key, path object.Path) reach {
	out := outside
	for _, s := range selectors {
		place, ok := s.object(key)
		switch {
		case ok && (place == "" || within(path, place)):
			return inside
		case ok && leadsInto(path, place):
			out = inPart
		}
	}
	return out
}

// object tells how far an object as a whole is chosen, for what is not about one field of it.
func (c choice) object(key object.Key) reach {
	skipped, chosen := wholeOf(c.skip, key), inside
	if len(c.only) > 0 {
		chosen = wholeOf(c.only, key)
	}
	switch {
	case skipped == inside || chosen == outside:
		return outside
	case skipped == inPart || chosen == inPart:
		return inPart
	}
	return inside
}

// wholeOf is how far selectors name an object.
func wholeOf(selectors []Selector, key object.Key) reach {
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

// named tells whether a selector asks for the object expressly.
func (c choice) isNamed(key object.Key) bool { return wholeOf(c.only, key) == inside }

// checked refuses selectors that match nothing of the release. Paths become those of the objects, where a report shows others.
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

// check refuses a selector that names no object, or no place that its object has on any side.
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
