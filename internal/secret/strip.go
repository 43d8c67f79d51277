package secret

import (
	"slices"
	"strconv"
)

// Strip returns a copy of an object without the fields that hold a secret, and their paths. A list that has one outside of a map goes as
// a whole. What is only the checksum of a secret stays.
func (p Place) Strip(object map[string]any, known *Known) (stripped map[string]any, paths []string) {
	s := stripper{known: known}
	stripped = s.ofMap(p, object, "")
	slices.Sort(s.paths)
	return stripped, s.paths
}

type stripper struct {
	known *Known
	paths []string
}

func (s *stripper) ofMap(p Place, m map[string]any, path string) map[string]any {
	p = p.ofMap(m)
	out := make(map[string]any, len(m))
	for name, below := range m {
		at := path + "." + name
		if path == "" {
			at = name
		}
		if field := p.fieldOf(m, name); s.goes(field, below) {
			s.paths = append(s.paths, at)
		} else {
			out[name] = s.value(field, below, at)
		}
	}
	return out
}

func (s *stripper) value(p Place, v any, path string) any {
	switch v := v.(type) {
	case map[string]any:
		return s.ofMap(p, v, path)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.value(p.Item(""), item, path+"["+strconv.Itoa(i)+"]")
		}
		return out
	}
	return v
}

// goes reports whether a value is secret, or a list that has a secret among its texts.
func (s *stripper) goes(p Place, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return false
	case []any:
		texts := slices.DeleteFunc(slices.Clone(v), func(item any) bool { _, isMap := item.(map[string]any); return isMap })
		return s.holds(p, texts)
	}
	return s.holds(p, v)
}

func (s *stripper) holds(p Place, v any) bool {
	found := s.known.Holds(v)
	p.Each(v, func(string) { found = true })
	return found
}
