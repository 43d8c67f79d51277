package absorb

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// The bounds of the search for one field: how many renderings are made at once, how many at most, and after how many a search ends that
// has a proof with side effects.
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
	// queue are the attempts to make, the most likely first.
	queue  []attempt
	tried  map[string]bool
	tries  int
	proved []proof
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
	// mark is set if the attempt puts a mark into the map at this path.
	mark []any
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

// run makes all attempts, in phases: those that are likely, those that only a rendering can suggest, and the rest.
func (f *fieldSearch) run(ctx context.Context) {
	nodes := f.nodes()
	phases := []func([]leaf) []attempt{
		f.likely, f.fragments, f.emptied, f.marks, f.items, f.composed, f.others, f.composed, f.switches, f.unread,
	}
	for _, phase := range phases {
		if f.isSettled() || f.stopped != nil {
			return
		}
		f.add(phase(nodes))
		f.drain(ctx)
	}
}

// isSettled reports whether a candidate was found that moves nothing else in other objects.
func (f *fieldSearch) isSettled() bool {
	return f.tries > maxTries || len(f.proved) >= maxProved ||
		slices.ContainsFunc(f.proved, func(p proof) bool { return p.others == 0 && len(p.breaks) == 0 })
}

// add appends attempts that were not made yet to the queue, the best first.
func (f *fieldSearch) add(attempts []attempt) {
	slices.SortStableFunc(attempts, func(a, b attempt) int { return b.score - a.score })
	for _, a := range attempts {
		id, err := json.Marshal(a.edits)
		if err != nil || f.tried[string(id)] {
			continue
		}
		f.tried[string(id)] = true
		f.queue = append(f.queue, a)
	}
}

// drain renders the attempts of the queue in batches.
func (f *fieldSearch) drain(ctx context.Context) {
	for len(f.queue) > 0 && !f.isSettled() {
		n := min(batchSize, len(f.queue))
		batch := f.queue[:n:n]
		f.queue = f.queue[n:]
		all := make([][]Edit, n)
		for i, a := range batch {
			all[i] = a.edits
		}
		f.tries += n
		rendered := f.render(ctx, all, f.Source)
		if rendered == nil {
			f.queue = nil
			return
		}
		var next, holding []attempt
		for i, r := range rendered {
			switch {
			case r.Fault != "":
			case batch[i].mark != nil:
				next = append(next, f.extensions(batch[i], r)...)
			case f.holds(r, f.Wanted):
				holding = append(holding, batch[i])
			default:
				next = append(next, f.solved(batch[i], r)...)
			}
		}
		f.prove(ctx, holding)
		// What a rendering suggests comes before what was only likely.
		rest := f.queue
		f.queue = nil
		f.add(next)
		f.queue = append(f.queue, rest...)
	}
	f.queue = nil
}

// prove renders all of the chart with the attempts in which the field is as live has it, and keeps those for which that is still so.
func (f *fieldSearch) prove(ctx context.Context, holding []attempt) {
	all := make([][]Edit, len(holding))
	for i, a := range holding {
		all[i] = a.edits
	}
	for i, r := range f.render(ctx, all, "") {
		if r.Fault != "" || !f.holds(r, f.Wanted) {
			continue
		}
		p := proof{edits: holding[i].edits, score: holding[i].score, rendering: r, effects: f.effects(f.current, r, f.Wanted)}
		for _, n := range f.done {
			if !f.holds(r, f.search.Wanted[n]) {
				p.breaks = append(p.breaks, n)
			}
		}
		p.others, p.same = harm(p.effects, f.Wanted)
		p.contested = f.contested(p.effects)
		f.proved = append(f.proved, p)
	}
}

// contested returns the wanted fields that effects move to a value that live does not have.
func (f *fieldSearch) contested(effects []Effect) []int {
	var out []int
	for i, w := range f.search.Wanted {
		if w.Key != f.Key && slices.ContainsFunc(effects, func(e Effect) bool {
			return e.Key == w.Key && !e.Converges && len(e.Path) > 0 && e.Path.Equal(w.Path)
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
