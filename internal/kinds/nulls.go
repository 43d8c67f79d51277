package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// WithoutNulls takes live's zero value for a null where live has it, and else leaves the null out.
func (s State) WithoutNulls(live any) State {
	_, null := s.Value.(object.NullKey)
	s.Value = resolved(s.Value, live)
	s.Present = s.Present && (!null || s.Value != nil)
	return s
}

// WithNulls resolves the nulls that a manifest writes into maps: a server-side apply stores the zero value, a client-side patch
// removes the key.
func WithNulls(v any, zeros bool) any {
	switch v := v.(type) {
	case object.NullKey:
		if zeros {
			return v.Zero
		}
		return nil
	case object.CustomNull:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			if _, null := below.(object.NullKey); zeros || !null {
				out[name] = WithNulls(below, zeros)
			}
		}
		return out
	}
	return v
}

// resolved is a value without nullKeys. What has none is given back as it is.
func resolved(v, live any) any {
	switch v := v.(type) {
	case object.NullKey:
		if live != nil && object.Equal(live, v.Zero) {
			return live
		}
		return nil
	case map[string]any:
		if !holdsNull(v) {
			return v
		}
		out := make(map[string]any, len(v))
		for name, below := range v {
			if below = resolved(below, object.Field(live, name)); below != nil {
				out[name] = below
			}
		}
		return out
	}
	return v
}

// holdsNull tells whether a map has a nullKey in it. Lists have none: a null there is the zero value.
func holdsNull(m map[string]any) bool {
	for _, v := range m {
		switch v := v.(type) {
		case object.NullKey:
			return true
		case map[string]any:
			if holdsNull(v) {
				return true
			}
		}
	}
	return false
}

// PlainNulls is a normal form with the nulls of a custom resource's manifest as the server stores them when it creates the object.
func PlainNulls(v any) any {
	switch v := v.(type) {
	case object.CustomNull:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = PlainNulls(below)
		}
		return out
	}
	return v
}
