package live

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// HelmSelector selects the label that Helm sets on every object it creates (helm v3.22.0 pkg/action/validate.go setMetadataVisitor). An
// object may have lost the label, so what a list with it lacks is read by name.
const HelmSelector = "app.kubernetes.io/managed-by=Helm"

const (
	// minPage is the smallest page size. A page has room for pageFactor times the wanted objects.
	minPage    = 50
	pageFactor = 4
)

// listJob returns the job that reads a group of objects of one kind and namespace, page by page.
func (c *Cluster) listJob(group []target) job {
	return job{group, func(ctx context.Context) (answers, []target) {
		found := answers{}
		if err := c.listPages(ctx, group, found); err != nil && !MayGetInstead(err) {
			for _, t := range unanswered(found, group) {
				found[t.ref] = cluster.Live{Err: t.objectError("list", err)}
			}
		}
		return found, unanswered(found, group)
	}}
}

// listPages adds the wanted objects to found. It stops at the first page that has less than half of the objects that
// were still wanted, because then most of the following pages belong to others.
func (c *Cluster) listPages(ctx context.Context, group []target, found answers) error {
	wanted := make(map[string]target, len(group))
	for _, t := range group {
		wanted[t.ref.Name] = t
	}
	options := metav1.ListOptions{LabelSelector: HelmSelector, Limit: int64(max(minPage, pageFactor*len(group)))}
	for {
		page, err := c.client(group[0]).List(ctx, options)
		if err != nil {
			return err
		}
		before := len(wanted)
		for _, item := range page.Items {
			if t, ok := wanted[item.GetName()]; ok && t.matches(&item) {
				found[t.ref] = cluster.Live{Object: item.Object}
				delete(wanted, t.ref.Name)
			}
		}
		if page.GetContinue() == "" || len(wanted) == 0 || 2*len(wanted) > before {
			return nil
		}
		options.Continue = page.GetContinue()
	}
}

// unanswered returns the targets that have no answer in found, in their order.
func unanswered(found answers, group []target) []target {
	return object.Filter(group, func(t target) bool {
		_, ok := found[t.ref]
		return !ok
	})
}

// MayGetInstead reports whether objects may be readable by name after their list failed: the role may not allow
// lists, the continue token may have expired (410), or one broken object turns the whole list into an internal error.
// More requests do not help if the server is overloaded, and cannot succeed without credentials.
func MayGetInstead(err error) bool {
	switch code, _ := classify(err); code {
	case cluster.CodeThrottled, cluster.CodeTimeout, cluster.CodeCanceled, cluster.CodeUnauthorized, cluster.CodeConnection:
		return false
	}
	return true
}

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
	defer RecoverError(&err)
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
