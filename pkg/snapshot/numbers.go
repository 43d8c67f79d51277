package snapshot

import (
	"encoding/json"
	"math"
	"strconv"
)

// withFloats returns a copy of a value that encodes floats without a fraction with an exponent. Otherwise the API's decoder would take
// them for integers, and a comparison distinguishes the two.
func withFloats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = withFloats(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withFloats(item)
		}
		return out
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			return json.Number(strconv.FormatFloat(v, 'e', -1, 64))
		}
	}
	return v
}
