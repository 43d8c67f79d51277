package object

import (
	"fmt"
	"slices"
	"testing"
)

// TestItemIndex checks that an index finds what a step finds by looking at each item.
func TestItemIndex(t *testing.T) {
	odd := []any{nil, "a", int64(1), 1.5, true, "1", "a", []any{}, map[string]any{"name": map[string]any{}}, map[string]any{"name": "a", "port": int64(80)},
		map[string]any{"name": "a", "port": "80"}, map[string]any{"name": "b"}, map[string]any{"name": "a", "port": int64(80)}, map[string]any{}}
	var steps []Step
	for _, v := range append([]any{"missing"}, odd...) {
		steps = append(steps, Step{Form: IndexStep, Index: len(steps) - 1})
		if IsScalar(v) {
			steps = append(steps, Step{Form: SetStep, Value: v}, Step{Form: KeyStep, Keys: []ListKey{{Name: "name", Value: v}}},
				Step{Form: KeyStep, Keys: []ListKey{{Name: "name", Value: "a"}, {Name: "port", Value: v}}})
		}
	}
	steps = append(steps, Step{Form: FieldStep, Name: "a"}, Step{Form: KeyStep, Keys: []ListKey{{Name: "name", Value: map[string]any{}}}},
		Step{Form: KeyStep, Keys: []ListKey{{Name: "name", Value: "a"}, {Name: "port", Value: int64(80)}}}, Step{Form: KeyStep})
	for _, list := range [][]any{nil, odd[:5], odd} {
		index := NewItemIndex(list)
		for _, s := range steps {
			if got, want := index.Indexes(s), s.Indexes(list); !slices.Equal(got, want) {
				t.Errorf("%d items, %s: %v, want %v", len(list), fmt.Sprintf("%+v", s), got, want)
			}
		}
	}
}
