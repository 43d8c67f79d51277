package search

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// These bound the search for one field: the renderings at once, the renderings in all, and the proofs with side effects.
const (
	batchSize = 8
	maxTries  = 400
	maxProved = 4
)

// fieldSearch is the search for one field.
type fieldSearch struct {
	*field
	search *search
	// queue has the trials to make, the most likely first.
	queue  []trial
	tried  map[string]bool
	tries  int
	proved []proof
	// superfluous counts the proofs with more edits than another proof needs.
	superfluous int
	// refused is the best change that would absorb the field if the chart or the values file accepted it.
	refused     *Refused
	composition composition
}

// proof is a candidate whose rendering makes desired equal live at the field.
type proof struct {
	edits        []Edit
	score        int
	rendering    Rendering
	effects      []Effect
	others, same int
	// contested has the wanted fields that the edits change to another value than live's, each once.
	contested []int
	// breaks has the fields that were absorbed before and no longer equal live.
	breaks []int
}

// phase is a kind of attempts. As many as alone, the most likely ones, are tried alone; as many as together share a rendering.
type phase struct {
	attempts        func([]leaf) []attempt
	alone, together int
}

// run makes all attempts, in phases: the likely ones, those that only a rendering can suggest, and the rest. It tries the likely ones
// alone, because they soon end the search. Most of the rest do nothing, and one rendering shows that for many of them.
func (f *fieldSearch) run(ctx context.Context) {
	nodes := f.nodes()
	phases := []phase{
		{f.likely, batchSize, groupSize}, {f.fragments, 0, groupSize}, {f.composition.emptied, 0, 1}, {f.marks, 0, maxMarks},
		{f.items, 0, groupSize}, {f.composition.composed, 0, 1}, {f.others, 0, groupSize}, {f.composition.composed, 0, 1},
		{f.switches, 0, groupSize}, {f.unread, 0, groupSize},
	}
	for _, p := range phases {
		if f.isSettled() || f.search.stopped != nil {
			return
		}
		attempts := f.fresh(p.attempts(nodes))
		alone := min(p.alone, len(attempts))
		f.queue = append(grouped(attempts[:alone], 1), grouped(attempts[alone:], p.together)...)
		f.drain(ctx)
	}
}

// isSettled reports whether the search for the field is over: a candidate has no effect on other objects, or a bound is reached.
func (f *fieldSearch) isSettled() bool {
	return f.tries > maxTries || len(f.proved)+f.superfluous >= maxProved ||
		slices.ContainsFunc(f.proved, func(p proof) bool { return p.others == 0 && len(p.breaks) == 0 })
}

// fresh returns the attempts that are new, the best first.
func (f *fieldSearch) fresh(attempts []attempt) []attempt {
	order.Sort(attempts, func(a, b attempt) int { return b.score - a.score })
	var out []attempt
	for _, a := range attempts {
		id, err := json.Marshal(a.edits)
		if err != nil || f.tried[string(id)] {
			continue
		}
		f.tried[string(id)] = true
		out = append(out, a)
	}
	return out
}

// drain renders the trials of the queue in batches.
func (f *fieldSearch) drain(ctx context.Context) {
	for len(f.queue) > 0 && !f.isSettled() {
		n := min(batchSize, len(f.queue))
		batch := f.queue[:n:n]
		f.queue = f.queue[n:]
		all := make([][]Edit, n)
		for i, t := range batch {
			all[i] = t.edits()
		}
		// Count renderings and not attempts, because renderings take the time.
		f.tries += n
		rendered := f.search.render(ctx, all, f.Source)
		if rendered == nil {
			break
		}
		var next, holding []attempt
		var smaller []trial
		for i, r := range rendered {
			switch t := batch[i]; {
			case len(t) == 1:
				more, holds := f.outcome(t[0], r)
				next = append(next, more...)
				if holds {
					holding = append(holding, t[0])
				}
			// A fault hides what the other attempts would do, so it says nothing about them.
			case r.Fault != "" || t[0].mark == nil && f.isMoved(r):
				smaller = append(smaller, t.split(r.GivenUp)...)
			default:
				for _, a := range t {
					more, _ := f.outcome(a, r)
					next = append(next, more...)
				}
			}
		}
		next = append(next, f.prove(ctx, holding)...)
		// Attempts that a rendering suggests come before those that were only likely.
		f.queue = slices.Concat(grouped(f.fresh(next), 1), smaller, f.queue)
	}
	f.queue = nil
}

