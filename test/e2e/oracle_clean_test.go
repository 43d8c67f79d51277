package e2e

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clean deletes the objects and the records without waiting, and removes the holding finalizer.
func (r *oracleRun) clean() {
	background := metav1.DeletePropagationBackground
	ctx, options := context.Background(), metav1.DeleteOptions{PropagationPolicy: &background}
	for _, o := range r.testCase.objects {
		at := ref{resource: o.kind.name, namespace: o.namespaceIn(r.story.ns), name: o.name}
		if obj, err := r.story.cluster.get(ctx, at); err == nil && slices.Contains(obj.GetFinalizers(), holdingFinalizer) {
			_ = r.story.cluster.patch(ctx, at, "oracle", `[{"op": "remove", "path": "/metadata/finalizers"}]`)
		}
		_ = r.story.cluster.delete(ctx, at)
	}
	for _, name := range r.testCase.hookNames("new.yaml") {
		_ = r.story.cluster.delete(ctx, ref{resource: "configmap", namespace: r.story.ns, name: name})
	}
	if name := r.testCase.flags.definition; name != "" {
		_ = r.story.cluster.delete(ctx, ref{resource: "customresourcedefinition", name: name})
	}
	if r.testCase.flags.freshNamespace {
		_ = r.story.cluster.delete(ctx, ref{resource: "namespace", name: r.story.ns})
	}
	secrets := r.story.cluster.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(r.story.ns)
	_ = secrets.DeleteCollection(ctx, options, metav1.ListOptions{LabelSelector: "owner=helm,name=" + r.story.release})
}
