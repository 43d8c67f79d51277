package choose

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Choice is what the values of --only and --skip name. The zero value leaves nothing out.
type Choice struct{ only, skip []selector }

// selector is one value of a flag.
type selector struct {
	// flag and text are the flag and its value as they were written.
	flag, text string
	// kind and group are in lower case. The kind is empty if the selector names places in every object.
	kind, group string
	// name is the name of the object. If it has a colon, a place may begin there: names of roles have colons too, so the objects decide.
	name string
	// place is a place in every object, and pattern is a place that is written as a JSON pointer.
	place   string
	pattern *ignore.Pattern
}

// spelling is the advice for a value that cannot be read.
const spelling = "write KIND/NAME, PATH or KIND/NAME:PATH, such as deploy/web:spec.replicas"

// Parse reads the values of the two flags.
func Parse(only, skip []string) (c Choice, err error) {
	if c.only, err = parseAll("--only", only); err != nil {
		return Choice{}, err
	}
	c.skip, err = parseAll("--skip", skip)
	return c, err
}

func parseAll(flag string, texts []string) (out []selector, err error) {
	for _, text := range texts {
		s, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		s.flag = flag
		out = append(out, s)
	}
	return out, nil
}

// parse reads one value. A name of an object has no slash, and in a path as a report writes it, a bracket stands before each slash.
func parse(text string) (selector, error) {
	s := selector{text: text}
	if at := strings.IndexAny(text, "/["); at <= 0 || text[at] == '[' {
		s.place = text
		return s.withPattern(text)
	}
	kind, rest, _ := strings.Cut(text, "/")
	s.kind, s.group, _ = strings.Cut(strings.ToLower(kind), ".")
	s.name = rest
	if rest == "" || rest[0] == ':' {
		return s, hint.New(fmt.Errorf("%q names nothing", text), spelling)
	}
	if at := strings.Index(rest, ":/"); at > 0 && !strings.Contains(rest[:at], "[") {
		s.name = rest[:at]
		return s.withPattern(rest[at+1:])
	}
	return s, nil
}

// withPattern reads a place that is a JSON pointer. No field of an object begins with a capital letter, so such a word is a kind.
func (s selector) withPattern(place string) (selector, error) {
	switch {
	case strings.Trim(place, "/") == "":
		return s, hint.New(fmt.Errorf("%q names nothing", s.text), spelling)
	case place[0] >= 'A' && place[0] <= 'Z':
		return s, hint.New(fmt.Errorf("%q names no object", s.text), spelling+"; a rule in .helmdrift.yaml ignores kinds")
	}
	if place[0] != '/' {
		return s, nil
	}
	p, err := ignore.ParsePattern(place)
	s.pattern = &p
	return s, err
}

// String returns the flag with its value.
func (s selector) String() string { return s.flag + " " + s.text }

// of reports whether the selector names an object, or places in it. The place is empty for the whole object, and for a pattern.
func (s selector) of(key object.Key) (place string, named bool) {
	if s.kind == "" {
		return s.place, true
	}
	if !isKind(s.kind, s.group, key) {
		return "", false
	}
	if s.name == key.Name {
		return "", true
	}
	place, named = strings.CutPrefix(s.name, key.Name+":")
	return strings.TrimSpace(place), named && s.pattern == nil && strings.TrimSpace(place) != ""
}

// placesIn returns the places of an object that the selector names. It reports whether it names the object or a place that the object
// has, whether or not anything was found there. An object that is missing has the places of its manifest. If a selector names such an
// object, or one that could not be read, the object has any place: nobody knows better.
func (s selector) placesIn(c *threeway.Comparison, o *threeway.ObjectComparison) (out []place, there bool) {
	text, named := s.of(o.Key)
	unseen := s.kind != "" && (o.Err != nil || o.Missing)
	switch {
	case !named:
		return nil, false
	case s.pattern != nil:
		out, there = s.patternPlaces(c, o)
		if o.Missing && there || !there && unseen {
			return []place{{key: o.Key, path: s.pattern.String()}}, true
		}
		return out, there
	case text == "":
		return []place{{key: o.Key}}, true
	}
	if known := c.PlaceOf(o, text); known != "" {
		return []place{{key: o.Key, path: known}}, true
	}
	return []place{{key: o.Key, path: text}}, unseen || o.Missing && holds(o, text)
}

// holds reports whether the manifest of a missing object has a place.
func holds(o *threeway.ObjectComparison, place string) (found bool) {
	kinds.EachPlace(o.Content, kinds.ShapeOf(o.Ref, nil, false), nil, func(path object.Path) { found = found || path.String() == place })
	return found
}

// patternPlaces returns the findings of an object that a pattern names. It matches them as an ignore rule does.
func (s selector) patternPlaces(c *threeway.Comparison, o *threeway.ObjectComparison) (out []place, there bool) {
	rule := ignore.Rule{Name: s.String(), Paths: []ignore.Pattern{*s.pattern}}
	rules, _ := ignore.ForObject([]ignore.Rule{rule}, c.Input.Name, o.Ref)
	rules = rules.WithStates(o.Live, o.Old, o.Desired)
	subject := ignore.Subject{
		Ref: o.Ref, Texts: []map[string]any{o.Live, o.Old, o.Desired, o.Content}, States: []any{o.Live, o.Old, o.Desired},
	}
	for _, f := range o.Findings {
		subject.Findings = append(subject.Findings, f.Path)
		switch {
		case rules.Field(f.Path, nil, true) != nil:
			out = append(out, place{key: o.Key, path: f.Path.String()})
		case rules.DifferingPart(f.Path, f.Live, f.Old) != nil || rules.DifferingPart(f.Path, f.Live, f.Desired) != nil:
			out = append(out, place{key: o.Key, path: f.Path.String(), part: true})
		}
	}
	return out, len(out) > 0 || len(ignore.IdleWarnings([]ignore.Rule{rule}, c.Input.Name, []ignore.Subject{subject})) == 0
}
