package fixing

import (
	"slices"
	"strconv"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// strip returns a copy of an object without the fields that contain a secret, and the paths of these fields. If a list has a secret outside
// of its maps, the whole list is removed. The checksum of a secret stays.
func strip(p secret.Place, known *secret.Known, object map[string]any) (stripped map[string]any, paths []string) {
	s := stripper{known: known}
	stripped = s.stripMap(p, object, "")
	slices.Sort(s.paths)
	return stripped, s.paths
}

// stripper collects the paths of the removed fields.
type stripper struct {
	known *secret.Known
	paths []string
}

// stripMap returns a copy of a map without its secret fields. The paths of the fields begin with head.
func (s *stripper) stripMap(p secret.Place, m map[string]any, head string) map[string]any {
	p = p.InMap(m)
	out := make(map[string]any, len(m))
	for name, below := range m {
		switch field := p.FieldIn(m, name); {
		case secret.MayBeValue(name) && s.known.Holds(name):
			s.paths = append(s.paths, head+secret.Mask)
		case s.isRemoved(field, below):
			s.paths = append(s.paths, head+name)
		default:
			out[name] = s.stripValue(field, below, head+name)
		}
	}
	return out
}

// stripValue returns a copy of a value that is not itself a secret.
func (s *stripper) stripValue(p secret.Place, v any, path string) any {
	switch v := v.(type) {
	case map[string]any:
		return s.stripMap(p, v, path+".")
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.stripValue(p.Item(""), item, path+"["+strconv.Itoa(i)+"]")
		}
		return out
	}
	return v
}

// isRemoved reports whether a value is secret, or a list that has a secret among its texts. Unlike secret.Place.Holds, it ignores checksums
// of secrets.
func (s *stripper) isRemoved(p secret.Place, v any) bool {
	isMap := func(v any) bool { _, ok := v.(map[string]any); return ok }
	if isMap(v) {
		return false
	}
	if list, ok := v.([]any); ok {
		v = slices.DeleteFunc(slices.Clone(list), isMap) // stripValue strips the maps in the list one by one
	}
	found := s.known.Holds(v)
	p.Each(v, func(string) { found = true })
	return found
}
