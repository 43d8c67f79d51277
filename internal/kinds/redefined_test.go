package kinds

import (
	"slices"
	"testing"
)

// TestLostFields names the fields of a definition that the next one lacks. Names of fields may begin with a dot.
func TestLostFields(t *testing.T) {
	inner := func(names ...string) map[string]any {
		fields := map[string]any{}
		for _, name := range names {
			fields[name] = map[string]any{"type": "string"}
		}
		return map[string]any{"type": "object", "properties": fields}
	}
	root := func(inner map[string]any) map[string]any {
		list := map[string]any{"type": "array", "items": inner}
		return map[string]any{"type": "object", "properties": map[string]any{"spec": inner, ".hidden": inner, "list": list}}
	}
	got := lostFields(root(inner("a", "b", ".c")), root(inner("a")), "")
	want := []string{".hidden..c", ".hidden.b", "list[*]..c", "list[*].b", "spec..c", "spec.b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
