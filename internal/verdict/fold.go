package verdict

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says when the entries below a place become one finding.

// isIgnoredInPart reports whether rules silence some of the entries but not all. Then each is reported by itself.
func isIgnoredInPart(entries []entry) bool {
	said := object.Filter(entries, func(e entry) bool { return e.weight != silent })
	ignored := object.Filter(said, func(e entry) bool { return e.IgnoredBy != nil })
	return len(ignored) > 0 && len(ignored) < len(said)
}

// isEditedDefault reports whether somebody, or a failed last revision, added a subtree that holds only defaults but is not a default
// itself: the API would set each of its leaves to this value, but would not create the subtree.
func (w *objectWalk) isEditedDefault(path object.Path, n States, entries []entry) bool {
	added := n.presence() == presence{false, false, true} && n.Live.Same(n.Result)
	inherited := slices.ContainsFunc(entries, func(e entry) bool { return !e.isDefault })
	return added && !inherited && !w.isDefault(path, n.Live.Value) && (w.isLeftByLast(path, n) || w.isEdit(w.owners.OwnersOf(path)))
}

// decisiveEntries returns the entries that decide about their subtree: the hard ones; if there are none, the managed soft ones; otherwise
// all soft ones.
func decisiveEntries(entries []entry) []entry {
	for _, isDecisive := range []func(entry) bool{
		func(e entry) bool { return e.weight == hard },
		func(e entry) bool { return e.weight == soft && e.Managed },
		func(e entry) bool { return e.weight == soft },
	} {
		if out := object.Filter(entries, isDecisive); len(out) > 0 {
			return out
		}
	}
	return nil
}

// causeOfAll returns the cause of a subtree from its findings. Silent entries, such as allocations, do not count.
func causeOfAll(entries []entry) report.Cause {
	first := entries[0].Cause
	if slices.ContainsFunc(entries, func(e entry) bool { return e.Cause != first }) {
		return report.CauseBoth
	}
	return first
}

// mayFold reports whether all findings can be folded into one.
func mayFold(entries []entry) bool {
	first := entries[0]
	return !slices.ContainsFunc(entries[1:], func(e entry) bool {
		return e.presence != first.presence || e.Managed != first.Managed || e.Class != first.Class ||
			!slices.EqualFunc(e.Owners, first.Owners, owners.AreSame)
	})
}
