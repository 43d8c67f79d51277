package live

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// List returns all objects of a kind in a namespace, or in the cluster if the namespace is empty, in one request. For a kind that is not
// served, the result is empty. The API server may answer from its cache (resourceVersion 0), so the list can lag behind the objects by a
// moment.
func (c *Cluster) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) (items []map[string]any, err error) {
	return c.list(ctx, kind, namespace, metav1.ListOptions{ResourceVersion: "0"})
}

// ListLatest returns what List returns, and never an older state than that of its call.
func (c *Cluster) ListLatest(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	return c.list(ctx, kind, namespace, metav1.ListOptions{})
}

func (c *Cluster) list(
	ctx context.Context, kind schema.GroupVersionKind, namespace string, o metav1.ListOptions,
) (items []map[string]any, err error) {
	defer recoverError(&err)
	r, found, err := c.served.find(kind)
	if err != nil || !found {
		return nil, err
	}
	list, err := c.dynamic.Resource(r.GroupVersionResource).Namespace(namespace).List(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("listing %s in namespace %q: %w", r.Resource, namespace, err)
	}
	for i := range list.Items {
		items = append(items, list.Items[i].Object)
	}
	return items, nil
}
