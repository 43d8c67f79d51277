package verdict

import (
	"fmt"
	"reflect"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// markLast marks a finding whose live value the last revision wrote. That revision is not old because it failed. But Helm may have
// written all of it first, for example if it then waited in vain for the objects to become ready.
func (w *objectWalk) markLast(f *Finding, n States) {
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
	f.Notes.Add(fmt.Sprintf(note, w.LastRevision))
}

// isLeftByLast reports whether the last revision, which failed, wrote what only live has.
func (w *objectWalk) isLeftByLast(path object.Path, n States) bool {
	return n.Last.Named && n.Last.WithoutNulls(n.Live.Value).Same(n.Live) || w.isWrittenByLast(path, n)
}

// markLeftByLast marks an entry for a value that only live has and the last revision wrote.
func (w *objectWalk) markLeftByLast(e *entry) {
	e.weight, e.OfLast = hard, true
	e.Notes = report.NotesOf(fmt.Sprintf("left by failed revision %d", w.LastRevision))
}

// isWrittenByLast reports whether managedFields show that the last revision wrote what live has at path. They show it if its manifest
// has an API version of its own. At that version the field may be at another place, as an autoscaler's metrics are.
func (w *objectWalk) isWrittenByLast(path object.Path, n States) bool {
	return w.LastVersion != "" && !n.Last.Named && n.Live.Present && w.owners.AreDeployersAlone(path, w.LastVersion)
}

// isWhole reports whether both states have a map, or both a list. The walk compares the two as one value.
func isWhole(old, live kinds.State) bool {
	kind := func(s kinds.State) reflect.Kind { return reflect.ValueOf(s.Value).Kind() }
	return kind(old) == kind(live) && (kind(old) == reflect.Map || kind(old) == reflect.Slice)
}
