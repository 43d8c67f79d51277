package verdict

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// States are old, desired, live and result at one place, and the state of the last revision if it is not old.
type States struct {
	Old, Desired, Live, Result, Last kinds.State
	// Again is a second rendering of desired, or desired itself if that is the same. AtOnce is a second rendering at the same time: it
	// differs from Again only if Again was rendered with a later clock.
	Again, AtOnce kinds.State
	// leaving is set if Helm's patch removes a parent of the place.
	leaving bool
	// StoresNulls is set if each write stores a null of the manifest as the zero value, as a server-side apply does. A client-side
	// release stores the null once, at install, and a later patch removes it.
	StoresNulls bool
}

// Object is one object to compare.
type Object struct {
	Key    object.Key
	Shape  *kinds.Shape
	Engine report.Engine
	// Text is the object as it was read.
	Text map[string]any
	// States are the normal forms. Spelled are the states in their own spelling, or nil if no value was respelled.
	States  States
	Spelled *States
	// Conflicts are the conflicts of a server-side apply.
	Conflicts []engine.Conflict
	// Unpatched is set if Helm's patch cannot be made, so that there is no result.
	Unpatched bool
	// NullsStored is set if old was applied server-side, which stores the nulls of its manifest.
	NullsStored bool
	// Template is the file of the chart that the object comes from, and Volatile is set if a second rendering of the object differs.
	Template string
	Volatile bool
	// LastRevision is the number of the last revision if it is not old, or else 0. LastVersion is the API version of its manifest if
	// neither old's manifest nor live has that version. It is empty for most objects.
	LastRevision int
	LastVersion  string
	// Kept is the path of an autoscaler's metrics if the apply drops them and the API server keeps them. It is nil for most objects.
	Kept object.Path
	// Rules are the ignore rules for the object.
	Rules ignore.ObjectRules
	// Allocated are the fields that the server or a controller fills in. If it is nil, they are those of the table (allocations.go).
	Allocated *AllocatedFields
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

// lookup returns the states at a path.
func (n States) lookup(path object.Path) States {
	return object.Follow(n, path, States.field, States.item)
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
