package secret

import (
	"fmt"
	"slices"
	"testing"
)

func TestPaths(t *testing.T) {
	known := &Known{}
	known.AddObject("", "Secret", map[string]any{"stringData": map[string]any{"a": "correct-horse-battery"}})
	object := map[string]any{
		"kind": "Deployment",
		"spec": map[string]any{
			"password": "x1",
			"env":      []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "DB_PASSWORD", "value": "x2"}},
			"args":     []any{"--token", "x3"},
			"text":     "it is correct-horse-battery",
			"secrets":  map[string]any{"x": map[string]any{"y": "x4"}},
			"plain":    "x5",
		},
	}
	var got []string
	for _, path := range Root("apps", "Deployment").Paths(object, known) {
		got = append(got, fmt.Sprint(path))
	}
	slices.Sort(got)
	want := []string{"[spec args]", "[spec env 1 value]", "[spec password]", "[spec secrets x y]", "[spec text]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Root("", "Secret").Paths(map[string]any{"data": map[string]any{"a": "eA=="}}, nil); len(got) != 1 {
		t.Errorf("a Secret has the paths %q", got)
	}
}
