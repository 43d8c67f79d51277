package threeway

import "github.com/helmdrift/helmdrift/pkg/object"

// forms brings the texts of one object to the sides that are compared (design section 5): typed, with defaults, and in
// live's own spelling where two spellings mean the same.
type forms struct {
	key   object.Key
	shape *shape
	// seen is live's normal form, before defaults.
	seen *seen
	// literal keeps the spelling of each side.
	literal bool
	// respelled reports that live's spelling was taken for another one somewhere.
	respelled bool
}

func newForms(key object.Key, s *shape, live map[string]any) *forms {
	return &forms{key: key, shape: s, seen: &seen{values: []any{normalObject(live, s, asRead)}}}
}

// asSpelled returns the same forms, but for spelling: each side keeps its own.
func (f *forms) asSpelled() *forms {
	return &forms{key: f.key, shape: f.shape, seen: f.seen, literal: true}
}

// manifest gives the side of a manifest's text, which also tells what it names.
func (f *forms) manifest(text map[string]any) side {
	value := f.settled(text, asStored)
	return side{value: value, present: value != nil, written: normalObject(text, f.shape, asWritten), named: true}
}

// foreign gives the side of a manifest's text that was written for another version: of that, defaults prove nothing.
func (f *forms) foreign(text map[string]any) side {
	out := f.manifest(text)
	out.value = f.bare(text)
	return out
}

// stored gives the side of an object as the API server returns it, or would.
func (f *forms) stored(object map[string]any) side {
	value := f.settled(object, asRead)
	return side{value: value, present: value != nil}
}

// bare returns the normal form of a manifest's text without defaults.
func (f *forms) bare(text map[string]any) any {
	return f.settle(normalObject(text, f.shape, asStored), f.shape, f.seen)
}

func (f *forms) settled(object map[string]any, how fidelity) map[string]any {
	normal := normalObject(object, f.shape, how)
	if normal == nil {
		return nil
	}
	if normal["metadata"] == nil {
		normal["metadata"] = map[string]any{} // every object has it
	}
	out, _ := f.settle(normal, f.shape, f.seen).(map[string]any)
	fillObject(out, f.shape)
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
func (f *forms) settle(v any, s *shape, live *seen) any {
	if s == nil {
		return v
	}
	if s.alike != nil && !f.literal {
		return f.spelled(v, s, live)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if s.prunes(name) && len(live.at(name).values) == 0 {
				delete(v, name)
				continue
			}
			v[name] = f.settle(below, s.field(name), live.at(name))
		}
	case []any:
		for i := range v {
			v[i] = f.settle(v[i], s.item(), live.inside())
		}
	}
	return v
}

func (f *forms) spelled(v any, s *shape, live *seen) any {
	for _, other := range live.values {
		if object.Equal(v, other) {
			return v
		}
	}
	for _, other := range live.values {
		if s.alike(v, other) {
			f.respelled = true
			return object.Copy(other)
		}
	}
	return v
}
