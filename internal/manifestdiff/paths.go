package manifestdiff

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// secretPaths returns the paths, of keys (string) and indexes (int), of what a report masks in a value, which is at a path itself: what its
// place calls secret, and known secrets. If a list has a secret outside of its maps, it is the path of the whole list.
func secretPaths(p secret.Place, known *secret.Known, v any, path []any) (out [][]any) {
	switch v := v.(type) {
	case map[string]any:
		p = p.InMap(v)
		for name, below := range v {
			at := append(slices.Clip(path), name)
			if known.Holds(name) {
				out = append(out, at)
			}
			out = append(out, secretPaths(p.FieldIn(v, name), known, below, at)...)
		}
	case []any:
		texts := slices.Clone(v)
		for i, item := range texts {
			if _, isMap := item.(map[string]any); isMap {
				texts[i] = nil
			}
		}
		if p.Holds(texts) || known.Holds(texts) {
			out = append(out, path)
		}
		for i, item := range v {
			out = append(out, secretPaths(p.Item(""), known, item, append(slices.Clip(path), i))...)
		}
	default:
		if p.Holds(v) || known.Holds(v) {
			out = append(out, path)
		}
	}
	return out
}
