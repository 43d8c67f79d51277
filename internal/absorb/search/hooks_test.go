package search_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestRandomHooks checks that hooks whose names differ with each rendering are matched by their template, kind and events.
func TestRandomHooks(t *testing.T) {
	first := []search.Hook{hook(t, "Job", "a-1", "pre-upgrade", "id: 1, level: info"), hook(t, "Job", "fixed", "pre-upgrade", "level: info")}
	again := []search.Hook{hook(t, "Job", "a-2", "pre-upgrade", "id: 2, level: info"), hook(t, "Job", "fixed", "pre-upgrade", "level: info")}
	hooks := search.NewHooks(first, again)
	for _, c := range []struct {
		name  string
		after []search.Hook
		want  string
	}{
		{"the same", []search.Hook{hook(t, "Job", "a-3", "pre-upgrade", "id: 3, level: info"), first[1]}, ""},
		{"a value", []search.Hook{hook(t, "Job", "a-3", "pre-upgrade", "id: 3, level: debug"), first[1]}, "a-3 data.level info debug"},
		{"removed", []search.Hook{first[1]}, "a-1 removed"},
		{"added", append([]search.Hook{hook(t, "Job", "b", "post-upgrade", "level: info"), hook(t, "Job", "a-3", "pre-upgrade", "id: 3, level: info")},
			first[1]), "b added"},
		{"twice", append([]search.Hook{first[1]}, first...), "fixed added"},
	} {
		if said := saidOf(hooks.Effects(first, c.after)); said != c.want {
			t.Errorf("%s: got %q, want %q", c.name, said, c.want)
		}
	}
}

func hook(t *testing.T, kind, name, event, data string) search.Hook {
	t.Helper()
	h := search.Hook{Events: []string{event}, Object: object.Object{Source: "web/templates/hooks.yaml"}}
	h.Kind, h.Name = kind, name
	if err := yaml.Unmarshal([]byte("metadata: {name: "+name+"}\ndata: {"+data+"}"), &h.Content); err != nil {
		t.Fatal(err)
	}
	return h
}
