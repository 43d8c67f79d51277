package threeway

import (
	"fmt"
	"reflect"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// markLast marks a finding whose live value the last revision wrote. It is not old because it failed, but Helm may have written all of it
// before, as where it waited in vain until the objects were ready.
func (w *walker) markLast(f *Finding, n sides) {
	if w.lastRevision == 0 {
		return
	}
	n = n.withoutNulls()
	n.last = n.last.WithoutNulls(n.live.Value)
	note := "written by failed revision %d"
	switch {
	case n.old.Same(n.live):
		return
	case n.last.Same(n.live) && !n.last.Named && f.Managed:
		note = "failed revision %d no longer has it"
	case n.last.Same(n.live):
	case w.isWrittenByLast(f.Path, n):
	case isWhole(n.old, n.live) && !n.last.Same(n.old):
		note = "failed revision %d changes it as well"
	default:
		return
	}
	f.OfLast = true
	f.addNote(fmt.Sprintf(note, w.lastRevision))
}

// isLeft reports whether the last revision, which failed, wrote what only live has.
func (w *walker) isLeft(path object.Path, n sides) bool {
	return n.last.Named && n.last.Same(n.live) || w.isWrittenByLast(path, n)
}

// markLeft marks an entry of what only live has, and the last revision wrote.
func (w *walker) markLeft(e *entry) {
	e.weight, e.OfLast, e.Note = hard, true, fmt.Sprintf("left by failed revision %d", w.lastRevision)
}

// isWrittenByLast reports whether managedFields show that the last revision wrote what live has at path. They do if its manifest has a
// version of its own, at which the field may stand at another place: an autoscaler's metrics do.
func (w *walker) isWrittenByLast(path object.Path, n sides) bool {
	return w.lastVersion != "" && !n.last.Named && n.live.Present && w.owners.AreDeployersAlone(path, w.lastVersion)
}

// isWhole reports whether a place holds maps or lists that the walk does not go into: they are one value.
func isWhole(old, live kinds.State) bool {
	kind := func(s kinds.State) reflect.Kind { return reflect.ValueOf(s.Value).Kind() }
	return kind(old) == kind(live) && (kind(old) == reflect.Map || kind(old) == reflect.Slice)
}

// noteDropped marks a missing object that the last revision no longer has.
func (c comparer) noteDropped(out *ObjectComparison, p pair) {
	if out.Missing && c.in.LastObjects != nil && p.last == nil && c.in.Last != nil {
		out.OfLast = true
		out.addNote(fmt.Sprintf("failed revision %d no longer has it", c.in.Last.Revision))
	}
}
