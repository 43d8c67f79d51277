package choose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Chosen is what a choice names in one comparison.
type Chosen struct {
	// only and skip are places. Limited is set if --only was given: then what only does not name is left out, even if only is empty.
	only, skip []place
	limited    bool
	comparison *threeway.Comparison
	// idle are the selectors that name nothing in the comparison, each with the reason.
	idle []Idle
}

// Idle is a value of a flag that names no object of a release, or no place in one. It is misspelt, or meant for another release.
type Idle struct {
	// Text is the flag with its value.
	Text string
	// Only is set for --only. Then the flag leaves out what it should have chosen, so the rest must not pass as clean.
	Only bool
	// Err is what is wrong, with a hint.
	Err error
}

// place is an object, or a place in it, in the spelling of object.Path.
type place struct {
	key  object.Key
	path string
	// part is set if it is only a part of the value at the path.
	part bool
	// named is set if the user named the object, and not only a path that it has.
	named bool
}

// reach says how far a place is named.
type reach int

const (
	outside reach = iota
	// inPart means that something inside it is named.
	inPart
	inside
)

// In finds what the choice names in a comparison.
func (c Choice) In(of *threeway.Comparison) Chosen {
	out := Chosen{comparison: of, limited: len(c.only) > 0}
	find := func(selectors []selector) (found []place) {
		for _, s := range selectors {
			there := false
			for i := range of.Objects {
				places, has := s.placesIn(of, &of.Objects[i])
				if !has {
					continue
				}
				there = true
				for _, p := range places {
					p.named = s.kind != ""
					found = append(found, p)
				}
			}
			if !there {
				out.idle = append(out.idle, Idle{s.String(), s.flag == "--only", s.misses(of)})
			}
		}
		return found
	}
	out.only, out.skip = find(c.only), find(c.skip)
	return out
}

// IsSet reports whether the choice may leave anything out.
func (c Choice) IsSet() bool { return len(c.only)+len(c.skip) > 0 }

// misses returns the error of a selector that names nothing in a comparison.
func (s selector) misses(c *threeway.Comparison) error {
	var all []string
	for i := range c.Objects {
		o := &c.Objects[i]
		all = append(all, o.Kind+"/"+o.Name)
		if path, named := s.of(o.Key); named && s.kind != "" {
			if s.pattern != nil {
				path = s.pattern.String()
			}
			return hint.New(fmt.Errorf("%s matches nothing: %s has no %s", s, o.Key, path),
				"write the path as the report prints it, or its beginning up to any step")
		}
	}
	switch {
	case len(all) == 0:
		return hint.New(fmt.Errorf("%s matches nothing: the release has no objects", s), "leave the flag out")
	case s.kind == "":
		return hint.New(fmt.Errorf("%s matches nothing: no object of the release has that path", s), spelling)
	}
	return hint.New(fmt.Errorf("%s matches nothing of the release, whose objects are %s", s, strings.Join(all, ", ")),
		"write KIND/NAME or KIND.GROUP/NAME; the kind may be short, such as deploy")
}

// Idle returns the values of the flags that name nothing.
func (c Chosen) Idle() []Idle { return c.idle }

// Err returns the errors of all values of the flags that name nothing. It is nil if each names something.
func (c Chosen) Err() error {
	var errs []error
	for _, i := range c.idle {
		errs = append(errs, i.Err)
	}
	if len(errs) == 1 { // keeps the hint
		return errs[0]
	}
	return errors.Join(errs...)
}

// Field reports whether a finding of an object is chosen. A finding that is chosen only in part is: part of it is wanted.
func (c Chosen) Field(key object.Key, path object.Path) bool {
	text := path.String()
	return c.has(func(p place) reach {
		switch {
		case p.key != key:
			return outside
		case p.path == "":
			return inside
		case isWithin(text, p.path) && !p.part:
			return inside
		case isWithin(text, p.path) || isWithin(p.path, text):
			return inPart
		}
		return outside
	})
}

