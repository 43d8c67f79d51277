package applied

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestIgnored applies a ConfigMap whose data a and b the tree had before. Its Kustomization ignores what the rules say.
func TestIgnored(t *testing.T) {
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps, namespace: shop}, " +
		"spec: {ignore: [%s]}}"
	const live = "{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: shop, labels: {app: web}, managedFields: [%s, %s]}, " +
		"data: {%s}}"
	// owns is an entry of managedFields.
	owns := func(manager, operation, fields string) string {
		return fmt.Sprintf(`{manager: %s, operation: %s, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {%s}}}`,
			manager, operation, fields)
	}
	const a, fieldA, fieldB, both = "{paths: [/data/a]}", `"f:a": {}`, `"f:b": {}`, `"f:a": {}, "f:b": {}`
	edits, patches, applies := owns("kubectl-edit", "Update", fieldA), owns("other", "Update", fieldA), owns("other", "Apply", fieldA)
	nobody := owns("other", "Update", "")
	for _, tt := range []struct {
		name, rules, owned, other, live, git, labels, want, said string
		// inCluster is set if the Kustomization is not in the tree, and before are the rules of one that makes itself.
		inCluster bool
		before    string
	}{
		{name: "no rule", owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:git b:new]"},
		{name: "edited", rules: a, owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:edit b:new]"},
		{name: "of the cluster", rules: a, owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new",
			want: "map[a:edit b:new]", inCluster: true},
		{name: "for its kind and name", rules: "{paths: [/data/a], target: {version: v1, kind: Config.*, name: values, namespace: shop}}",
			owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:edit b:new]"},
		{name: "for a label that others set", rules: "{paths: [/data/a], target: {labelSelector: app=web}}",
			owned: fieldB, other: applies, live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:edit b:new]"},
		{name: "for another kind", rules: "{paths: [/data/a], target: {kind: Config}}",
			owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:git b:new]"},
		{name: "another place", rules: "{paths: [/spec/replicas, /data/a/b]}",
			owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:git b:new]"},
		{name: "created", rules: a, git: "a: git, b: new", want: "map[a:git b:new]"},
		{name: "applied by others", rules: a, owned: both, other: applies, live: "a: other, b: old", git: "a: git, b: new",
			want: "map[a:other b:new]"},
		{name: "all data, and others apply some of it", rules: "{paths: [/data]}", owned: both, other: applies, live: "a: other, b: old",
			git: "a: git, b: old", want: "map[a:other b:old]"},
		{name: "all data, and a label changes", rules: "{paths: [/data]}", owned: both, other: applies, live: "a: other, b: old",
			git: "a: git, b: old", labels: "team: shop", want: "map[a:other]"},
		{name: "removed by somebody", rules: a, owned: fieldB, other: nobody, live: "b: old", git: "a: git, b: new",
			want: "map[b:old]", said: `spec.ignore of its Kustomization names "/data/a", which the cluster does not have`},
		{name: "removed by somebody, and nothing else changes", rules: a, owned: fieldB, other: nobody,
			live: "b: old", git: "a: git, b: old", want: "map[b:old]"},
		{name: "removed from the tree", rules: a, owned: both, other: nobody, live: "a: old, b: old",
			git: "b: new", want: "map[]",
			said: "Flux cannot apply ConfigMap shop/values: spec.ignore names /data/a, which the cluster has and the tree does not"},
		{name: "removed from the tree, and nothing else changes", rules: a, owned: both,
			other: nobody, live: "a: old, b: old", git: "b: old", want: "map[a:old b:old]"},
		{name: "added by somebody", rules: a, owned: fieldB, other: patches, live: "a: added, b: old",
			git: "b: new", want: "map[a:added b:new]"},
		{name: "of a Kustomization that makes itself", rules: a, before: a, owned: fieldB, other: edits, live: "a: edit, b: old",
			git: "a: git, b: new", want: "map[a:edit b:new]"},
		{name: "of a Kustomization that makes itself, and changes", rules: a, before: "{paths: [/data/b]}", owned: fieldB, other: edits,
			live: "a: edit, b: old", git: "a: git, b: new", want: "map[a:git b:new]", said: "because the Kustomization makes itself"},
		{name: "the whole object", rules: "{paths: [''], target: {kind: ConfigMap}}", owned: fieldB, other: edits, live: "a: edit, b: old",
			git: "a: git, b: new", want: "map[a:edit b:old]", said: `names "", which is the whole object`},
		{name: "no pointer", rules: "{paths: [data]}", owned: fieldB, other: edits, live: "a: edit, b: old", git: "a: git, b: new",
			want: "map[a:git b:new]", said: "what its spec.ignore leaves to others is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"/v1", "kustomize.toolkit.fluxcd.io/v1"}, Objects: map[object.Ref]map[string]any{}}
			if tt.live != "" {
				ref, now := fluxtest.Decoded(t, live, owns("kustomize-controller", "Apply", tt.owned), tt.other, tt.live)
				from.Objects[ref] = now
			}
			apps, maker := tree.Maker{Namespace: "shop", Name: "apps"}, tree.Maker{}
			if tt.inCluster {
				tt.before, tt.rules = tt.rules, ""
			} else if tt.before != "" {
				maker = apps
			}
			ref, by := made(t, maker, kustomization, tt.rules)
			if tt.before != "" {
				_, from.Objects[ref] = fluxtest.Decoded(t, kustomization, tt.before)
			}
			ref, values := made(t, apps,
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: shop, labels: {%s}}, data: {%s}}", tt.labels, tt.git)
			objects := []tree.Object{by, values}
			if tt.inCluster {
				objects = objects[1:]
			}
			laid := layObjects(t, from, objects...)
			if got := fmt.Sprint(object.Child(laid.Over.Made(ref), "data")); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if said := fmt.Sprint(laid.Problems()); !strings.Contains(said, tt.said) || tt.said == "" && said != "[]" {
				t.Errorf("it says %s, want %s", said, tt.said)
			}
		})
	}
}

// TestIgnoredItem asks for an ignored item of a list, which is not predicted if it differs.
func TestIgnoredItem(t *testing.T) {
	items := func(names ...any) map[string]any { return map[string]any{"items": names} }
	at := []object.Pointer{{"items", "0"}}
	if _, err := withIgnored(at, items("git"), items("git"), &unstructured.Unstructured{Object: items("live")}); err == nil ||
		!strings.Contains(err.Error(), `"/items/0", which is in a list`) {
		t.Errorf("another item: %v", err)
	}
	if _, err := withIgnored(at, items("live", "git"), items("live", "git"), &unstructured.Unstructured{Object: items("live")}); err != nil {
		t.Errorf("the same item: %v", err)
	}
}
