package verdict

import (
	"fmt"
	"reflect"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// markLast marks a finding whose live value the last revision wrote. It is not old because it failed, but Helm may have written all of it
// before, as where it waited in vain until the objects were ready.
func (w *Walker) markLast(f *Finding, n States) {
	if w.LastRevision == 0 {
		return
	}
	n = n.withoutNulls()
	n.Last = n.Last.WithoutNulls(n.Live.Value)
	note := "written by failed revision %d"
	switch {
	case n.Old.Same(n.Live):
		return
	case n.Last.Same(n.Live) && !n.Last.Named && f.Managed:
		note, f.DroppedByLast = "failed revision %d no longer has it", true
	case n.Last.Same(n.Live):
	case w.isWrittenByLast(f.Path, n):
	case isWhole(n.Old, n.Live) && !n.Last.Same(n.Old):
		note = "failed revision %d changes it as well"
	default:
		return
	}
	f.OfLast = true
	f.Notes.Add(report.NoteFailedRevision, fmt.Sprintf(note, w.LastRevision))
}

// isLeftByLast reports whether the last revision, which failed, wrote what only live has.
func (w *Walker) isLeftByLast(path object.Path, n States) bool {
	return n.Last.Named && n.Last.WithoutNulls(n.Live.Value).Same(n.Live) || w.isWrittenByLast(path, n)
}

// markLeftByLast marks an entry of what only live has, and the last revision wrote.
func (w *Walker) markLeftByLast(e *entry) {
	e.weight, e.OfLast = hard, true
	e.Notes = report.NotesOf(report.NoteFailedRevision, fmt.Sprintf("left by failed revision %d", w.LastRevision))
}

// isWrittenByLast reports whether managedFields show that the last revision wrote what live has at path. They do if its manifest has a
// version of its own, at which the field may stand at another place: an autoscaler's metrics do.
func (w *Walker) isWrittenByLast(path object.Path, n States) bool {
	return w.LastVersion != "" && !n.Last.Named && n.Live.Present && w.Owners.AreDeployersAlone(path, w.LastVersion)
}

// isWhole reports whether a place holds maps or lists that the walk does not go into: they are one value.
func isWhole(old, live kinds.State) bool {
	kind := func(s kinds.State) reflect.Kind { return reflect.ValueOf(s.Value).Kind() }
	return kind(old) == kind(live) && (kind(old) == reflect.Map || kind(old) == reflect.Slice)
}
