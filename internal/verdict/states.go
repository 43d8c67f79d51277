package verdict

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file has what the walk asks of the states at one place.

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
	var all []map[string]any
	for _, s := range n.comparedStates() {
		all = append(all, s.Object())
	}
	return object.AllKeys(all...)
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
			id := step.ItemName()
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

// presence holds which of three states have a place.
type presence [3]bool

func (n States) presence() presence {
	return presence{n.Old.Shown().Present, n.Desired.Shown().Present, n.Live.Present}
}

// withoutNulls resolves nulls that a manifest writes into a map of a native kind. The server stored the zero value at install
// and Helm's next client-side upgrade deletes the key, so both count as undrifted.
func (n States) withoutNulls() States {
	var stored any
	if n.StoresNulls {
		stored = n.Result.Value
	}
	if n.StoresNulls && n.Live.Present {
		_, null := n.Old.Value.(object.NullKey)
		n.Old.Value = kinds.ResolveNulls(n.Old.Value, true)
		n.Old.Present = n.Old.Present && (!null || n.Old.Value != nil)
	} else {
		n.Old = n.Old.WithoutNulls(n.Live.Value)
	}
	n.Desired, n.Again, n.AtOnce = n.Desired.WithoutNulls(stored), n.Again.WithoutNulls(stored), n.AtOnce.WithoutNulls(stored)
	return n
}
