package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestRandomNames checks that objects whose names differ with each rendering are matched by their template and kind, and that they hide no
// other object of these. What such an object has in it is not compared.
func TestRandomNames(t *testing.T) {
	first := rendering(t, "migrate-1", "id: 1, level: info", "seed", "level: info")
	p := search.Problem{
		Again:    rendering(t, "migrate-2", "id: 2, level: info", "seed", "level: info"),
		Form:     func(_ object.Key, content map[string]any) map[string]any { return content },
		LiveForm: func(object.Key) map[string]any { return nil },
		Lacks:    func(object.Key) bool { return false },
	}
	for _, test := range []struct {
		name  string
		after search.Rendering
		want  string
	}{
		{"the same", rendering(t, "migrate-3", "id: 3, level: info", "seed", "level: info"), ""},
		{"a value", rendering(t, "migrate-3", "id: 3, level: debug", "seed", "level: info"), ""},
		{"a value of the other", rendering(t, "migrate-3", "id: 3, level: info", "seed", "level: debug"), "seed data.level info debug"},
		{"removed", rendering(t, "seed", "level: info"), "migrate-1 removed"},
		{"the other is removed", rendering(t, "migrate-3", "id: 3, level: info"), "seed removed"},
		{"added", rendering(t, "migrate-3", "id: 3, level: info", "seed", "level: info", "seed-2", "level: info"), "seed-2 added"},
	} {
		if got := saidOf(p.Moves(first, test.after)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// rendering returns the objects of one template, with their names and their data.
func rendering(t *testing.T, namesAndData ...string) search.Rendering {
	t.Helper()
	out := search.Rendering{Objects: map[object.Key]object.Object{}}
	for pair := range slices.Chunk(namesAndData, 2) {
		o := hook(t, "Job", pair[0], "", pair[1]).Object
		out.Objects[o.Key] = o
	}
	return out
}

// saidOf describes effects.
func saidOf(effects []search.Effect) string {
	var said []string
	for _, e := range effects {
		switch {
		case e.Before == nil:
			said = append(said, e.Key.Name+" added")
		case e.After == nil:
			said = append(said, e.Key.Name+" removed")
		default:
			said = append(said, fmt.Sprint(e.Key.Name, " ", e.Path, " ", e.Before, " ", e.After))
		}
	}
	return strings.Join(said, ", ")
}
