package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// sides are the four sides at one place, and the last revision's where that is not old.
type sides struct {
	old, desired, live, result, last kinds.State
	// again is a second rendering of desired, and desired itself where that made the same. atOnce is one at the same time: it is again
	// unless that was rendered with the clock put forward.
	again, atOnce kinds.State
	// leaving tells that Helm's patch takes away what holds the place.
	leaving bool
	// storesNulls tells that a null in a manifest is stored as the zero value each time, as a server-side apply does it; a
	// client-side patch stores it once, at install, and then removes it.
	storesNulls bool
}

func (n sides) at(name string) sides {
	return n.each(func(s kinds.State) kinds.State { return s.Field(name) })
}

func (n sides) item(step object.Step) sides {
	return n.each(func(s kinds.State) kinds.State { return s.Item(step) })
}

func (n sides) each(below func(kinds.State) kinds.State) sides {
	return sides{
		old: below(n.old), desired: below(n.desired), live: below(n.live), result: below(n.result), last: below(n.last),
		again: below(n.again), atOnce: below(n.atOnce), leaving: n.leaves(), storesNulls: n.storesNulls,
	}
}

// leaves tells whether Helm's patch takes the place away, or what holds it.
func (n sides) leaves() bool { return n.leaving || n.live.Present && !n.result.Present }

// compared gives the sides that are compared, desired first, since that gives lists their order.
func (n sides) compared() []kinds.State {
	return []kinds.State{n.desired, n.live, n.old, n.result, n.again, n.atOnce}
}

// managed tells whether a manifest names the place.
func (n sides) managed() bool { return n.old.Named || n.desired.Named }

// converged tells that Helm wants what is there and leaves it: no finding, whatever old was.
func (n sides) converged() bool { return n.desired.Same(n.live) && n.live.Same(n.result) }

// maps tells whether every present side is a map, and at least one is.
func (n sides) maps() bool { return every[map[string]any](n) }

// lists tells whether every present side is a list, and at least one is.
func (n sides) lists() bool { return every[[]any](n) }

func every[T any](n sides) bool {
	some := false
	for _, s := range n.compared() {
		if !s.Present {
			continue
		}
		if _, ok := s.Value.(T); !ok {
			return false
		}
		some = true
	}
	return some
}

// names gives the keys of all sides, sorted.
func (n sides) names() []string {
	set := map[string]bool{}
	for _, s := range n.compared() {
		m, _ := s.Value.(map[string]any)
		for k := range m {
			set[k] = true
		}
	}
	return object.SortedKeys(set)
}

// noteByIndex and noteTogether are the remarks on items that their list-map keys do not tell apart.
const (
	noteByIndex  = "items of this list lack their keys, so they are told apart by index"
	noteTogether = "several items of this list share these keys, so they are compared together"
)

// steps returns the steps to the items of all sides, desired's first, and a note where items had to be told apart by index.
func (n sides) steps(rule kinds.ListRule) (steps []object.Step, note string) {
	seen := map[string]bool{}
	for _, s := range n.compared() {
		list, _ := s.Value.([]any)
		for _, v := range list {
			step, ok := kinds.StepTo(v, rule)
			if !ok {
				return n.indexSteps(), noteByIndex
			}
			id := fmt.Sprintf("%#v %#v", step.Keys, step.Value)
			if !seen[id] {
				seen[id] = true
				steps = append(steps, step)
			}
		}
	}
	return steps, ""
}

// holdsSeveral reports whether any side has several items of the name that a step has.
func (n sides) holdsSeveral(step object.Step) bool {
	return step.Form != object.IndexStep && slices.ContainsFunc(n.compared(), func(s kinds.State) bool {
		_, several := s.Value.([]any)
		return several
	})
}

func (n sides) indexSteps() []object.Step {
	longest := 0
	for _, s := range n.compared() {
		list, _ := s.Value.([]any)
		longest = max(longest, len(list))
	}
	steps := make([]object.Step, longest)
	for i := range steps {
		steps[i] = object.Step{Form: object.IndexStep, Index: i}
	}
	return steps
}

// sameAfter reports whether Helm wants what is there and nobody moved, once strip was applied to each side.
func (n sides) sameAfter(strip func(any) any) bool {
	n = n.each(func(s kinds.State) kinds.State {
		s.Value = strip(s.Value)
		return s
	})
	return n.converged() && n.old.Same(n.live)
}
