package threeway

// lookup finds the value at a path.
func lookup(root any, path Path) (any, bool) {
	node := root
	for _, s := range path {
		_, next, ok := s.in(node)
		if !ok {
			return nil, false
		}
		node = next
	}
	return node, true
}

// removeAt gives a copy of a value without what stands at path. Maps and lists along the path are new, the rest is copied too
// only where it is changed later, so callers may fill the copy with defaults.
func removeAt(root any, path Path) any {
	if len(path) == 0 {
		return nil
	}
	step, rest := path[0], path[1:]
	switch node := root.(type) {
	case map[string]any:
		out := make(map[string]any, len(node))
		for k, v := range node {
			switch {
			case step.Form != FieldStep || k != step.Name:
				out[k] = deepCopy(v)
			case len(rest) > 0:
				out[k] = removeAt(v, rest)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(node))
		for i, v := range node {
			switch {
			case !step.matches(i, v):
				out = append(out, deepCopy(v))
			case len(rest) > 0:
				out = append(out, removeAt(v, rest))
			}
		}
		return out
	}
	return deepCopy(root)
}

// deepCopy copies a normal form, as it may be shown: without nullKeys, and with plain nulls.
func deepCopy(v any) any {
	switch v := v.(type) {
	case nullKey, customNull:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, c := range v {
			out[k] = deepCopy(c)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, c := range v {
			out[i] = deepCopy(c)
		}
		return out
	}
	return v
}