// outcome returns what follows from the rendering of an attempt: whether the field equals live, and otherwise what to try next.
func (f *fieldSearch) outcome(a attempt, r Rendering) (next []attempt, holds bool) {
	switch {
	case r.Fault != "":
		if r.GivenUp || !f.isValueItself(a) {
			return nil, false
		}
		f.refuse(&Refused{Edits: a.edits, Reason: r.Fault})
		return f.permitted(a, r.Fault), false
	case a.mark != nil:
		return f.extensions(a, r), false
	case f.holds(r, f.Wanted):
		return nil, true
	}
	return f.composition.solved(a, r), false
}

// prove renders the whole chart with the attempts that made the field equal live, and keeps those that still do. It returns what to try
// instead of those that the values file or the chart refuses.
func (f *fieldSearch) prove(ctx context.Context, holding []attempt) (next []attempt) {
	var kept []attempt
	var all [][]Edit
	for _, a := range holding {
		refusal := f.refusal(a.edits)
		// Ask the file before rendering the whole chart, because that takes less time.
		if refusal == nil {
			kept, all = append(kept, a), append(all, a.edits)
			continue
		}
		f.refuse(&Refused{Edits: a.edits, Reason: refusal.Reason, Line: refusal.Line, ByFile: true})
		if len(refusal.Also) > 0 {
			next = append(next, attempt{edits: slices.Concat(a.edits, refusal.Also), score: a.score})
		}
	}
	for i, r := range f.search.render(ctx, all, "") {
		if r.Fault != "" {
			f.refuse(&Refused{Edits: all[i], Reason: r.Fault})
			next = append(next, f.permitted(kept[i], r.Fault)...)
		}
		if r.Fault != "" || !f.holds(r, f.Wanted) {
			continue
		}
		p := proof{edits: all[i], score: kept[i].score, rendering: r, effects: f.search.changes.effects(f.current, r, f.Wanted)}
		if hole := hole(f.values, p.edits, p.effects); hole != nil {
			f.refuse(&Refused{Edits: p.edits, Hole: hole})
			continue
		}
		// The effects leave out wanted fields of the same object, so check each absorbed field.
		p.breaks = object.Filter(f.search.done, func(n int) bool { return !f.holds(r, f.Problem.Wanted[n]) })
		p.others, p.same = harm(p.effects, f.Wanted)
		p.contested = f.contested(p.effects)
		if slices.ContainsFunc(f.proved, p.isSuperfluous) {
			f.superfluous++
			continue
		}
		f.proved = append(f.proved, p)
	}
	return next
}

// refuse notes a refused change. It keeps the first one, since the likely ones come first, unless a later one has fewer edits.
func (f *fieldSearch) refuse(r *Refused) {
	if f.refused == nil || len(r.Edits) < len(f.refused.Edits) {
		f.refused = r
	}
}

// isSuperfluous reports whether another proof achieves with some of the edits what this one does with all of them.
func (p proof) isSuperfluous(other proof) bool {
	return len(other.edits) < len(p.edits) && other.others <= p.others && len(other.breaks) <= len(p.breaks) &&
		!slices.ContainsFunc(other.edits, func(e Edit) bool {
			return !slices.ContainsFunc(p.edits, func(o Edit) bool { return reflect.DeepEqual(e, o) })
		})
}
