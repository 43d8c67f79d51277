package object

// Copy returns a deep copy of a value. Each kind of null becomes nil.
func Copy(v any) any {
	switch v := v.(type) {
	case Null, NullKey, CustomNull:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, c := range v {
			out[k] = Copy(c)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, c := range v {
			out[i] = Copy(c)
		}
		return out
	}
	return v
}

// Without returns a deep copy of root without the value at path.
func Without(root any, path Path) any {
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
				out[k] = Copy(v)
			case len(rest) > 0:
				out[k] = Without(v, rest)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(node))
		for i, v := range node {
			switch {
			case !step.Matches(i, v):
				out = append(out, Copy(v))
			case len(rest) > 0:
				out = append(out, Without(v, rest))
			}
		}
		return out
	}
	return Copy(root)
}
