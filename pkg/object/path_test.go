package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pod is a value with lists of each kind: named items, two of one name, a set, and items without keys.
func pod() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"finalizers": []any{"ex.com/a", "b"}, "annotations": map[string]any{"a/b~c": "x"}},
		"spec": map[string]any{"containers": []any{
			map[string]any{"name": "init", "image": "i"},
			map[string]any{"name": "web", "image": "w", "env": []any{
				map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B"}, map[string]any{"name": "A", "value": "2"},
			}},
		}},
	}
}

func item(name string) []ListKey { return []ListKey{{Name: "name", Value: name}} }

// TestPath checks the text of paths, what they lead to, and their pointers.
func TestPath(t *testing.T) {
	metadata, web := Path{}.Field("metadata"), Path{}.Field("spec").Field("containers").Item(item("web"))
	for _, tt := range []struct {
		path       Path
		text       string
		value      any
		pointer    string
		isNotThere bool
	}{
		{path: web.Field("image"), text: "spec.containers[name=web].image", value: "w", pointer: "/spec/containers/1/image"},
		{path: web.Field("env").Index(1).Field("name"), text: "spec.containers[name=web].env[1].name", value: "B",
			pointer: "/spec/containers/1/env/1/name"},
		{path: web.Field("env").Item(item("A")), text: "spec.containers[name=web].env[name=A]", pointer: "/spec/containers/1/env/0",
			value: []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "A", "value": "2"}}},
		{path: metadata.Field("finalizers").SetItem("b"), text: `metadata.finalizers["b"]`, value: "b", pointer: "/metadata/finalizers/1"},
		{path: metadata.Field("annotations").Field("a/b~c"), text: `metadata.annotations["a/b~c"]`, value: "x",
			pointer: "/metadata/annotations/a~1b~0c"},
		{path: web.Field("ports").Item([]ListKey{{"containerPort", int64(53)}, {"protocol", "UDP"}}), isNotThere: true,
			text: "spec.containers[name=web].ports[containerPort=53,protocol=UDP]"},
		{path: metadata.Field("finalizers").Index(2), text: "metadata.finalizers[2]", isNotThere: true},
		{path: metadata.Field("8080"), text: `metadata["8080"]`, isNotThere: true},
		{path: nil, text: "", value: pod(), pointer: ""},
	} {
		if got := tt.path.String(); got != tt.text {
			t.Errorf("String is %s, want %s", got, tt.text)
		}
		value, ok := tt.path.Lookup(pod())
		if diff := cmp.Diff(tt.value, value); diff != "" || ok == tt.isNotThere {
			t.Errorf("Lookup of %s: %t (-want +got):\n%s", tt.text, ok, diff)
		}
		pointer, ok := tt.path.Pointer(pod())
		if pointer.String() != tt.pointer || ok == tt.isNotThere {
			t.Errorf("Pointer of %s is %s, %t, want %s", tt.text, pointer, ok, tt.pointer)
		}
	}
}

// TestPathRelations checks which paths are equal, and which are prefixes of others.
func TestPathRelations(t *testing.T) {
	containers := Path{}.Field("spec").Field("containers")
	web, other := containers.Item(item("web")), containers.Item(item("other"))
	if !web.Equal(containers.Item(item("web"))) || web.Equal(other) || web.Equal(containers) || web.Equal(containers.SetItem("web")) {
		t.Error("paths are equal only if all their steps are")
	}
	if !web.HasPrefix(containers) || !web.HasPrefix(web) || !web.HasPrefix(nil) || containers.HasPrefix(web) || web.HasPrefix(other) {
		t.Error("a path has itself and what is above it as prefix")
	}
	if !containers.Overlaps(web) || !web.Overlaps(containers) || web.Overlaps(other) {
		t.Error("paths overlap if one is a prefix of the other")
	}
	if !web.EndsInKey("name") || web.EndsInKey("image") || web.Field("name").EndsInKey("name") || (Path{}).EndsInKey("") {
		t.Error("a path ends in a key if its last step names an item by it")
	}
	_ = web.Field("image")
	if shared := web.Field("env"); shared.String() != "spec.containers[name=web].env" {
		t.Errorf("two paths share a step: %s", shared)
	}
}

// TestWithout checks that a value is left out of a copy, and that the original keeps it.
func TestWithout(t *testing.T) {
	root := pod()
	web := Path{}.Field("spec").Field("containers").Item(item("web"))
	got := Without(root, web.Field("env").Item(item("A")))
	want := pod()
	list, _ := Child(want, "spec")["containers"].([]any)
	list[1].(map[string]any)["env"] = []any{map[string]any{"name": "B"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Without (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pod(), root); diff != "" {
		t.Errorf("the original changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pod(), Without(root, web.Field("ports"))); diff != "" {
		t.Errorf("without an absent field (-want +got):\n%s", diff)
	}
}
