package verdict

import "github.com/helmdrift/helmdrift/internal/kinds"

// A template that calls a function such as randAlphaNum or now makes another value each time it is rendered. What a second
// rendering makes anew (Object.Again) is volatile: that desired differs from old there proves no change of the chart, and the
// upgrade, which renders once more, will write yet another value. So the finding stays and says what Helm does, but is counted as
// ignored as long as live has not left old.

// isVolatile reports whether the two renderings differ at the place.
func (n States) isVolatile() bool {
	n = n.withoutNulls()
	return !n.Again.Same(n.Desired)
}

// preferSecondRendering takes a second rendering for the first where the first happens to be what live holds. The place is not converged: the
// upgrade's own rendering will be neither of the two. What only the clock makes otherwise is converged: an upgrade at this time
// writes what the first rendering has.
func (n States) preferSecondRendering() States {
	if plain := n.withoutNulls(); n.hasConverged() && !plain.AtOnce.Same(plain.Desired) {
		n.Desired, n.Again = n.AtOnce, n.Desired
		wanted := n.withoutNulls().Desired
		n.Result = kinds.State{Value: wanted.Value, Present: wanted.Present}
	}
	return n
}

// renaming tells what to make of the entries of one map or keyed list whose very names are made anew: as many that only the second
// rendering has as only the first has, or as only old has.
type renaming struct{ second, old bool }

// findRenaming looks for such entries among those of one place, by their names or steps.
func findRenaming[T any](w *Walker, names []T, at func(T) States) renaming {
	if !w.Volatile {
		return renaming{}
	}
	var first, second, old int
	for _, name := range names {
		n := at(name)
		switch (presence{n.Old.Present, n.Desired.Present, n.Again.Present}) {
		case presence{false, true, false}:
			first++
		case presence{false, false, true}:
			second++
		case presence{true, false, false}:
			old++
		}
	}
	return renaming{second: first == second && first > 0, old: first == old && first > 0}
}

// presence says which of three sides have a place.
type presence [3]bool

// apply returns the sides of one entry as they are to be walked, false where the entry is the other name of one that is walked. An
// entry that has lost its name to a new one counts as kept by the second rendering, so that its going is volatile.
func (r renaming) apply(n States) (States, bool) {
	switch {
	case r.old && n.Old.Present && n.Live.Present && !n.Desired.Present && !n.Again.Present:
		n.Again = n.Old
	case r.second && (n.Again.Present || n.AtOnce.Present) && !n.Desired.Present && !n.Old.Present && !n.Live.Present:
		return n, false
	}
	return n, true
}
