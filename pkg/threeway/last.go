package threeway

import (
	"fmt"
	"reflect"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/report"
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
	case isWhole(n.old, n.live) && !n.last.Same(n.old):
		note = "failed revision %d changes it as well"
	default:
		return
	}
	f.OfLast = true
	f.Notes.Add(report.NoteFailedRevision, fmt.Sprintf(note, w.lastRevision))
}

// isWhole reports whether a place holds maps or lists that the walk does not go into: they are one value.
func isWhole(old, live kinds.State) bool {
	kind := func(s kinds.State) reflect.Kind { return reflect.ValueOf(s.Value).Kind() }
	return kind(old) == kind(live) && (kind(old) == reflect.Map || kind(old) == reflect.Slice)
}
