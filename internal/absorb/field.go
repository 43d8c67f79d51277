package absorb

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// The bounds of the search for one field: how many renderings are made at once and how many at most, how many proofs with side effects end
// it, how many switches are tried, and how much less likely a switch together with a value is than either alone.
const (
	batchSize  = 8
	maxTries   = 400
	maxProved  = 4
	maxSwitch  = 12
	enoughLeft = 64
)

// fieldSearch is the search for one field.
type fieldSearch struct {
	*search
	Wanted
	// queue are the trials to make, the most likely first.
	queue  []trial
	tried  map[string]bool
	tries  int
	proved []proof
	// superfluous counts the proofs with more edits than another one needs.
	superfluous int
	// refused is the best change that would do it if the chart or the values file took it.
	refused *Refused
	// moves are the values that moved the field when they were changed, with what stood around them.
	moves []segment
}

// attempt is a list of edits to render.
type attempt struct {
	edits []Edit
	score int
	// leaf is the value that is replaced by the text put, if the attempt can show how the field is composed.
	leaf *leaf
	put  string
	// mark is set if the attempt puts a mark into the map at this path, under the key markKey.
	mark    []any
	markKey string
}

// proof is a candidate that was rendered, and in which desired equals live at the field.
type proof struct {
	edits        []Edit
	score        int
	rendering    Rendering
	effects      []Effect
	others, same int
	// contested are the fields that the edits move to another value than live has, each once.
	contested []int
	// breaks are the fields that were absorbed before and do not hold any more.
	breaks []int
}

// phase is a kind of attempts: how many of them are tried alone, the most likely ones, and how many of the others share a rendering.
type phase struct {
	attempts        func([]leaf) []attempt
	alone, together int
}

// run makes all attempts, in phases: those that are likely, those that only a rendering can suggest, and the rest. What is likely is tried
// alone, because it soon ends the search; of the rest most attempts do nothing, which one rendering shows for many of them.
func (f *fieldSearch) run(ctx context.Context) {
	nodes := f.nodes()
	phases := []phase{
		{f.likely, batchSize, groupSize}, {f.fragments, 0, groupSize}, {f.emptied, 0, 1}, {f.marks, 0, maxMarks},
		{f.items, 0, groupSize}, {f.composed, 0, 1}, {f.others, 0, groupSize}, {f.composed, 0, 1}, {f.switches, 0, groupSize},
		{f.unread, 0, groupSize},
	}
	for _, p := range phases {
		if f.isSettled() || f.stopped != nil {
			return
		}
		attempts := f.fresh(p.attempts(nodes))
		alone := min(p.alone, len(attempts))
		f.queue = append(grouped(attempts[:alone], 1), grouped(attempts[alone:], p.together)...)
		f.drain(ctx)
	}
}

// isSettled reports whether a candidate was found that moves nothing else in other objects.
func (f *fieldSearch) isSettled() bool {
	return f.tries > maxTries || len(f.proved)+f.superfluous >= maxProved ||
		slices.ContainsFunc(f.proved, func(p proof) bool { return p.others == 0 && len(p.breaks) == 0 })
}

// fresh returns the attempts that were not made yet, the best first.
func (f *fieldSearch) fresh(attempts []attempt) []attempt {
	slices.SortStableFunc(attempts, func(a, b attempt) int { return b.score - a.score })
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
		// Renderings are counted and not attempts, because they are what takes the time.
		f.tries += n
		rendered := f.render(ctx, all, f.Source)
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
			// A fault hides what the other attempts would do, so it is no answer for any of them.
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
		// What a rendering suggests comes before what was only likely.
		f.queue = slices.Concat(grouped(f.fresh(next), 1), smaller, f.queue)
	}
	f.queue = nil
}

// outcome returns what follows from the rendering of an attempt: whether the field is as live has it, and otherwise what to try next.
func (f *fieldSearch) outcome(a attempt, r Rendering) (next []attempt, holds bool) {
	switch {
	case r.Fault != "":
		return f.refusedAtOnce(a, r), false
	case a.mark != nil:
		return f.extensions(a, r), false
	case f.holds(r, f.Wanted):
		return nil, true
	}
	return f.solved(a, r), false
}

// isMoved reports whether a rendering has the field otherwise than the current one.
func (f *fieldSearch) isMoved(r Rendering) bool {
	if len(f.Path) == 0 {
		return f.holds(r, f.Wanted)
	}
	was, had := f.desired(f.current)
	is, has := f.desired(r)
	return had != has || !object.Equal(was, is)
}

// prove renders all of the chart with the attempts in which the field is as live has it, and keeps those for which that is still so. It
// returns what to try instead of those that the values file or the chart refuses.
func (f *fieldSearch) prove(ctx context.Context, holding []attempt) (next []attempt) {
	var kept []attempt
	var all [][]Edit
	for _, a := range holding {
		refusal := f.refusal(a.edits)
		// The file is asked before the chart is rendered as a whole: it takes less time.
		if refusal == nil {
			kept, all = append(kept, a), append(all, a.edits)
			continue
		}
		f.refuse(&Refused{Edits: a.edits, Reason: refusal.Reason, Line: refusal.Line, ByFile: true})
		if len(refusal.Also) > 0 {
			next = append(next, attempt{edits: slices.Concat(a.edits, refusal.Also), score: a.score})
		}
	}
	for i, r := range f.render(ctx, all, "") {
		if r.Fault != "" {
			f.refuse(&Refused{Edits: all[i], Reason: r.Fault})
			next = append(next, f.permitted(kept[i], r.Fault)...)
		}
		if r.Fault != "" || !f.holds(r, f.Wanted) {
			continue
		}
		p := proof{edits: all[i], score: kept[i].score, rendering: r, effects: f.effects(f.current, r, f.Wanted)}
		if hole := f.hole(p.edits, p.effects); hole != nil {
			f.refuse(&Refused{Edits: p.edits, Hole: hole})
			continue
		}
		// Fields of the same object are no side effects for effects, so those that are absorbed are asked one by one.
		for _, n := range f.done {
			if !f.holds(r, f.search.Wanted[n]) {
				p.breaks = append(p.breaks, n)
			}
		}
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

// isSuperfluous reports whether another proof does with some of the edits what this one does with all of them.
func (p proof) isSuperfluous(other proof) bool {
	return len(other.edits) < len(p.edits) && other.others <= p.others && len(other.breaks) <= len(p.breaks) &&
		!slices.ContainsFunc(other.edits, func(e Edit) bool {
			return !slices.ContainsFunc(p.edits, func(o Edit) bool { return reflect.DeepEqual(e, o) })
		})
}

// contested returns the wanted fields that effects move to a value that live does not have. Fields of the same object are told by the
// fields that an edit breaks once they are absorbed.
func (f *fieldSearch) contested(effects []Effect) []int {
	var out []int
	for i, w := range f.search.Wanted {
		if w.Key != f.Key && slices.ContainsFunc(effects, func(e Effect) bool {
			return e.Key == w.Key && e.Hook == nil && !e.Converges && len(e.Path) > 0 && e.Path.Equal(w.Path)
		}) {
			out = append(out, i)
		}
	}
	return out
}

// desired returns what a rendering has at the field, in normal form.
func (f *fieldSearch) desired(r Rendering) (any, bool) {
	o, found := r.Objects[f.Key]
	if !found {
		return nil, false
	}
	return f.Path.Lookup(f.Form(f.Key, o.Content))
}

// text returns the live value as it is written into values.
func (f *fieldSearch) text() any {
	if f.Text != nil {
		return object.Copy(f.Text)
	}
	return object.Copy(f.Live)
}
