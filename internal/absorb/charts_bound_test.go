package absorb_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file says how much a search could find at most: what any single value moves. It changes one value after the other, without any idea
// which one it should be.

// controlled returns the edits by kind whose field some single value of the chart moves, with the name of the first such value.
func controlled(t *testing.T, c *cluster, dir string, values []byte, edits map[string]string) map[string]string {
	t.Helper()
	v, err := render.NewVariants(t.Context(), render.ChartOptions{
		Path: dir, Install: true, ReleaseName: "web", Namespace: "prod", Capabilities: capabilities(),
		Values: render.ValueOptions{Files: []string{"values"}, ReadFile: func(string) ([]byte, error) { return values, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := yaml.Unmarshal(values, &file); err != nil {
		t.Fatal(err)
	}
	paths := absentPaths(v)
	absorb.EachValue(v.Values(), func(path []any, _ any) { paths = append(paths, path) })
	templates := templatesOf(c, v, edits)
	found := make([]map[string]bool, len(paths))
	var group errgroup.Group
	group.SetLimit(2)
	for i, path := range paths {
		group.Go(func() error {
			old, _ := object.ValueAt(v.Values(), path)
			found[i] = map[string]bool{}
			for _, value := range probes(old) {
				content, _ := json.Marshal(absorb.Apply(file, v.Values(), []absorb.Edit{{Path: path, Value: value}}))
				fault := false
				for _, only := range templates {
					fault = movedEdits(t.Context(), c, v, render.Variant{Values: content, Only: only}, edits, found[i]) || fault
				}
				if _, isText := old.(string); isText && !fault {
					break // the second probe is a number, for templates that fail on the first
				}
			}
			return nil
		})
	}
	_ = group.Wait() // no rendering returns an error
	out := map[string]string{}
	for i, kinds := range found {
		for kind := range kinds {
			if out[kind] == "" {
				out[kind] = absorb.Edit{Path: paths[i]}.Name()
			}
		}
	}
	return out
}

// templatesOf returns the templates that the edited objects need, once for each template that has one of them.
func templatesOf(c *cluster, v *render.Variants, edits map[string]string) [][]string {
	reads, seen := v.Reads(), map[string]bool{}
	var out [][]string
	for _, edit := range edits {
		words := strings.SplitN(edit, " ", 3)
		for _, o := range render.Objects(v.Documents(), render.ParseOptions{Namespace: "prod", Scope: c.Scope}).Objects {
			if o.Kind == words[0] && o.Name == words[1] && !seen[o.Source] {
				seen[o.Source], out = true, append(out, reads[o.Source].Files)
			}
		}
	}
	return out
}

// absentPaths returns the paths that templates read and the values lack.
func absentPaths(v *render.Variants) [][]any {
	var out [][]any
	seen := map[string]bool{}
	for _, reads := range v.Reads() {
		for _, read := range reads.Paths {
			name := strings.Join(read, ".")
			if seen[name] || strings.ContainsAny(name, "*\x00") {
				continue
			}
			seen[name] = true
			var path []any
			for _, key := range read {
				path = append(path, key)
			}
			if _, found := object.ValueAt(v.Values(), path); !found {
				out = append(out, path)
			}
		}
	}
	return out
}

// probes returns other values than the given one, such as a template may take in its place.
func probes(v any) []any {
	const mark = "boundmark"
	item := map[string]any{"name": mark, "value": mark}
	switch v := v.(type) {
	case bool:
		return []any{!v}
	case string:
		return []any{v + "z", "77"}
	case float64:
		return []any{v + 7}
	case int64:
		return []any{v + 7}
	case []any:
		return []any{append(v[:len(v):len(v)], item), append(v[:len(v):len(v)], mark)}
	case map[string]any:
		out := map[string]any{mark: mark}
		for key := range v {
			out[key] = v[key]
		}
		return []any{out}
	}
	return []any{"77", map[string]any{mark: mark}, []any{item}}
}

// movedEdits notes the kinds of edits whose field is another one with other values. It reports whether the chart does not render.
func movedEdits(
	ctx context.Context, c *cluster, v *render.Variants, variant render.Variant, edits map[string]string, out map[string]bool,
) bool {
	r := v.Render(ctx, variant)
	for _, o := range render.Objects(r.Changed, render.ParseOptions{Namespace: "prod", Scope: c.Scope}).Objects {
		for kind, edit := range edits {
			words := strings.SplitN(edit, " ", 4)
			before := c.live[o.Ref]
			if words[0] != o.Kind || words[1] != o.Name || len(words) < 4 || before == nil {
				continue
			}
			var wanted any
			_ = yaml.Unmarshal([]byte(words[3]), &wanted) // edit would have failed
			if isMoved(before, o.Content, pointerOf(words[2]), wanted) {
				out[kind] = true
			}
		}
	}
	return r.Fault != ""
}

// isMoved reports whether b has another value than a at a pointer; or more parts at the deepest place above it that a has, if a lacks it. Of
// a text with lines only those lines count in which a differs from what is wanted.
func isMoved(a, b map[string]any, pointer object.Pointer, wanted any) bool {
	if before, found := pointer.Lookup(a); found {
		after, stays := pointer.Lookup(b)
		was, isText := before.(string)
		is, _ := after.(string)
		if want, _ := wanted.(string); isText && strings.Contains(was, "\n") {
			return stays && linesMoved(strings.Split(was, "\n"), strings.Split(is, "\n"), strings.Split(want, "\n"))
		}
		return stays && !object.Equal(before, after)
	}
	for n := len(pointer) - 1; n >= 0; n-- {
		if before, found := pointer[:n].Lookup(a); found {
			after, _ := pointer[:n].Lookup(b)
			return parts(after) > parts(before)
		}
	}
	return false
}

func linesMoved(was, is, want []string) bool {
	for i := range min(len(was), len(is), len(want)) {
		if was[i] != want[i] && was[i] != is[i] {
			return true
		}
	}
	return false
}

func parts(v any) int {
	switch v := v.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	}
	return 0
}
