package repair

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// changeKind is how a change is made.
type changeKind int

const (
	// putValue sets the value at a path, or takes it away.
	putValue changeKind = iota
	// putAtomic is putValue for what is one value to a server-side apply: what stands in it and no manifest names goes too.
	putAtomic
	// putOrder gives the items of a list that old names the order they have there, among the places that they hold.
	putOrder
	// putName gives an item of a list its old keys back.
	putName
	// dropName is the going of the name that putName takes away.
	dropName
	// prune takes away what a person added and no manifest names.
	prune
	// putOwner hands the deployer the ownership of a value that is as old has it, and on which an apply conflicts with somebody else.
	putOwner
)

// state is how a change stands in an object that was read after the plan was made.
type state int

const (
	// pending: the field is as the plan saw it.
	pending state = iota
	// done: the field is as the plan would make it.
	done
	// moved: it is neither.
	stale
)

// stateOf tells how a change stands in live, given the findings that live has now. What a rule has come to silence since the plan was
// made, by an annotation of live, is not touched any more.
func (o *ObjectPlan) stateOf(c Change, live map[string]any, found []threeway.Finding) state {
	isIgnored := ignoredIn(found, c.Path) != nil || c.kind == putName && ignoredIn(found, c.livePath) != nil
	switch {
	case o.ambiguous(live, c.Path):
		return stale
	case o.isDone(c, live, found):
		return done
	case !isIgnored && o.isPending(c, live, found):
		return pending
	}
	return stale
}

func (o *ObjectPlan) isDone(c Change, live map[string]any, found []threeway.Finding) bool {
	hasLeft := func(f threeway.Finding) bool {
		return f.Drifted() && !o.isOwnership(f, live) || f.Managed && f.IgnoredBy != nil
	}
	switch c.kind {
	case prune:
		return o.isPruned(c, live)
	case putAtomic:
		return o.holdsOld(c.Path, live)
	case putOwner:
		return !hasConflict(found, c.Path)
	case dropName:
		_, there := o.rawAt(live, c.Path)
		return !there
	case putValue:
		if !c.finding.Managed {
			_, there := o.rawAt(live, c.Path)
			return !there
		}
	case putOrder:
		return !slices.ContainsFunc(found, func(f threeway.Finding) bool {
			return hasLeft(f) && o.source.IsPlacement(f) && f.Path.Equal(c.Path)
		})
	case putName:
	}
	return !slices.ContainsFunc(found, func(f threeway.Finding) bool {
		return hasLeft(f) && !o.source.IsPlacement(f) && f.Path.Overlaps(c.Path)
	})
}

// holdsOld tells whether live holds what old declares at a path.
func (o *ObjectPlan) holdsOld(path object.Path, live map[string]any) bool {
	is, there := path.Lookup(o.source.Normal(live))
	was, declared := path.Lookup(o.source.Declared())
	return there == declared && object.Equal(is, was) || o.source.Spelled(live, path)
}

// isOwnership reports whether a finding is about the owner of a field alone: live holds what an apply of old would store.
func (o *ObjectPlan) isOwnership(f threeway.Finding, live map[string]any) bool {
	return f.Equivalent && o.source.Spelled(live, f.Path)
}

func (o *ObjectPlan) isPending(c Change, live map[string]any, found []threeway.Finding) bool {
	switch c.kind {
	case prune:
		return o.isPrunable(c, live, found)
	case putOwner:
		return o.source.Spelled(live, c.Path)
	case putOrder:
		return object.Equal(o.order(live, c.Path), c.From)
	case putName:
		was, _ := o.rawAt(o.source.Live, c.livePath)
		is, _ := o.rawAt(live, c.livePath)
		_, there := o.rawAt(live, c.Path)
		return !there && object.Equal(was, is)
	case putValue, putAtomic, dropName:
	}
	is, _ := o.rawAt(live, c.Path)
	return object.Equal(is, c.From)
}

// hasConflict reports whether an apply conflicts at a path.
func hasConflict(found []threeway.Finding, path object.Path) bool {
	return slices.ContainsFunc(found, func(f threeway.Finding) bool {
		return f.Verdict == report.Conflict && f.IgnoredBy == nil && f.Path.Overlaps(path)
	})
}

// ambiguous reports whether a path leads through items of a list that share their name, in a text or in old. Where it ends at them, it
// means them all.
func (o *ObjectPlan) ambiguous(text map[string]any, path object.Path) bool {
	for _, normal := range []map[string]any{o.source.Normal(text), o.source.Declared()} {
		for n, step := range path {
			if n < len(path)-1 && step.Form != object.FieldStep && count(o.names(normal, path[:n]), nameOf(step)) > 1 {
				return true
			}
		}
	}
	return false
}

func count(names []string, name string) int {
	n := 0
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

// rawAt returns the value at a path in a text as the API server wrote it. A null is nothing.
func (o *ObjectPlan) rawAt(text map[string]any, path object.Path) (any, bool) {
	v, _ := o.source.At(text, path)
	return v, v != nil
}

// within tells whether a path leads to or through a place that is named by a text.
func within(path object.Path, text string) bool {
	for n := 1; n <= len(path); n++ {
		if path[:n].String() == text {
			return true
		}
	}
	return false
}

// leadsInto tells whether a text names a place below a path.
func leadsInto(path object.Path, text string) bool {
	rest, below := strings.CutPrefix(text, path.String())
	return below && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// hasIndex tells whether a path names an item by its index alone.
func hasIndex(path object.Path) bool {
	for _, s := range path {
		if s.Form == object.IndexStep {
			return true
		}
	}
	return false
}
