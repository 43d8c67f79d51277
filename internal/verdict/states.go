package verdict

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// States are old, desired, live and result at one place, and the last revision's state if that is not old.
type States struct {
	Old, Desired, Live, Result, Last kinds.State
	// Again is a second rendering of desired, or desired itself if that is the same. AtOnce is one at the same time: it is Again unless
	// that was rendered with the clock put forward.
	Again, AtOnce kinds.State
	// leaving is set if Helm's patch removes a parent of the place.
	leaving bool
	// StoresNulls is set if each write stores a null of the manifest as the zero value, as a server-side apply does. A client-side patch
	// stores it once, at install, and then removes it.
	StoresNulls bool
}

func (n States) field(name string) States {
	return n.mapStates(func(s kinds.State) kinds.State { return s.Field(name) })
}

func (n States) item(step object.Step) States {
	return n.mapStates(func(s kinds.State) kinds.State { return s.Item(step) })
}

func (n States) mapStates(below func(kinds.State) kinds.State) States {
	return States{
		Old: below(n.Old), Desired: below(n.Desired), Live: below(n.Live), Result: below(n.Result), Last: below(n.Last),
		Again: below(n.Again), AtOnce: below(n.AtOnce), leaving: n.isRemoved(), StoresNulls: n.StoresNulls,
	}
}

// isRemoved reports whether Helm's patch removes the place or a parent of it.
func (n States) isRemoved() bool { return n.leaving || n.Live.Present && !n.Result.Present }

// comparedStates returns the states that are compared, desired first, since desired decides the order of lists.
func (n States) comparedStates() []kinds.State {
	return []kinds.State{n.Desired, n.Live, n.Old, n.Result, n.Again, n.AtOnce}
}

// isManaged reports whether a manifest names the place.
func (n States) isManaged() bool { return n.Old.Named || n.Desired.Named }

// hasConverged reports whether live is as desired and stays so: there is no finding, whatever old was.
func (n States) hasConverged() bool { return n.Desired.Same(n.Live) && n.Live.Same(n.Result) }

// areMaps reports whether every present state is a map, and at least one is.
func (n States) areMaps() bool { return allAre[map[string]any](n) }

// areLists reports whether every present state is a list, and at least one is.
func (n States) areLists() bool { return allAre[[]any](n) }

func allAre[T any](n States) bool {
	some := false
	for _, s := range n.comparedStates() {
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

// fieldNames returns the keys of all states, sorted.
func (n States) fieldNames() []string {
	set := map[string]bool{}
	for _, s := range n.comparedStates() {
		m, _ := s.Value.(map[string]any)
		for k := range m {
			set[k] = true
		}
	}
	return object.SortedKeys(set)
}

// noteByIndex and noteTogether are the notes on items that their list-map keys do not distinguish.
const (
	noteByIndex  = "items of this list lack their keys, so they are matched by index"
	noteTogether = "several items of this list share these keys, so they are compared together"
)

// steps returns the steps to the items of all states, desired's first, and a note if the items are matched by index.
func (n States) steps(rule kinds.ListRule) (steps []object.Step, note string) {
	seen := map[string]bool{}
	for _, s := range n.comparedStates() {
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

// holdsSeveral reports whether any state has several items that match a step.
func (n States) holdsSeveral(step object.Step) bool {
	return step.Form != object.IndexStep && slices.ContainsFunc(n.comparedStates(), func(s kinds.State) bool {
		_, several := s.Value.([]any)
		return several
	})
}

func (n States) indexSteps() []object.Step {
	longest := 0
	for _, s := range n.comparedStates() {
		list, _ := s.Value.([]any)
		longest = max(longest, len(list))
	}
	steps := make([]object.Step, longest)
	for i := range steps {
		steps[i] = object.Step{Form: object.IndexStep, Index: i}
	}
	return steps
}

// sameAfter reports whether all states are the same after strip was applied to each.
func (n States) sameAfter(strip func(any) any) bool {
	n = n.mapStates(func(s kinds.State) kinds.State {
		s.Value = strip(s.Value)
		return s
	})
	return n.hasConverged() && n.Old.Same(n.Live)
}

// lookup returns the states at a path.
func (n States) lookup(path object.Path) States {
	return object.Follow(n, path, States.field, States.item)
}
