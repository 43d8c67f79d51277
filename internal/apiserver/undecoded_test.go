package apiserver

import (
	"maps"
	"slices"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestUndecoded puts values of other types into every place of objects of many kinds. If the API server's decoder (apimachinery's,
// into the Go type) fails, undecoded must return that place and no other, and never the value.
func TestUndecoded(t *testing.T) {
	values := []any{"x", int64(5), true, 1.5, map[string]any{}, map[string]any{"a": "b"}, []any{"x"}, []any{map[string]any{}}}
	for _, c := range immutableCases(t) {
		object := refOf(t, c.Object)
		shape := kinds.Native().Shape(object.GVK())
		for _, path := range placesOf(c.Object, nil) {
			for _, value := range values {
				text, _ := replacedAt(c.Object, path, value).(map[string]any)
				typed, err := kinds.Native().HelmScheme.New(object.GVK())
				if err != nil {
					t.Fatal(err)
				}
				err = utiljson.Unmarshal(jsonText(t, text), typed)
				got := undecoded(text, shape, nil)
				if (err != nil) != (len(got) > 0) {
					t.Errorf("%s, %s: %#v: undecoded %v, the decoder says %v", object.Kind, path, value, got, err)
				}
				place, _ := path.Pointer(text)
				for _, at := range got {
					pointer, ok := at.Pointer(text)
					if !ok || !strings.HasPrefix(pointer.String(), place.String()) || strings.Contains(at.String(), "=5") {
						t.Errorf("%s, %s: %#v: undecoded %v", object.Kind, path, value, at)
					}
				}
			}
		}
	}
}

// placesOf lists the paths to everything in an object except its version and kind. Items of lists are named by index.
func placesOf(v any, path object.Path) []object.Path {
	var out []object.Path
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if len(path) > 0 || name != "apiVersion" && name != "kind" {
				out = append(append(out, path.Field(name)), placesOf(v[name], path.Field(name))...)
			}
		}
	case []any:
		for i, item := range v {
			out = append(append(out, path.Index(i)), placesOf(item, path.Index(i))...)
		}
	}
	return out
}

// replacedAt returns a copy of a value with another one at a path.
func replacedAt(root any, path object.Path, value any) any {
	if len(path) == 0 {
		return value
	}
	switch node := root.(type) {
	case map[string]any:
		out := maps.Clone(node)
		out[path[0].Name] = replacedAt(node[path[0].Name], path[1:], value)
		return out
	case []any:
		out := slices.Clone(node)
		out[path[0].Index] = replacedAt(node[path[0].Index], path[1:], value)
		return out
	}
	return root
}
