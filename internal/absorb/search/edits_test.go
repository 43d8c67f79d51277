package search_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestOverlay merges the overlays of random contents of a values file as Helm does. The result has what the new content has, apart from
// nulls: Helm drops the defaults of a chart that they name.
func TestOverlay(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	emptied := 0
	for range 5000 {
		before, after := randomMap(random, 3), randomMap(random, 3)
		overlay := search.Overlay(before, after)
		merged := loader.MergeMaps(object.Copy(before).(map[string]any), object.Copy(overlay).(map[string]any))
		if diff := cmp.Diff(withoutNulls(after), withoutNulls(merged)); diff != "" {
			t.Fatalf("%v → %v by %v: -want +got\n%s", before, after, overlay, diff)
		}
		for key := range before {
			was, _ := before[key].(map[string]any)
			if is, isMap := after[key].(map[string]any); isMap && len(is) == 0 && len(was) > 0 {
				emptied++
			}
		}
	}
	if emptied == 0 {
		t.Error("no map has become empty")
	}
}

// randomMap returns values with few keys, so that two of them often have the same.
func randomMap(random *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		switch n := random.IntN(6); {
		case n < 2 && depth > 1:
			out[key] = randomMap(random, depth-1)
		case n == 2:
			out[key] = []any{float64(random.IntN(2))}
		case n == 3:
			out[key] = float64(random.IntN(2))
		case n == 4:
			out[key] = nil
		}
	}
	return out
}

// withoutNulls returns values without the keys that are null.
func withoutNulls(values map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range values {
		switch v := v.(type) {
		case nil:
		case map[string]any:
			out[key] = withoutNulls(v)
		default:
			out[key] = v
		}
	}
	return out
}
