package absorb

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// maxParts is how many scalars of one field may differ for them to be searched one by one. With more, the field is rather another object
// than an edited one, and each part costs a search.
const maxParts = 12

// inParts searches the scalars that differ in a field one after the other. The field is absorbed if all of them are; otherwise nothing
// changes, and what was found for a single one is returned.
func (s *search) inParts(ctx context.Context, w Wanted) (Found, bool) {
	renamed := s.isRenamed(w)
	parts := s.parts(w)
	if len(parts) == 0 || len(parts) > maxParts {
		return Found{}, false
	}
	edited, values, current := s.edited, s.values, s.current
	out := Found{Status: Absorbed}
	for _, part := range parts {
		found := s.whole(ctx, part)
		if found.Status != Absorbed {
			s.edited, s.values, s.current = edited, values, current
			if len(parts) > 1 {
				found = Found{Refused: found.Refused} // the candidates of one part do not absorb the field
			}
			return found, false
		}
		out.Edits = append(out.Edits, found.Edits...)
	}
	// Each part holds by itself, but the order of a list or a key that no part has may still differ.
	if !s.holds(s.current, w) {
		s.edited, s.values, s.current = edited, values, current
		return Found{}, false
	}
	if renamed {
		w.Path = w.Path[:len(w.Path)-1] // all items of the list are as live has them
	}
	out.Effects = s.effects(current, s.current, w)
	return out, true
}

// isRenamed reports whether a field is an item of a list of which live has another one instead: the key of the item was edited. A port of a
// Service is such an item: its number is its key, so an edited number is a removed and an added port.
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

// parts returns the scalars that differ in a field as fields of their own. If live lacks an item of a list and has another one there, the
// field is the whole list: the key of the item was edited.
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

// walkIndexes calls visit for the scalars at which b differs from a. Items of lists are told apart by their indexes.
func walkIndexes(a, b any, path object.Path, visit func(path object.Path, v any, present bool)) {
	if object.Equal(a, b) {
		return
	}
	am, aIs := a.(map[string]any)
	bm, bIs := b.(map[string]any)
	if aIs && bIs {
		for _, name := range object.SortedKeys(merged(am, bm)) {
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
	// With fewer items than before, it is not known which ones went, so the list is one part.
	if aIs && bIs && len(al) <= len(bl) {
		for i := range bl {
			walkIndexes(at(al, i), bl[i], path.Index(i), visit)
		}
		return
	}
	visit(path, b, true)
}
