package applied

import (
	"context"
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
		{manager: "flux", operation: "Update"},
		{manager: "flux", operation: "Apply"},
		{manager: "my-kubectl", operation: "Update"},
	} {
		t.Run(tt.manager+" "+tt.operation+tt.subresource+tt.annotations, func(t *testing.T) {
			ref, now := fluxtest.Decoded(t, live, tt.annotations, tt.manager, tt.operation, tt.subresource)
			content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "values", "namespace": "shop"},
				"data": map[string]any{"git": "new"}}
			laid := &Tree{types: applyTypes{from: fluxtest.Served{}}}
			after, err := laid.after(t.Context(), ref, content, cluster.Live{Object: now})
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

// TestCannotApply lays a tree with an object that the API server refuses. Flux then applies nothing of its Kustomization.
func TestCannotApply(t *testing.T) {
	ref, now := fluxtest.Decoded(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: shop}, data: {a: old}}")
	from := fluxtest.Served{Versions: []string{"/v1"}, Objects: map[object.Ref]map[string]any{ref: now}}
	apps := tree.Maker{Namespace: "shop", Name: "apps"}
	answer := tree.Answer{Objects: []tree.Object{
		{JSON: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"values","namespace":"shop"},"data":{"a":"new"}}`), Maker: apps},
		{JSON: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"values","namespace":"shop"},"data":{"a":true}}`), Maker: apps},
	}}
	laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true},
		func(context.Context, func(context.Context, LookupOrder) ([]byte, error)) (tree.Answer, error) {
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
