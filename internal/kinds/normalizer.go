package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// Normalizer brings the texts of one object to the sides that are compared (design section 5): typed, with defaults, and in
// live's own spelling where two spellings mean the same.
type Normalizer struct {
	key   object.Key
	Shape *Shape
	// seen is live's normal form, before defaults.
	seen *seen
	// literal keeps the spelling of each side.
	literal bool
	// Respelled reports that live's spelling was taken for another one somewhere.
	Respelled bool
}

// NewNormalizer returns the normalizer of an object. Live is the object that was read; nil if there is none.
func NewNormalizer(key object.Key, s *Shape, live map[string]any) *Normalizer {
	return &Normalizer{key: key, Shape: s, seen: &seen{values: []any{normalObject(live, s, asRead)}}}
}

// AsSpelled returns the same forms, but for spelling: each side keeps its own.
func (f *Normalizer) AsSpelled() *Normalizer {
	return &Normalizer{key: f.key, Shape: f.Shape, seen: f.seen, literal: true}
}

// Manifest gives the side of a manifest's text, which also tells what it names.
func (f *Normalizer) Manifest(text map[string]any) State {
	value := f.settled(text, asStored)
	return State{Value: value, Present: value != nil, Written: normalObject(text, f.Shape, asWritten), Named: true}
}

// ForeignManifest gives the side of a manifest's text that was written for another version: of that, defaults prove nothing.
func (f *Normalizer) ForeignManifest(text map[string]any) State {
	out := f.Manifest(text)
	out.Value = f.WithoutDefaults(text)
	return out
}

// Stored gives the side of an object as the API server returns it, or would.
func (f *Normalizer) Stored(object map[string]any) State {
	value := f.settled(object, asRead)
	return State{Value: value, Present: value != nil}
}

// WithoutDefaults returns the normal form of a manifest's text without defaults.
func (f *Normalizer) WithoutDefaults(text map[string]any) any {
	return f.settle(normalObject(text, f.Shape, asStored), f.Shape, f.seen)
}

func (f *Normalizer) settled(object map[string]any, how fidelity) map[string]any {
	normal := normalObject(object, f.Shape, how)
	if normal == nil {
		return nil
	}
	if normal["metadata"] == nil {
		normal["metadata"] = map[string]any{} // every object has it
	}
	out, _ := f.settle(normal, f.Shape, f.seen).(map[string]any)
	FillObject(out, f.Shape)
	withoutAdmitted(f.key, out)
	return out
}

// seen is what live has at one place, the items of a list taken together. It is made as far as it is asked for.
type seen struct {
	values []any
	fields map[string]*seen
	items  *seen
}

// at gives what live has in a field or under a map key.
func (s *seen) at(name string) *seen {
	if below, ok := s.fields[name]; ok {
		return below
	}
	below := &seen{}
	for _, v := range s.values {
		if m, ok := v.(map[string]any); ok && object.Has(m, name) {
			below.values = append(below.values, m[name])
		}
	}
	if s.fields == nil {
		s.fields = map[string]*seen{}
	}
	s.fields[name] = below
	return below
}

// inside gives what live has in the items of a list.
func (s *seen) inside() *seen {
	if s.items != nil {
		return s.items
	}
	s.items = &seen{}
	for _, v := range s.values {
		list, _ := v.([]any)
		s.items.values = append(s.items.values, list...)
	}
	return s.items
}

// settle drops fields that the server prunes, and takes live's spelling of values that mean the same as live's. A field that
// no type describes counts as pruned only if live lacks it: a newer server may know it.
func (f *Normalizer) settle(v any, s *Shape, live *seen) any {
	if s == nil {
		return v
	}
	if s.alike != nil && !f.literal {
		return f.spelled(v, s, live)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if s.Prunes(name) && len(live.at(name).values) == 0 {
				delete(v, name)
				continue
			}
			v[name] = f.settle(below, s.Field(name), live.at(name))
		}
	case []any:
		for i := range v {
			v[i] = f.settle(v[i], s.Item(), live.inside())
		}
	}
	return v
}

func (f *Normalizer) spelled(v any, s *Shape, live *seen) any {
	for _, other := range live.values {
		if object.Equal(v, other) {
			return v
		}
	}
	for _, other := range live.values {
		if s.alike(v, other) {
			f.Respelled = true
			return object.Copy(other)
		}
	}
	return v
}
