package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// Normalizer brings the texts of one object to comparable states: typed, with defaults, and in live's spelling if two spellings mean the
// same.
type Normalizer struct {
	key   object.Key
	Shape *Shape
	// text is live as it was read, and live holds the values of its normal form before defaults. It is made on first use, because in most
	// manifests nothing depends on live.
	text map[string]any
	live *liveValues
	// keepsSpelling is set if each side keeps its own spelling.
	keepsSpelling bool
	// Respelled reports whether live's spelling replaced another one somewhere.
	Respelled bool
}

// NewNormalizer returns the normalizer of an object. Live is the object that was read, or nil if there is none.
func NewNormalizer(key object.Key, s *Shape, live map[string]any) *Normalizer {
	return &Normalizer{key: key, Shape: s, text: live}
}

// AsSpelled returns a normalizer that makes the same normal forms, except that each side keeps its own spelling.
func (n *Normalizer) AsSpelled() *Normalizer {
	return &Normalizer{key: n.key, Shape: n.Shape, text: n.text, live: n.live, keepsSpelling: true}
}

// Manifest returns the state of a manifest's text, with what the manifest names.
func (n *Normalizer) Manifest(text map[string]any) State {
	value := n.normalForm(text, asStored)
	written, _ := normalObject(text, n.Shape, asWritten)
	return State{Value: value, Present: value != nil, Written: written, Named: true}
}

// ManifestOfOtherVersion returns the state of a manifest's text that was written for another version of the API. It has no defaults,
// because the defaults of this version prove nothing for the other.
func (n *Normalizer) ManifestOfOtherVersion(text map[string]any) State {
	out := n.Manifest(text)
	out.Value = n.WithoutDefaults(text)
	return out
}

// Stored returns the state of an object as the API server returns it, or would return it.
func (n *Normalizer) Stored(object map[string]any) State {
	value := n.normalForm(object, asRead)
	return State{Value: value, Present: value != nil}
}

// WithoutDefaults returns the normal form of a manifest's text without defaults.
func (n *Normalizer) WithoutDefaults(text map[string]any) any {
	normal, loose := normalObject(text, n.Shape, asStored)
	return n.aligned(normal, loose)
}

// normalForm returns the normal form of a text with defaults.
func (n *Normalizer) normalForm(text map[string]any, f fidelity) map[string]any {
	out, loose := normalObject(text, n.Shape, f)
	if out == nil {
		return nil
	}
	if out["metadata"] == nil {
		out["metadata"] = map[string]any{} // every object has it
	}
	// Live needs no alignment with itself.
	out = n.aligned(out, loose && !object.IsSameMap(text, n.text))
	FillDefaults(out, n.Shape)
	removeAdmitted(n.key, out)
	removeHidden(n.key, out)
	return out
}

// aligned returns a normal form as alignWithLive does. Loose reports whether that may change anything.
func (n *Normalizer) aligned(normal map[string]any, loose bool) map[string]any {
	if !loose {
		return normal
	}
	if n.live == nil {
		live, _ := normalObject(n.text, n.Shape, asRead)
		n.live = &liveValues{values: []any{live}}
	}
	out, _ := n.alignWithLive(normal, n.Shape, n.live).(map[string]any)
	return out
}

// alignWithLive removes the fields that the server prunes, and takes live's spelling of values that mean the same as live's. A field that
// no type describes counts as pruned only if live lacks it, because a newer server may know it.
func (n *Normalizer) alignWithLive(v any, s *Shape, live *liveValues) any {
	if s == nil {
		return v
	}
	if s.alike != nil && !n.keepsSpelling {
		return n.respell(v, s, live)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if s.Prunes(name) && len(live.field(name).values) == 0 {
				delete(v, name)
				continue
			}
			v[name] = n.alignWithLive(below, s.Field(name), live.field(name))
		}
	case []any:
		for i := range v {
			v[i] = n.alignWithLive(v[i], s.Item(), live.item())
		}
	}
	return v
}

// respell returns the value of live that means the same as v, or v itself if live has none.
func (n *Normalizer) respell(v any, s *Shape, live *liveValues) any {
	// Live may have several values there, such as the items of a list. An equal value takes precedence over one that means the same.
	for _, other := range live.values {
		if object.Equal(v, other) {
			return v
		}
	}
	for _, other := range live.values {
		if s.alike(v, other) {
			n.Respelled = true
			return object.Copy(other)
		}
	}
	return v
}

// liveValues are the values that live has at one place, with the items of a list taken together. The values below are collected on first
// use.
type liveValues struct {
	values []any
	fields map[string]*liveValues
	items  *liveValues
}

// field returns the values in a field or under a map key.
func (l *liveValues) field(name string) *liveValues {
	if below, ok := l.fields[name]; ok {
		return below
	}
	below := &liveValues{}
	for _, v := range l.values {
		if m, ok := v.(map[string]any); ok && object.Has(m, name) {
			below.values = append(below.values, m[name])
		}
	}
	if l.fields == nil {
		l.fields = map[string]*liveValues{}
	}
	l.fields[name] = below
	return below
}

// item returns the items of the lists.
func (l *liveValues) item() *liveValues {
	if l.items != nil {
		return l.items
	}
	l.items = &liveValues{}
	for _, v := range l.values {
		list, _ := v.([]any)
		l.items.values = append(l.items.values, list...)
	}
	return l.items
}

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
