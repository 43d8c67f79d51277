package kinds

import "github.com/helmdrift/helmdrift/pkg/object"

// aligned returns a normal form as alignWithLive does.
func (n *Normalizer) aligned(normal map[string]any) map[string]any {
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
