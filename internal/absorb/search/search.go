package search

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/helmdrift/helmdrift/internal/order"
)

// search is one run over the fields of a problem.
type search struct {
	Problem
	// The search for the next field starts from the state.
	state
	// done has the fields that equal live already.
	done    []int
	changes *changes
	cache   map[rendered]Rendering
	renders int
	givenUp []Refused
	stopped error
}

// rendered is what a rendering depends on: the template, or none for the whole chart, and the content of the values file.
type rendered struct{ source, content string }

// maxCached is how many renderings are kept. Most that are needed again are recent: the same attempt in the next phase, and the state after
// a proof. The limits of a rendering do not cover the parent, where a search over many fields of a large chart would hold gigabytes.
const maxCached = 2000

// Search finds the edits. If the chart cannot be rendered any more, it ends early and returns what it has.
func Search(ctx context.Context, p Problem) Result {
	excluded := map[int]Found{}
	s := &search{Problem: p, cache: map[rendered]Rendering{}}
	for {
		out := s.run(ctx, excluded)
		out.Renders, out.GivenUp, out.Stopped = s.renders, s.givenUp, s.stopped
		// If two fields are in conflict, exclude both, because the search cannot know which of them is right, and
		// start again: the edits for later fields may depend on the earlier of the two.
		again := false
		for i, f := range out.Found {
			if f.Status != Conflict || excluded[i].Status == Conflict {
				continue
			}
			excluded[i] = f
			for _, other := range f.With {
				excluded[other] = Found{Status: Conflict, With: []int{i}, Others: candidatesOf(out.Found[other])}
			}
			again = true
		}
		if !again || s.stopped != nil {
			return out
		}
	}
}

// candidatesOf returns the candidates that were found for a field.
func candidatesOf(f Found) []Candidate {
	if len(f.Edits) == 0 {
		return f.Others
	}
	return append([]Candidate{f.Candidate}, f.Others...)
}

// run searches the fields one after the other, from the beginning.
func (s *search) run(ctx context.Context, excluded map[int]Found) Result {
	s.state, s.done = state{edited: s.Edited, values: s.Values}, nil
	out := Result{Found: make([]Found, len(s.Wanted)), Edited: s.Edited}
	first := s.render(ctx, [][]Edit{nil}, "")
	if len(first) == 0 || first[0].Fault != "" {
		for i := range out.Found {
			out.Found[i].Status = NotRendered
		}
		return out
	}
	s.current = first[0]
	s.changes = s.newChanges(s.current)
	for i, w := range s.Wanted {
		switch f, left := excluded[i]; {
		case left:
			out.Found[i] = f
		case w.Secret:
			out.Found[i].Status = Secret
		case w.Volatile:
			out.Found[i].Status = Volatile
		default:
			out.Found[i] = s.field(ctx, w)
		}
		if out.Found[i].Status == Absorbed {
			s.done = append(s.done, i)
		}
	}
	for i, w := range s.Wanted {
		// The edits for a later field may have absorbed an earlier one too.
		if status := out.Found[i].Status; (status == NoValue || status == SideEffects) && s.holds(s.current, w) {
			out.Found[i] = Found{Status: Absorbed}
		}
	}
	out.Edited, out.Edits = s.edited, difference(s.Edited, s.edited, nil)
	return out
}

// field searches one field as a whole, and then its differing scalars. If the key of an item was edited, it does so in the other order:
// as a whole, such an item looks removed and another one added, but a value of the chart makes only the key.
func (s *search) field(ctx context.Context, w Wanted) Found {
	if s.holds(s.current, w) {
		return Found{Status: Absorbed}
	}
	var parts Found
	renamed := s.isRenamed(w)
	if renamed {
		if parts = s.inParts(ctx, w); parts.Status == Absorbed {
			return parts
		}
	}
	out := s.whole(ctx, w)
	if out.Status == NoValue && !renamed {
		if parts = s.inParts(ctx, w); parts.Status == Absorbed {
			return parts
		}
	}
	switch {
	case out.Status == Absorbed:
	case len(parts.Others) > 0:
		// The change for the one differing part is better than one that replaces the whole field.
		out.Status, out.With, out.Others = parts.Status, parts.With, append(parts.Others, out.Others...)
	default:
		out.Refused = cmp.Or(out.Refused, parts.Refused)
	}
	return out
}

