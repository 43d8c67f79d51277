package verdict

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
)

// A template that calls a function such as randAlphaNum or now returns another value each time it is rendered. The package comment says
// what such a volatile value means; Object.Again is the second rendering, and the upgrade renders once more.

// isVolatile reports whether the two renderings differ at the place.
func (n States) isVolatile() bool {
	n = n.withoutNulls()
	return !n.Again.Same(n.Desired)
}

// preferSecondRendering swaps the two renderings if the first happens to equal live. The place has not converged, because the upgrade's
// own rendering will differ from both. The exception is a value that differs only because of the clock: an upgrade now writes what the
// first rendering has.
func (n States) preferSecondRendering() States {
	if plain := n.withoutNulls(); n.hasConverged() && !plain.AtOnce.Same(plain.Desired) {
		n.Desired, n.Again = n.AtOnce, n.Desired
		wanted := n.withoutNulls().Desired
		n.Result = kinds.State{Value: wanted.Value, Present: wanted.Present}
	}
	return n
}

// renaming reports whether entries of one map or keyed list have generated names. They do if the second rendering, or old, has as many
// entries of its own as the first rendering.
type renaming struct{ second, old bool }

// findRenaming counts such entries among those of one place, by their names or steps.
func findRenaming[T any](w *objectWalk, names []T, at func(T) States) renaming {
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

// apply returns the states of one entry for the walk, or false if the walk has the entry under its other name. An old entry that is
// replaced by one with a new name counts as kept by the second rendering, so that its removal is volatile.
func (r renaming) apply(n States) (States, bool) {
	switch {
	case r.old && n.Old.Present && n.Live.Present && !n.Desired.Present && !n.Again.Present:
		n.Again = n.Old
	case r.second && (n.Again.Present || n.AtOnce.Present) && !n.Desired.Present && !n.Old.Present && !n.Live.Present:
		return n, false
	}
	return n, true
}

// A chart may be rendered with values that are not known, such as those of a Secret that cannot be read. A text stands for each of them,
// and a field that has the text is of class unknown: whether the upgrade changes it is not known.

// holdsText reports whether a value has a text in it, which may be encoded in base64 as in a Secret.
func holdsText(value any, text string) bool {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, text) {
			return true
		}
		raw, err := base64.StdEncoding.DecodeString(v)
		return err == nil && strings.Contains(string(raw), text)
	case []any:
		return slices.ContainsFunc(v, func(below any) bool { return holdsText(below, text) })
	case map[string]any:
		for key, below := range v {
			if strings.Contains(key, text) || holdsText(below, text) {
				return true
			}
		}
	}
	return false
}
