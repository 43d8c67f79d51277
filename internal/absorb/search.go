package absorb

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
)

// search is one run over the fields of a problem.
type search struct {
	Problem
	// edited, values and current are the state on top of which the next field is searched: the content of the file with the edits of the
	// fields before, what the templates see with it, and what it renders to.
	edited, values map[string]any
	current        Rendering
	// done are the fields that hold already.
	done []int
	// noise are the places that each rendering makes anew, and random the templates of objects with such names.
	noise   map[place]bool
	random  map[origin]bool
	cache   map[string]Rendering
	renders int
	givenUp []Refused
	stopped error
}

// maxCached is how many renderings are kept. What is asked for again is mostly recent: the same attempt in the next phase, and the state
// that a proof has reached. Without a bound, a search over many fields of a large chart would hold gigabytes in the parent, which no limit
// of a rendering covers.
const maxCached = 2000

// Search finds the edits. It ends early, with what it has, if the chart cannot be rendered any more.
func Search(ctx context.Context, p Problem) Result {
	excluded := map[int]Found{}
	cache := map[string]Rendering{}
	renders := 0
	var givenUp []Refused
	for {
		s := &search{Problem: p, edited: p.Edited, values: p.Values, cache: cache}
		out := s.run(ctx, excluded)
		renders, givenUp = renders+s.renders, append(givenUp, s.givenUp...)
		out.Renders, out.GivenUp = renders, givenUp
		// The search then starts anew without both, because later fields were searched on top of the earlier one.
		// A field in conflict with an earlier one takes that with it: the search cannot know which of the two is right.
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

// candidatesOf returns what was found for a field as candidates.
func candidatesOf(f Found) []Candidate {
	if len(f.Edits) == 0 {
		return f.Others
	}
	return append([]Candidate{{f.Edits, f.Effects}}, f.Others...)
}

// run searches the fields one after the other.
func (s *search) run(ctx context.Context, excluded map[int]Found) Result {
	out := Result{Found: make([]Found, len(s.Wanted))}
	first := s.render(ctx, [][]Edit{nil}, "")
	if len(first) == 0 || first[0].Fault != "" {
		for i := range out.Found {
			out.Found[i].Status = NotRendered
		}
		out.Edited, out.Stopped, out.Renders = s.Edited, s.stopped, s.renders
		return out
	}
	s.current = first[0]
	s.noise, s.random = s.noiseOf(s.current, s.Again), randomOf(s.current, s.Again)
	for i, w := range s.Wanted {
		switch f, left := excluded[i]; {
		case left:
			out.Found[i] = f
			continue
		case w.Secret:
			out.Found[i].Status = Secret
			continue
		case w.Volatile:
			out.Found[i].Status = Volatile
			continue
		}
		out.Found[i] = s.field(ctx, w)
		if out.Found[i].Status == Absorbed {
			s.done = append(s.done, i)
		}
	}
	for i, w := range s.Wanted {
		// What a later field needed may have been what an earlier one needed too.
		if status := out.Found[i].Status; (status == NoValue || status == SideEffects) && s.holds(s.current, w) {
			out.Found[i] = Found{Status: Absorbed}
		}
	}
	out.Edited, out.Final, out.Renders, out.Stopped = s.edited, s.current, s.renders, s.stopped
	out.Edits = difference(s.Edited, s.edited, nil)
	return out
}

// field searches one field as a whole, and then the scalars in it that differ. The other way round if the key of an item was edited: as a
// whole such an item is one that was added and one that was removed, and the values of the chart make only the key.
func (s *search) field(ctx context.Context, w Wanted) Found {
	if s.holds(s.current, w) {
		return Found{Status: Absorbed}
	}
	var parts Found
	absorbed := false
	renamed := s.isRenamed(w)
	if renamed {
		if parts, absorbed = s.inParts(ctx, w); absorbed {
			return parts
		}
	}
	out := s.whole(ctx, w)
	if out.Status == NoValue && !renamed {
		if parts, absorbed = s.inParts(ctx, w); absorbed {
			return parts
		}
	}
	switch {
	case out.Status == Absorbed:
	case len(parts.Others) > 0:
		// The change of the one part that differs says more than those that replace the whole field.
		out.Status, out.With, out.Others = parts.Status, parts.With, append(parts.Others, out.Others...)
	default:
		out.Refused = cmp.Or(out.Refused, parts.Refused)
	}
	return out
}

// whole searches one field, and continues from the best candidate. The best one has the fewest side effects, then the fewest edits, and
// then the likeliest values. A candidate that would undo a field that is absorbed already is no candidate but a conflict.
func (s *search) whole(ctx context.Context, w Wanted) Found {
	if s.holds(s.current, w) {
		return Found{Status: Absorbed}
	}
	f := &fieldSearch{search: s, Wanted: w, tried: map[string]bool{}}
	f.run(ctx)
	slices.SortStableFunc(f.proved, func(a, b proof) int {
		return cmp.Or(cmp.Compare(a.others, b.others), cmp.Compare(a.same, b.same), cmp.Compare(len(a.edits), len(b.edits)),
			cmp.Compare(b.score, a.score))
	})
	var out Found
	var contested []int
	for _, p := range f.proved {
		switch {
		// Without what it does to other wanted fields it would be allowed: these need the value otherwise.
		case p.others > s.MaxSideEffects && p.others-len(p.contested) <= s.MaxSideEffects:
			contested = append(contested, p.contested...)
			out.Others = append(out.Others, Candidate{p.edits, p.effects})
		case len(p.breaks) > 0:
			out.With = append(out.With, p.breaks...)
		case p.others > s.MaxSideEffects, out.Status == Absorbed:
			out.Others = append(out.Others, Candidate{p.edits, p.effects})
		default:
			out.Status, out.Edits, out.Effects = Absorbed, p.edits, p.effects
			s.edited, s.values, s.current = apply(s.edited, s.values, p.edits), seen(s.values, p.edits), p.rendering
		}
	}
	slices.Sort(out.With)
	out.With = slices.Compact(out.With)
	if out.Status != Absorbed {
		out.Refused = f.refused
	}
	switch {
	case out.Status == Absorbed:
		out.With = nil
	case len(contested) > 0:
		slices.Sort(contested)
		out.Status, out.With = Conflict, slices.Compact(contested)
	case len(out.Others) > 0:
		out.Status, out.With = SideEffects, nil
	case len(out.With) > 0:
		out.Status = Conflict
	case s.stopped != nil:
		out.Status = NotRendered
	}
	return out
}

// holds reports whether a rendering has a field as live has it. It asks for desired in normal form, as the comparison has it: 0.5 and 500m
// are one quantity.
func (s *search) holds(r Rendering, w Wanted) bool {
	o, found := r.Objects[w.Key]
	if len(w.Path) == 0 {
		return !found
	}
	if !found {
		return false
	}
	return w.IsIn(s.Form(w.Key, o.Content))
}

// render renders the current state with each of several lists of edits: all of the chart, or at least what a template makes. It returns
// nothing if that is not possible any more.
func (s *search) render(ctx context.Context, all [][]Edit, source string) []Rendering {
	out := make([]Rendering, len(all))
	keys := make([]string, len(all))
	var missing []map[string]any
	var numbers []int
	for i, edits := range all {
		// The whole file is rendered and not an overlay: a null in the file and a key that it lacks are different things to Helm.
		content := apply(s.edited, s.values, edits)
		text, err := json.Marshal(content)
		if err != nil {
			out[i].Fault = "the values are no JSON"
			continue
		}
		// The content of the file identifies a rendering, so an attempt that another field made before costs nothing.
		keys[i] = source + "\x00" + string(text)
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
	rendered, err := s.Chart.Render(ctx, missing, source)
	if err != nil {
		s.stopped = err
		return nil
	}
	s.renders += len(missing)
	if len(s.cache) > maxCached {
		clear(s.cache)
	}
	for n, i := range numbers {
		out[i], s.cache[keys[i]] = rendered[n], rendered[n]
		if rendered[n].GivenUp && len(all[i]) == 1 {
			s.givenUp = append(s.givenUp, Refused{Edits: all[i], Reason: rendered[n].Fault})
		}
	}
	return out
}
