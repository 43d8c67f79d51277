package search

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// maxParts is the greatest number of differing scalars in one field that are searched one by one. If more differ, the field is not an
// edited value but another one, and each part costs a search.
const maxParts = 12

// inParts searches the differing scalars of a field one after the other. The field is absorbed if all of them are. Otherwise nothing
// changes, and inParts returns what it found for one of them.
func (s *search) inParts(ctx context.Context, w Wanted) Found {
	renamed := s.isRenamed(w)
	parts := s.parts(w)
	if len(parts) == 0 || len(parts) > maxParts {
		return Found{}
	}
	before := s.state
	out := Found{Status: Absorbed}
	for _, part := range parts {
		found := s.whole(ctx, part)
		if found.Status != Absorbed {
			s.state = before
			if len(parts) > 1 {
				found = Found{Refused: found.Refused} // the candidates of one part do not absorb the field
			}
			return found
		}
		out.Edits = append(out.Edits, found.Edits...)
	}
	// Each part equals live, but the order of a list or a key that no part has may still differ.
	if !s.holds(s.current, w) {
		s.state = before
		return Found{}
	}
	if renamed {
		w.Path = w.Path[:len(w.Path)-1] // all items of the list are as live has them
	}
	out.Effects = s.changes.effects(before.current, s.current, w)
	return out
}

// isRenamed reports whether somebody edited the key of a list item: live has another item instead. A port of a Service is such an item:
// its number is its key, so an edited number looks like a removed and an added port.
func (s *search) isRenamed(w Wanted) bool {
	if len(w.Path) == 0 || w.Path[len(w.Path)-1].Form != object.KeyStep {
		return false
	}
	list := w.Path[:len(w.Path)-1]
	now, _ := list.Lookup(s.Form(w.Key, s.current.Objects[w.Key].Content))
	live, _ := list.Lookup(s.LiveForm(w.Key))
	a, _ := now.([]any)
	b, _ := live.([]any)
	return len(a) > 0 && len(a) == len(b)
}

// parts returns the differing scalars of a field as fields of their own. If somebody edited the key of a list item, so that live has
// another item instead, it compares the whole list.
func (s *search) parts(w Wanted) []Wanted {
	if len(w.Path) == 0 {
		return nil
	}
	if s.isRenamed(w) {
		w.Path = w.Path[:len(w.Path)-1]
		w.Live, w.Present = w.Path.Lookup(s.LiveForm(w.Key))
		w.Text = w.Live
	}
	o, found := s.current.Objects[w.Key]
	now, there := w.Path.Lookup(s.Form(w.Key, o.Content))
	if !found || !there || !w.Present || object.IsScalar(now) || object.IsScalar(w.Live) {
		return nil
	}
	var out []Wanted
	walkIndexes(now, w.Live, w.Path, func(path object.Path, live any, present bool) {
		part := w
		part.Path, part.Live, part.Text, part.Present = path, live, live, present
		out = append(out, part)
	})
	return out
}

// walkIndexes calls visit for the scalars of b that differ from a. It matches items of lists by their indexes.
func walkIndexes(a, b any, path object.Path, visit func(path object.Path, v any, present bool)) {
	if object.Equal(a, b) {
		return
	}
	am, aIs := a.(map[string]any)
	bm, bIs := b.(map[string]any)
	if aIs && bIs {
		for _, name := range object.AllKeys(am, bm) {
			if !object.Has(bm, name) {
				visit(path.Field(name), nil, false)
				continue
			}
			walkIndexes(am[name], bm[name], path.Field(name), visit)
		}
		return
	}
	al, aIs := a.([]any)
	bl, bIs := b.([]any)
	// If there are fewer items than before, nobody knows which ones were removed, so the list is one part.
	if aIs && bIs && len(al) <= len(bl) {
		for i := range bl {
			walkIndexes(at(al, i), bl[i], path.Index(i), visit)
		}
		return
	}
	visit(path, b, true)
}
