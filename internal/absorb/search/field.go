package search

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// state is the state after the edits for the earlier fields.
type state struct {
	// edited is the content of the file, values is what the templates see with it, and current is its rendering.
	edited, values map[string]any
	current        Rendering
}

// field is what the search for one field knows: the field that is wanted, the problem that it is a part of, and the state before it.
type field struct {
	Wanted
	*Problem
	state
}

// desired returns what a rendering has at the field, in normal form.
func (f *field) desired(r Rendering) (any, bool) {
	o, found := r.Objects[f.Key]
	if !found {
		return nil, false
	}
	return f.Path.Lookup(f.Form(f.Key, o.Content))
}

// isMoved reports whether the field differs between a rendering and the current one.
func (f *field) isMoved(r Rendering) bool {
	if len(f.Path) == 0 {
		return f.holds(r, f.Wanted)
	}
	was, had := f.desired(f.current)
	is, has := f.desired(r)
	return had != has || !object.Equal(was, is)
}

// text returns the live value in the form to write into values.
func (f *field) text() any {
	if f.Text != nil {
		return object.Copy(f.Text)
	}
	return object.Copy(f.Live)
}

// refusal returns why the values file cannot take edits on top of those for earlier fields, or nil if it can. It asks about the whole
// difference and not only about these edits: if two places share a value, the file takes the edits of both only together.
func (f *field) refusal(edits []Edit) *Refusal {
	if f.Refuses == nil {
		return nil
	}
	return f.Refuses(difference(f.Edited, Apply(f.edited, f.values, edits), nil))
}

// contested returns the wanted fields of other objects that effects change to a value other than live's. For fields of the same
// object, the search checks that once they are absorbed.
func (f *field) contested(effects []Effect) []int {
	var out []int
	for i, w := range f.Problem.Wanted {
		if w.Key != f.Key && slices.ContainsFunc(effects, func(e Effect) bool {
			return e.Key == w.Key && e.Hook == nil && !e.Converges && len(e.Path) > 0 && e.Path.Equal(w.Path)
		}) {
			out = append(out, i)
		}
	}
	return out
}
