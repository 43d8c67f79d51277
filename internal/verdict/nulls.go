package verdict

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// valueOf is a side as a finding has it.
func (w *Walker) valueOf(s kinds.State) any {
	if w.Custom && s.Present && s.Value == nil {
		return object.Null{}
	}
	return object.Copy(s.OrNil())
}

// resolveNulls decides what the nulls of manifests have become at one place of a custom resource whose schema lets the server store them.
// An apply stores a null each time. Client-side Helm stores it where it creates the object; a patch that brings it takes the field away,
// so that it is absent or has its default, and later patches do not mention it. Which of these happened long ago is not known, so
// neither an absent field nor a default that the release itself caused is drift.
func (w *Walker) resolveNulls(path object.Path, n States) States {
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

// storedNull is what the null of old's manifest was stored as, false where it left nothing.
func (w *Walker) storedNull(path object.Path, live kinds.State) (any, bool) {
	switch {
	case w.NullsStored:
		return nil, true
	case !live.Present:
		return nil, false
	case live.Value != nil && w.isDefault(path, live.Value) && !w.isEdit(w.Owners.OwnersOf(path)):
		return live.Value, true
	}
	return nil, true
}

// withStoredNulls returns old at path with the nulls below it as the API server stored them. A map that the walk finds alike on all sides, but
// for its nulls, is classified as one value, and must not count as drifted because of them.
func (w *Walker) withStoredNulls(path object.Path, n States) kinds.State {
	written, isMap := n.Old.Value.(map[string]any)
	if !isMap || !w.Custom {
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
