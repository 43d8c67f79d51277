package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// A null in a map of a manifest is an object.NullKey in the normal form of a native kind, and an object.CustomNull in the normal form
// of a custom resource. What the API server stores for the null depends on the write, so the functions below replace it accordingly.

// WithoutNulls returns the state without its NullKeys: where live has the zero value of a NullKey, that value replaces it, and
// the others are removed.
func (s State) WithoutNulls(live any) State {
	// A state that is itself a NullKey is present only if live has its zero value.
	_, null := s.Value.(object.NullKey)
	s.Value = withoutNullKeys(s.Value, live)
	s.Present = s.Present && (!null || s.Value != nil)
	return s
}

// withoutNullKeys is WithoutNulls for a value. It returns v itself if that has no NullKey. Lists have none: a null there is the zero value.
func withoutNullKeys(v, live any) any {
	switch v := v.(type) {
	case object.NullKey:
		if live != nil && object.Equal(live, v.Zero) {
			return live
		}
		return nil
	case map[string]any:
		if !hasNull[object.NullKey](v) {
			return v
		}
		out := make(map[string]any, len(v))
		for name, below := range v {
			if below = withoutNullKeys(below, object.Field(live, name)); below != nil {
				out[name] = below
			}
		}
		return out
	}
	return v
}

// hasNull reports whether a map has a null of one kind at any depth.
func hasNull[T any](m map[string]any) bool {
	for _, v := range m {
		switch v := v.(type) {
		case T:
			return true
		case map[string]any:
			if hasNull[T](v) {
				return true
			}
		}
	}
	return false
}

// ResolveNulls returns a normal form with the nulls of its manifest as a write leaves them: a server-side apply stores the zero value, and
// a client-side patch removes the key.
func ResolveNulls(v any, serverSide bool) any {
	switch v := v.(type) {
	case object.NullKey:
		if serverSide {
			return v.Zero
		}
		return nil
	case object.CustomNull:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			if _, null := below.(object.NullKey); serverSide || !null {
				out[name] = ResolveNulls(below, serverSide)
			}
		}
		return out
	}
	return v
}

// PlainNulls returns a normal form with a plain null for each CustomNull, which is what the server stores when it creates the object.
func PlainNulls(v any) any {
	switch v := v.(type) {
	case object.CustomNull:
		return nil
	case map[string]any:
		if !hasNull[object.CustomNull](v) {
			return v
		}
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = PlainNulls(below)
		}
		return out
	}
	return v
}
