package manifestdiff

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// TestSecretPaths checks where the secrets of an object are: at places, known ones in texts, and among the arguments of a list.
func TestSecretPaths(t *testing.T) {
	known := &secret.Known{}
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
	for _, path := range secretPaths(secret.Root("apps", "Deployment"), known, object, nil) {
		got = append(got, fmt.Sprint(path))
	}
	slices.Sort(got)
	want := []string{"[spec args]", "[spec env 1 value]", "[spec password]", "[spec secrets x y]", "[spec text]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := secretPaths(secret.Root("", "Secret"), nil, map[string]any{"data": map[string]any{"a": "eA=="}}, nil); len(got) != 1 {
		t.Errorf("a Secret has the paths %q", got)
	}
}
