package secret

import "slices"

// Paths returns the paths, of keys (string) and indexes (int), of all values of an object that are masked: those that Holds finds and those
// that are known. If a list has a secret outside of its maps, it is the path of the whole list.
func (p Place) Paths(object map[string]any, known *Known) [][]any {
	var out [][]any
	p.eachPath(object, known, nil, func(path []any) { out = append(out, slices.Clone(path)) })
	return out
}

// eachPath visits the paths of what is masked in a value.
func (p Place) eachPath(v any, known *Known, path []any, visit func(path []any)) {
	switch v := v.(type) {
	case map[string]any:
		p = p.mapPlace(v)
		for name, below := range v {
			at := append(slices.Clone(path), name)
			if known.Holds(name) {
				visit(at)
			}
			p.mapField(v, name).eachPath(below, known, at, visit)
		}
	case []any:
		texts := slices.Clone(v)
		for i, item := range texts {
			if _, isMap := item.(map[string]any); isMap {
				texts[i] = nil
			}
		}
		if p.Holds(texts) || known.Holds(texts) {
			visit(path)
		}
		for i, item := range v {
			p.Item("").eachPath(item, known, append(slices.Clone(path), i), visit)
		}
	default:
		if p.Holds(v) || known.Holds(v) {
			visit(path)
		}
	}
}
