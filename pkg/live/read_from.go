package live

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
)

// Group has wanted objects of one kind. They are in one namespace, or the kind has none.
type Group struct {
	schema.GroupVersionResource
	// Namespaced is set if the kind has namespaces, and Namespace is that of the objects.
	Namespaced bool
	Namespace  string
	// Listed is set if objects of the kind can be listed, and if that is cheaper than to read several by name.
	Listed bool
	Names  []string
}

// Find finds the objects of a group in a list. It returns those that the list has, by their names, and an error if the list could not be
// read to its end.
type Find func(ctx context.Context) (found map[string]*unstructured.Unstructured, err error)

// groupOf returns targets of one kind and namespace as a Group.
func groupOf(targets []target) Group {
	first := targets[0]
	out := Group{
		GroupVersionResource: first.GroupVersionResource, Namespaced: first.namespaced, Namespace: first.namespace(),
		Listed: first.isListed(),
	}
	for _, t := range targets {
		out.Names = append(out.Names, t.ref.Name)
	}
	return out
}

// findJob returns the job that takes a group from a list. It leaves the objects that the list does not have.
func (c *Cluster) findJob(group []target, find Find) job {
	return job{group, func(ctx context.Context) (answers, []target) {
		objects, err := find(ctx)
		found := answers{}
		for _, t := range group {
			if o := objects[t.ref.Name]; o != nil && t.matches(o) {
				found[t.ref] = cluster.Live{Object: o.Object}
			}
		}
		left := unanswered(found, group)
		switch {
		case err == nil || len(left) == 0:
			return found, left
		case MayGetInstead(err):
			left = found.run(ctx, c.groupJobs(left))
			return found, left
		}
		for _, t := range left {
			found[t.ref] = cluster.Live{Err: t.objectError("list", err)}
		}
		return found, nil
	}}
}
