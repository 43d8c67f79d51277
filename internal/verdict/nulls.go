package verdict

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// resolveNulls replaces the nulls of manifests at one place of a custom resource by what they have become, if the schema lets the server
// store them. An apply stores a null each time. Client-side, Helm stores it when it creates the object; a patch that adds it removes the
// field, which is then absent or has its default, and later patches do not mention it. Nothing shows which of these happened, so neither
// an absent field nor a default that the release itself caused is drift.
func (w *objectWalk) resolveNulls(path object.Path, n States) States {
	_, was := n.Old.Value.(object.CustomNull)
	_, is := n.Desired.Value.(object.CustomNull)
	if was {
		n.Old.Value, n.Old.Present = w.storedNull(path, n.Live)
	}
	switch {
	case is && n.StoresNulls:
		n.Desired.Value = nil
	case is && was:
		n.Desired.Value, n.Desired.Present = n.Old.Value, n.Old.Present
	case is:
		n.Desired.Value, n.Desired.Present = n.Result.Value, n.Result.Present
	}
	for _, s := range []*kinds.State{&n.Last, &n.Again, &n.AtOnce} {
		if _, null := s.Value.(object.CustomNull); null {
			s.Value, s.Present = nil, !is || n.Desired.Present
			if is {
				s.Value = n.Desired.Value
			}
		}
	}
	return n
}

// storedNull returns the value that the null of old's manifest was stored as, or false if the field is absent.
func (w *objectWalk) storedNull(path object.Path, live kinds.State) (any, bool) {
	switch {
	case w.NullsStored:
		return nil, true
	case !live.Present:
		return nil, false
	case live.Value != nil && w.isDefault(path, live.Value) && !w.isEdit(w.owners.OwnersOf(path)):
		return live.Value, true
	}
	return nil, true
}

// withStoredNulls returns old at path with the nulls below it as the API server stored them. It is for a map that is classified as
// one value: a null that a patch removed must not make it drifted.
func (w *objectWalk) withStoredNulls(path object.Path, n States) kinds.State {
	written, isMap := n.Old.Value.(map[string]any)
	switch {
	case w.Shape.Custom && w.isEmptied(path, n):
		n.Old.Value = nil
		return n.Old
	case !isMap || !w.Shape.Custom:
		return n.Old
	}
	stored := make(map[string]any, len(written))
	for name := range written {
		below := path.Field(name)
		if old := w.withStoredNulls(below, w.resolveNulls(below, n.field(name))); old.Present {
			stored[name] = old.Value
		}
	}
	n.Old.Value = stored
	return n.Old
}

// isEmptied reports whether live's null is the empty map or list of old's manifest: an apply that takes away the last item of one leaves a
// null (structured-merge-diff v6.4.2 typed/remove.go doMap, doList).
func (w *objectWalk) isEmptied(path object.Path, n States) bool {
	switch n.Old.Value.(type) {
	case map[string]any, []any:
		return n.Live.Present && n.Live.Value == nil && object.IsZero(n.Old.Value) && !w.isEdit(w.owners.OwnersOf(path))
	}
	return false
}
