package applied

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestTakeOver applies a ConfigMap to which somebody added a key. Kustomize-controller removes it if it takes over what the manager wrote.
func TestTakeOver(t *testing.T) {
	const live = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: values
  namespace: shop
  annotations: {%s}
  managedFields:
  - {manager: kustomize-controller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:git": {}}}}
  - {manager: %s, operation: %s, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:added": {}}}%s}
data: {git: old, added: x}
`
	for _, tt := range []struct {
		manager, operation, subresource, annotations string
		isRemoved                                    bool
	}{
		{manager: "kubectl", operation: "Update", isRemoved: true},
		{manager: "kubectl", operation: "Apply", isRemoved: true},
		{manager: "kubectl-edit", operation: "Update", isRemoved: true},
		{manager: "kubectl-client-side-apply", operation: "Update", isRemoved: true},
		{manager: "before-first-apply", operation: "Update", isRemoved: true},
		{manager: "before-first-apply", operation: "Apply"},
		{manager: "kustomize-controller", operation: "Update", isRemoved: true},
		{manager: "kubectl", operation: "Update", subresource: ", subresource: status"},
		{manager: "kubectl", operation: "Update", annotations: "kustomize.toolkit.fluxcd.io/ssa: Merge"},
		{manager: "kubectl", operation: "Update", annotations: "kustomize.toolkit.fluxcd.io/ssa: merge"},
		{manager: "kubectl", operation: "Update", annotations: "kustomize.toolkit.fluxcd.io/ssa: Override", isRemoved: true},
		{manager: "flux", operation: "Update"},
		{manager: "flux", operation: "Apply"},
		{manager: "my-kubectl", operation: "Update"},
	} {
		t.Run(tt.manager+" "+tt.operation+tt.subresource+tt.annotations, func(t *testing.T) {
			ref, now := fluxtest.Decoded(t, live, tt.annotations, tt.manager, tt.operation, tt.subresource)
			content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "values", "namespace": "shop"},
				"data": map[string]any{"git": "new"}}
			over := &Tree{types: applyTypes{from: fluxtest.Served{}}, live: map[object.Ref]cluster.Live{ref: {Object: now}}}
			after, err := over.after(t.Context(), laid{content: content, ref: ref}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := "map[added:x git:new]"
			if tt.isRemoved {
				want = "map[git:new]"
			}
			if got := fmt.Sprint(after["data"]); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// made returns an object of a tree.
func made(t *testing.T, by tree.Maker, format string, args ...any) (object.Ref, tree.Object) {
	t.Helper()
	ref, content := fluxtest.Decoded(t, format, args...)
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return ref, tree.Object{JSON: text, Maker: by}
}

// layObjects lays the objects of a tree over a cluster.
func layObjects(t *testing.T, from drift.Cluster, objects ...tree.Object) *Tree {
	t.Helper()
	out, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
		func(context.Context, Questions) (tree.Answer, error) {
			return tree.Answer{Objects: objects}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLeft lays a ConfigMap over one of the cluster, if there is one, with labels or annotations that may keep Flux from applying it.
func TestLeft(t *testing.T) {
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: shop, %s}, data: {a: %s}}"
	const skipped, created = "map[]", "map[a:new]"
	const key = "kustomize.toolkit.fluxcd.io/"
	for _, tt := range []struct{ live, git, want string }{
		{"labels: {}", "labels: {}", created},
		{"annotations: {" + key + "reconcile: disabled}", "labels: {}", "map[a:old]"},
		{"labels: {" + key + "reconcile: Disabled}", "labels: {}", "map[a:old]"},
		{"annotations: {" + key + "ssa: ignore}", "labels: {}", "map[a:old]"},
		{"labels: {}", "labels: {" + key + "ssa: Ignore}", "map[a:old]"},
		{"labels: {}", "annotations: {" + key + "reconcile: disabled}", "map[a:old]"},
		{"labels: {}", "labels: {" + key + "ssa: IfNotPresent}", "map[a:old]"},
		{"annotations: {" + key + "ssa: IfNotPresent}", "labels: {}", created},
		{"annotations: {" + key + "reconcile: enabled}", "labels: {}", created},
		{"", "annotations: {" + key + "reconcile: disabled}", skipped},
		{"", "labels: {" + key + "ssa: Ignore}", skipped},
		{"", "annotations: {" + key + "ssa: IfNotPresent}", created},
	} {
		t.Run("live "+tt.live+", git "+tt.git, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"/v1"}, Objects: map[object.Ref]map[string]any{}}
			if tt.live != "" {
				ref, now := fluxtest.Decoded(t, configMap, tt.live, "old")
				from.Objects[ref] = now
			}
			ref, values := made(t, tree.Maker{Namespace: "shop", Name: "apps"}, configMap, tt.git, "new")
			laid := layObjects(t, from, values)
			if got := fmt.Sprint(object.Child(laid.Over.Made(ref), "data")); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestLeftKustomization lays a Kustomization whose label keeps Flux from applying it, and a ConfigMap that it makes.
func TestLeftKustomization(t *testing.T) {
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps, namespace: shop, " +
		"labels: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}, spec: {path: %s}}"
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: shop}, data: {a: new}}"
	for _, tt := range []struct {
		live, want string
		isMade     bool
	}{
		{"./apps", "", true},
		{"./old", "its labels or annotations keep Flux from changing it", true},
		{"", "its labels or annotations keep Flux from creating it", false},
	} {
		t.Run("live "+tt.live, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"/v1", "kustomize.toolkit.fluxcd.io/v1"}, Objects: map[object.Ref]map[string]any{}}
			if tt.live != "" {
				ref, now := fluxtest.Decoded(t, kustomization, tt.live)
				from.Objects[ref] = now
			}
			_, apps := made(t, tree.Maker{Namespace: "shop", Name: "root"}, kustomization, "./apps")
			ref, values := made(t, tree.Maker{Namespace: "shop", Name: "apps"}, configMap)
			laid := layObjects(t, from, apps, values)
			if said := fmt.Sprint(laid.Problems()); !strings.Contains(said, tt.want) || tt.want == "" && said != "[]" {
				t.Errorf("it says %s, want %s", said, tt.want)
			}
			if isMade := laid.Over.Makes(ref); isMade != tt.isMade {
				t.Errorf("Flux makes the ConfigMap: %t", isMade)
			}
		})
	}
}

// TestCannotApply lays a tree with an object that the API server refuses. Flux then applies nothing of its Kustomization.
func TestCannotApply(t *testing.T) {
	ref, now := fluxtest.Decoded(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: shop}, data: {a: old}}")
	from := fluxtest.Served{Versions: []string{"/v1"}, Objects: map[object.Ref]map[string]any{ref: now}}
	apps := tree.Maker{Namespace: "shop", Name: "apps"}
	answer := tree.Answer{Objects: []tree.Object{
		{JSON: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"values","namespace":"shop"},"data":{"a":"new"}}`), Maker: apps},
		{JSON: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"values","namespace":"shop"},"data":{"a":true}}`), Maker: apps},
	}}
	laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
		func(context.Context, Questions) (tree.Answer, error) {
			return answer, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(laid.Problems())
	if !strings.Contains(said, "Kustomization shop/apps: Flux cannot apply ConfigMap shop/values: ") || len(laid.Over.tree) > 0 {
		t.Errorf("%s; %v", said, laid.Over.tree)
	}
}
