package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// Normalizer brings the texts of one object to the states that are compared: typed, with defaults, and in live's spelling if two spellings
// mean the same.
type Normalizer struct {
	key   object.Key
	Shape *Shape
	// text is live as it was read, and live holds the values of its normal form before defaults. They are made on first use: most manifests
	// have nothing that depends on live.
	text map[string]any
	live *liveValues
	// keepsSpelling is set if each side keeps its own spelling.
	keepsSpelling bool
	// Respelled reports whether live's spelling was taken for another one somewhere.
	Respelled bool
}

// NewNormalizer returns the normalizer of an object. Live is the object that was read; nil if there is none.
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
// because those of this version prove nothing for the other.
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
	// All that live's own normal form has is in live.
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

// respell returns the value of live that means the same as v; v itself if live has none.
func (n *Normalizer) respell(v any, s *Shape, live *liveValues) any {
	// Live may have several values there, such as the items of a list; the same spelling comes before one that means the same.
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

// liveValues are the values that live has at one place, with the items of a list taken together. Those below are collected on first use.
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
