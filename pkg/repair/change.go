package repair

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// state says how far a change is made in an object that was read after the plan was made.
type state int

const (
	// pending means that the field is as the plan saw it.
	pending state = iota
	// done means that the field is as the plan would make it.
	done
	// stale means that it is neither: somebody else wrote it.
	stale
)

// stateOf returns the state of a change in live, given the findings that live has now, and those of them that rules ignore. If a rule in an
// annotation of live ignores the field since the plan was made, the field is not written.
func (o *ObjectPlan) stateOf(c Change, live map[string]any, found, ignored []threeway.Finding) state {
	isIgnored := overlapping(ignored, c.Path) != nil || c.kind == putName && overlapping(ignored, c.livePath) != nil
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

// isDone reports whether live is as the change would make it. It is not if there is drift at the path, above it or below it.
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
	case putValue, dropName:
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

// holdsOld reports whether live has what old declares at path.
func (o *ObjectPlan) holdsOld(path object.Path, live map[string]any) bool {
	is, there := path.Lookup(o.source.Normal(live))
	was, declared := path.Lookup(o.source.Declared())
	return there == declared && object.Equal(is, was) || o.source.Spelled(live, path)
}

// isOwnership reports whether a finding is only about the owner of a field: live has what an apply of old would store.
func (o *ObjectPlan) isOwnership(f threeway.Finding, live map[string]any) bool {
	return f.Equivalent && o.source.Spelled(live, f.Path)
}

// isPending reports whether live is as the plan saw it.
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

// hasConflict reports whether an apply conflicts at path, above it or below it.
func hasConflict(found []threeway.Finding, path object.Path) bool {
	return slices.ContainsFunc(found, func(f threeway.Finding) bool {
		return f.Verdict == report.Conflict && f.IgnoredBy == nil && f.Path.Overlaps(path)
	})
}

func isIgnored(f threeway.Finding) bool { return f.IgnoredBy != nil }

// overlapping returns the first finding at path, above it or below it, or nil if there is none.
func overlapping(findings []threeway.Finding, path object.Path) *threeway.Finding {
	for i := range findings {
		if findings[i].Path.Overlaps(path) {
			return &findings[i]
		}
	}
	return nil
}

// ambiguous reports whether a path leads through list items that share their name, in a text or in old. If the path ends at such
// items, it means all of them.
func (o *ObjectPlan) ambiguous(text map[string]any, path object.Path) bool {
	for _, normal := range []map[string]any{o.source.Normal(text), o.source.Declared()} {
		for n, step := range path {
			if n == len(path)-1 || step.Form == object.FieldStep {
				continue
			}
			value, _ := path[:n].Lookup(normal)
			if list, _ := value.([]any); len(step.Indexes(list)) > 1 {
				return true
			}
		}
	}
	return false
}

// rawAt returns the value at path in a text as the API server wrote it. A null counts as absent.
func (o *ObjectPlan) rawAt(text map[string]any, path object.Path) (any, bool) {
	v, _ := o.source.At(text, path)
	return v, v != nil
}

// hasIndex reports whether a path names an item only by its index, which another writer can shift.
func hasIndex(path object.Path) bool {
	return slices.ContainsFunc(path, func(s object.Step) bool { return s.Form == object.IndexStep })
}
