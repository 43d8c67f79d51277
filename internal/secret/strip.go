package secret

import (
	"slices"
	"strconv"
	"strings"
)

// Strip returns a copy of an object without the fields that contain a secret, and the paths of these fields. If a
// list has a secret outside of its maps, the whole list is removed. The checksum of a secret stays.
func (p Place) Strip(object map[string]any, known *Known) (stripped map[string]any, paths []string) {
	s := stripper{known: known}
	stripped = s.stripMap(p, object, "")
	slices.Sort(s.paths)
	return stripped, s.paths
}

// stripper collects the paths of the removed fields.
type stripper struct {
	known *Known
	paths []string
}

// stripMap returns a copy of a map without its secret fields.
func (s *stripper) stripMap(p Place, m map[string]any, path string) map[string]any {
	p = p.mapPlace(m)
	out := make(map[string]any, len(m))
	for name, below := range m {
		at := path + "." + name
		if path == "" {
			at = name
		}
		switch field := p.mapField(m, name); {
		case MayBeValue(name) && s.known.Holds(name):
			s.paths = append(s.paths, strings.TrimSuffix(at, name)+Mask)
		case s.isRemoved(field, below):
			s.paths = append(s.paths, at)
		default:
			out[name] = s.stripValue(field, below, at)
		}
	}
	return out
}

// stripValue returns a copy of a value that is no secret itself.
func (s *stripper) stripValue(p Place, v any, path string) any {
	switch v := v.(type) {
	case map[string]any:
		return s.stripMap(p, v, path)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.stripValue(p.Item(""), item, path+"["+strconv.Itoa(i)+"]")
		}
		return out
	}
	return v
}

// isRemoved reports whether a value is secret, or a list that has a secret among its texts.
func (s *stripper) isRemoved(p Place, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return false
	case []any:
		// Maps in the list are stripped one by one.
		texts := slices.DeleteFunc(slices.Clone(v), func(item any) bool { _, isMap := item.(map[string]any); return isMap })
		return s.holdsSecret(p, texts)
	}
	return s.holdsSecret(p, v)
}

// holdsSecret reports whether a value is or contains a secret. Unlike Place.Holds, it ignores checksums of secrets.
func (s *stripper) holdsSecret(p Place, v any) bool {
	found := s.known.Holds(v)
	p.Each(v, func(string) { found = true })
	return found
}
