package absorb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb/reads"
	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file measures how much a search could find at most: the fields that any single value changes. It changes one value after the other,
// without any idea which one it should be.

// controlled returns the kinds of edits whose field a single value of the chart changes, with the name of the first such value.
func controlled(t *testing.T, c *testCluster, dir string, values []byte, edits map[string]string) map[string]string {
	t.Helper()
	v, err := vary.New(t.Context(), render.ChartOptions{
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
	search.EachValue(v.Values, func(path []any, _ any) { paths = append(paths, path) })
	templates := templatesOf(c, v, edits)
	found := make([]map[string]bool, len(paths))
	var group errgroup.Group
	group.SetLimit(2)
	for i, path := range paths {
		group.Go(func() error {
			old, _ := valuesfile.ValueAt(v.Values, path)
			found[i] = map[string]bool{}
			for _, value := range probes(old) {
				content, _ := json.Marshal(search.Apply(file, v.Values, []search.Edit{{Path: path, Value: value}}))
				fault := false
				for _, only := range templates {
					fault = movedEdits(t.Context(), c, v, vary.Variant{Values: content, Only: only}, edits, found[i]) || fault
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
				out[kind] = search.Edit{Path: paths[i]}.Name()
			}
		}
	}
	return out
}

// templatesOf returns, for each template with an edited object, the templates that it needs.
func templatesOf(c *testCluster, v *vary.Chart, edits map[string]string) [][]string {
	needed, seen := reads.Of(v.Templates), map[string]bool{}
	var out [][]string
	for _, edit := range edits {
		words := strings.SplitN(edit, " ", 3)
		for _, o := range render.Objects(v.Documents, render.ParseOptions{Namespace: "prod", Scope: c.Scope}).Objects {
			if o.Kind == words[0] && o.Name == words[1] && !seen[o.Source] {
				seen[o.Source], out = true, append(out, needed[o.Source].Files)
			}
		}
	}
	return out
}

// absentPaths returns the paths that templates read and the values lack.
func absentPaths(v *vary.Chart) [][]any {
	var out [][]any
	seen := map[string]bool{}
	for _, template := range reads.Of(v.Templates) {
		for _, read := range template.Values {
			var path []any
			anyKey := false
			for _, key := range read.Path {
				path, anyKey = append(path, key.Name), anyKey || key.Any
			}
			name := fmt.Sprint(path)
			if seen[name] || read.OnlyTested || anyKey {
				continue
			}
			seen[name] = true
			if _, found := valuesfile.ValueAt(v.Values, path); !found {
				out = append(out, path)
			}
		}
	}
	return out
}

// probes returns other values than the given one that a template may accept in its place.
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

// movedEdits notes the kinds of edits whose field changes with other values. It reports whether the chart fails to render.
func movedEdits(
	ctx context.Context, c *testCluster, v *vary.Chart, variant vary.Variant, edits map[string]string, out map[string]bool,
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

// isMoved reports whether b has another value than a at a pointer. If a lacks the pointer, b must have more parts than a at the deepest
// place above it that a has. In a text with lines, only the lines count that differ between a and the wanted text.
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
