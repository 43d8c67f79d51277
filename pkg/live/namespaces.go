package live

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// markMissingNamespaces turns AbsentObject into AbsentNamespace if the object's namespace does not exist: the API
// server answers 404 for the object in both cases. If any object of the namespace was found, it exists. Each other
// namespace costs one get.
func (c *Cluster) markMissingNamespaces(ctx context.Context, targets []target, out answers) {
	exists, doubted := map[string]bool{}, map[string]bool{}
	for _, t := range targets {
		if !t.namespaced {
			continue
		}
		switch live := out[t.ref]; {
		case live.Object != nil:
			exists[t.ref.Namespace] = true
		case live.Absence == cluster.AbsentObject:
			doubted[t.ref.Namespace] = true
		}
	}
	doubtful := slices.DeleteFunc(object.SortedKeys(doubted), func(name string) bool { return exists[name] })

	missing := map[string]bool{}
	for i, absent := range inParallel(doubtful, func(name string) bool { return c.namespaceMissing(ctx, name, out) }) {
		missing[doubtful[i]] = absent
	}
	for _, t := range targets {
		if t.namespaced && missing[t.ref.Namespace] && out[t.ref].Absence == cluster.AbsentObject {
			out[t.ref] = cluster.Live{Absence: cluster.AbsentNamespace}
		}
	}
}

// namespaceMissing reports whether the server says that the namespace does not exist. If the server does not answer
// that, often because the role does not allow getting namespaces, the namespace counts as existing: the object is
// absent in either case.
func (c *Cluster) namespaceMissing(ctx context.Context, name string, out answers) (missing bool) {
	defer func() { _ = recover() }() // a panic is no answer either
	// The release may contain the namespace itself; then it has just been read.
	if live, read := out[object.NamespaceRef(name)]; read && live.Err == nil {
		return live.Object == nil
	}
	_, err := c.dynamic.Resource(namespaceResource).Get(ctx, name, metav1.GetOptions{})
	return isObjectNotFound(err)
}

// Terminating returns the namespaces that are being deleted, with one get each. A namespace that cannot be read,
// often because the role does not allow it, is left out and causes a message.
func (c *Cluster) Terminating(ctx context.Context, names []string) (map[string]bool, []report.Message) {
	type result struct {
		going bool
		err   error
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	out := map[string]bool{}
	var unread []report.Message
	for i, r := range inParallel(names, func(name string) (r result) {
		r.going, r.err = c.isTerminating(ctx, name)
		return r
	}) {
		switch {
		case r.err != nil:
			unread = append(unread, warning("", "get", fmt.Sprintf("namespaces %q", names[i]), r.err,
				"nobody knows whether it is being deleted, and the objects with it"))
		case r.going:
			out[names[i]] = true
		}
	}
	return out, unread
}

func (c *Cluster) isTerminating(ctx context.Context, name string) (going bool, err error) {
	defer RecoverError(&err)
	found, err := c.dynamic.Resource(namespaceResource).Get(ctx, name, metav1.GetOptions{})
	if isObjectNotFound(err) {
		return false, nil
	}
	return err == nil && found.GetDeletionTimestamp() != nil, err
}

var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
