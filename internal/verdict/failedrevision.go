package verdict

import (
	"fmt"
	"reflect"

	"github.com/helmdrift/helmdrift/internal/kinds"
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
		note = "failed revision %d no longer has it"
	case n.Last.Same(n.Live):
	case isWhole(n.Old, n.Live) && !n.Last.Same(n.Old):
		note = "failed revision %d changes it as well"
	default:
		return
	}
	f.OfLast = true
	f.Notes.Add(report.NoteFailedRevision, fmt.Sprintf(note, w.LastRevision))
}

// isWhole reports whether a place holds maps or lists that the walk does not go into: they are one value.
func isWhole(old, live kinds.State) bool {
	kind := func(s kinds.State) reflect.Kind { return reflect.ValueOf(s.Value).Kind() }
	return kind(old) == kind(live) && (kind(old) == reflect.Map || kind(old) == reflect.Slice)
}
