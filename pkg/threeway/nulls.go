package threeway

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// valueOf returns the value of a side as a finding has it: nil if the side is absent.
func (w *walker) valueOf(s kinds.State) any {
	switch {
	case !s.Present:
		return nil
	case w.custom && s.Value == nil:
		return object.Null{}
	}
	return object.Copy(s.Value)
}

// settleNulls decides what the nulls of manifests have become at one place of a custom resource whose schema lets the server store them.
// An apply stores a null each time. Client-side Helm stores it where it creates the object; a patch that brings it takes the field away,
// so that it is absent or has its default, and later patches do not mention it. Which of these happened long ago is not known, so
// neither an absent field nor a default that the release itself caused is drift.
func (w *walker) settleNulls(path object.Path, n sides) sides {
	_, was := n.old.Value.(object.CustomNull)
	_, is := n.desired.Value.(object.CustomNull)
	if was {
		n.old.Value, n.old.Present = w.storedNull(path, n.live)
	}
	switch {
	case is && n.storesNulls:
		n.desired.Value = nil
	case is && was:
		n.desired.Value, n.desired.Present = n.old.Value, n.old.Present
	case is:
		n.desired.Value, n.desired.Present = n.result.Value, n.result.Present
	}
	for _, s := range []*kinds.State{&n.last, &n.again, &n.atOnce} {
		if _, null := s.Value.(object.CustomNull); null {
			s.Value, s.Present = nil, !is || n.desired.Present
			if is {
				s.Value = n.desired.Value
			}
		}
	}
	return n
}

// storedNull is what the null of old's manifest was stored as, false where it left nothing.
func (w *walker) storedNull(path object.Path, live kinds.State) (any, bool) {
	switch {
	case w.nullsStored:
		return nil, true
	case !live.Present:
		return nil, false
	case live.Value != nil && w.isDefault(path, live.Value) && !w.isEdit(w.owners.OwnersOf(path)):
		return live.Value, true
	}
	return nil, true
}
