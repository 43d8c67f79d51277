package absorb

import (
	"reflect"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Overlay returns the values that turn one content of a values file into another when they are merged over it, as Helm merges the files of
// -f: maps by their keys, everything else as a whole. A null takes a value away. A map that becomes empty is written as a whole, since an
// empty overlay would leave its keys.
func Overlay(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range object.SortedKeys(merged(before, after)) {
		was, had := before[key]
		is, has := after[key]
		switch {
		case !has:
			out[key] = nil
		case had && reflect.DeepEqual(was, is):
		default:
			wasMap, ok := was.(map[string]any)
			isMap, ok2 := is.(map[string]any)
			if ok && ok2 && len(isMap) > 0 {
				out[key] = Overlay(wasMap, isMap)
			} else {
				out[key] = is
			}
		}
	}
	return out
}
