package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPointerEdit checks that a pointer edits and removes one value, and that a pointer beyond the end of a list changes
// nothing.
func TestPointerEdit(t *testing.T) {
	set := func(any) any { return "new" }
	for _, tt := range []struct {
		pointer         Pointer
		edited, removed any
	}{
		{Pointer{"a"}, map[string]any{"a": "new", "l": []any{"x", "y"}}, map[string]any{"l": []any{"x", "y"}}},
		{Pointer{"l", "0"}, map[string]any{"a": "1", "l": []any{"new", "y"}}, map[string]any{"a": "1", "l": []any{"y"}}},
		{Pointer{"l", "2"}, map[string]any{"a": "1", "l": []any{"x", "y"}}, map[string]any{"a": "1", "l": []any{"x", "y"}}},
		{Pointer{"l", "x"}, map[string]any{"a": "1", "l": []any{"x", "y"}}, map[string]any{"a": "1", "l": []any{"x", "y"}}},
		{Pointer{"b"}, map[string]any{"a": "1", "b": "new", "l": []any{"x", "y"}}, map[string]any{"a": "1", "l": []any{"x", "y"}}},
	} {
		root := func() any { return map[string]any{"a": "1", "l": []any{"x", "y"}} }
		if diff := cmp.Diff(tt.edited, tt.pointer.Edit(root(), set)); diff != "" {
			t.Errorf("Edit %s (-want +got):\n%s", tt.pointer, diff)
		}
		if diff := cmp.Diff(tt.removed, tt.pointer.Remove(root())); diff != "" {
			t.Errorf("Remove %s (-want +got):\n%s", tt.pointer, diff)
		}
	}
	if got := (Pointer{}).Edit("old", set); got != "new" {
		t.Errorf("the root becomes %v", got)
	}
}

// TestPointerInto checks that a path of a normal form is found in a text that may spell items differently, and that a default is not
// found.
func TestPointerInto(t *testing.T) {
	text := map[string]any{"ports": []any{map[string]any{"port": "80"}, map[string]any{"port": "80"}, map[string]any{"port": "53"}}}
	normal := map[string]any{"ports": []any{
		map[string]any{"port": int64(80), "protocol": "TCP"}, map[string]any{"port": int64(80), "protocol": "TCP"},
		map[string]any{"port": int64(53)},
	}}
	ports := func(port int64) Path { return Path{}.Field("ports").Item([]ListKey{{"port", port}}) }
	if got, ok := ports(53).Field("port").PointerInto(text, normal); !ok || got.String() != "/ports/2/port" {
		t.Errorf("the pointer is %s, %t", got, ok)
	}
	if got, ok := ports(80).Field("protocol").PointerInto(text, normal); ok {
		t.Errorf("a default is at %s", got)
	}
	got, ok := ports(80).LookupIn(text, normal)
	if diff := cmp.Diff([]any{map[string]any{"port": "80"}, map[string]any{"port": "80"}}, got); !ok || diff != "" {
		t.Errorf("items of one name: %t (-want +got):\n%s", ok, diff)
	}
	if got, ok := ports(53).Field("port").LookupIn(text, normal); !ok || got != "53" {
		t.Errorf("the text has %v, %t", got, ok)
	}
}