// whole searches one field, and continues from the best candidate: the one with the fewest side effects, then the fewest edits, and
// then the likeliest values. A candidate that would undo a field that is already absorbed is a conflict.
func (s *search) whole(ctx context.Context, w Wanted) Found {
	if s.holds(s.current, w) {
		return Found{Status: Absorbed}
	}
	from := &field{Wanted: w, Problem: &s.Problem, state: s.state}
	f := &fieldSearch{field: from, search: s, tried: map[string]bool{}, composition: composition{field: from}}
	f.run(ctx)
	order.Sort(f.proved, func(a, b proof) int {
		return cmp.Or(cmp.Compare(a.others, b.others), cmp.Compare(a.same, b.same), cmp.Compare(len(a.edits), len(b.edits)),
			cmp.Compare(b.score, a.score))
	})
	var out Found
	var contested, broken []int
	for _, p := range f.proved {
		switch {
		// Only its effects on other wanted fields exceed the limit: they need another value.
		case p.others > s.MaxSideEffects && p.others-len(p.contested) <= s.MaxSideEffects:
			contested = append(contested, p.contested...)
			out.Others = append(out.Others, Candidate{p.edits, p.effects})
		case len(p.breaks) > 0:
			broken = append(broken, p.breaks...)
		case p.others > s.MaxSideEffects, out.Status == Absorbed:
			out.Others = append(out.Others, Candidate{p.edits, p.effects})
		default:
			out.Status, out.Edits, out.Effects = Absorbed, p.edits, p.effects
			s.state = state{Apply(s.edited, s.values, p.edits), seen(s.values, p.edits), p.rendering}
		}
	}
	if out.Status == Absorbed {
		return out
	}
	out.Refused = f.refused
	switch {
	case len(contested) > 0:
		out.Status, out.With = Conflict, contested
	case len(out.Others) > 0:
		out.Status = SideEffects
	case len(broken) > 0:
		out.Status, out.With = Conflict, broken
	case s.stopped != nil:
		out.Status = NotRendered
	}
	slices.Sort(out.With)
	out.With = slices.Compact(out.With)
	return out
}

// render renders the current state with each of several lists of edits: the whole chart, or at least the objects of one template. It
// returns nothing if rendering is no longer possible.
func (s *search) render(ctx context.Context, all [][]Edit, source string) []Rendering {
	out := make([]Rendering, len(all))
	keys := make([]rendered, len(all))
	var missing []map[string]any
	var numbers []int
	for i, edits := range all {
		// Render the whole file and not an overlay: to Helm, a null in the file and a missing key are different things.
		content := Apply(s.edited, s.values, edits)
		text, err := json.Marshal(content)
		if err != nil {
			out[i].Fault = "the values are no JSON"
			continue
		}
		// The content of the file identifies a rendering, so an attempt that another field made before costs nothing.
		keys[i] = rendered{source, string(text)}
		if r, known := s.cache[keys[i]]; known {
			out[i] = r
			continue
		}
		missing, numbers = append(missing, content), append(numbers, i)
	}
	if len(missing) == 0 {
		return out
	}
	if s.stopped != nil {
		return nil
	}
	outputs, err := s.Render(ctx, missing, source)
	if err != nil {
		s.stopped = err
		return nil
	}
	s.renders += len(missing)
	if len(s.cache) > maxCached {
		clear(s.cache)
	}
	for n, i := range numbers {
		out[i], s.cache[keys[i]] = outputs[n], outputs[n]
		if outputs[n].GivenUp && len(all[i]) == 1 {
			s.givenUp = append(s.givenUp, Refused{Edits: all[i], Reason: outputs[n].Fault})
		}
	}
	return out
}