// Object reports whether an object is chosen as a whole, or something in it.
func (c Chosen) Object(key object.Key) bool {
	return c.has(func(p place) reach {
		switch {
		case p.key != key:
			return outside
		case p.path == "":
			return inside
		}
		return inPart
	})
}

// has combines how far the places of --only and --skip reach.
func (c Chosen) has(of func(place) reach) bool {
	is := func(least reach) func(place) bool { return func(p place) bool { return of(p) >= least } }
	return (!c.limited || slices.ContainsFunc(c.only, is(inPart))) && !slices.ContainsFunc(c.skip, is(inside))
}

// isWithin reports whether a path is a place or below it.
func isWithin(path, place string) bool {
	rest, found := strings.CutPrefix(path, place)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Place is an object, or a place in it if Path is not empty.
type Place struct {
	Key  object.Key
	Path string
	// Named is set if the user named the object, and not only a path that it has.
	Named bool
}

// Only returns what a repair is limited to, and Skip what it leaves. If --only chooses nothing that differs, Skip has every object.
func (c Chosen) Only() (out []Place) {
	for _, p := range c.only {
		if !p.part {
			out = append(out, Place{p.key, p.path, p.named})
		}
	}
	return out
}

// Skip returns what a repair leaves; see Only. A value that holds a skipped part is left too.
func (c Chosen) Skip() (out []Place) {
	for _, p := range c.skip {
		out = append(out, Place{p.key, p.path, p.named})
	}
	if c.limited && len(c.Only()) == 0 {
		for _, o := range c.comparison.Objects {
			out = append(out, Place{Key: o.Key})
		}
	}
	return out
}

// Report marks in the report of the comparison what is left out, as an ignore rule would. It leaves alone what a rule silences already.
func (c Chosen) Report(r *report.Release) {
	left := map[string]bool{}
	for i := range c.comparison.Objects {
		o := &c.comparison.Objects[i]
		for _, f := range o.Findings {
			if !c.Field(o.Key, f.Path) {
				left[c.comparison.Field(o, f, threeway.Mask{}).ID] = true
			}
		}
	}
	LeaveOut(r, c.rule(),
		func(o *report.Object) bool { return !c.Object(o.Key()) },
		func(_ *report.Object, f *report.Finding) bool { return left[f.ID] })
}

// rule is what a report says of what is left out.
func (c Chosen) rule() *report.IgnoreRule {
	rule := report.IgnoreRule{Rule: "--skip", LeftOut: true}
	if c.limited {
		rule.Rule = "--only"
	}
	return &rule
}

// LeaveOut silences with a rule what whole and field select: what a report says of an object itself, and its findings. What is silenced
// already keeps its rule. Errors stay.
func LeaveOut(
	r *report.Release, rule *report.IgnoreRule, whole func(*report.Object) bool, field func(*report.Object, *report.Finding) bool,
) {
	for i := range r.Objects {
		o := &r.Objects[i]
		if o.IgnoredBy == nil && whole(o) {
			o.IgnoredBy = rule
		}
		for n := range o.Fields {
			if f := &o.Fields[n]; !f.Silenced() && field(o, f) {
				f.IgnoredBy = rule
			}
		}
		if o.IgnoredBy == nil && o.OnlyConflicts && !slices.ContainsFunc(o.Fields, isKeptConflict) {
			o.IgnoredBy = rule // it fails only on what is left out
		}
		_, gone := o.ToPutBack()
		o.Drifted = gone || slices.ContainsFunc(o.Fields, report.Finding.Drifted)
	}
	r.Drifted = r.HasDrifted()
}

// isKeptConflict reports whether a finding is a conflict that no choice leaves out. The operation also fails on a conflict that an ignore
// rule or the baseline silences.
func isKeptConflict(f report.Finding) bool {
	return f.Verdict == report.Conflict && (f.IgnoredBy == nil || !f.IgnoredBy.LeftOut)
}
