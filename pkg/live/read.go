package live

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// InFlight is the number of requests that run at the same time.
const InFlight = 16

const (
	// A group is listed if it has at least ListFrom objects in a namespace, or more than clusterListAbove objects of
	// a cluster-scoped kind, whose list contains the objects of every release in the cluster.
	ListFrom         = 3
	clusterListAbove = 10
)

// answers maps the wanted objects to what is known so far.
type answers map[object.Ref]cluster.Live

// job is a piece of reading that runs by itself. It answers each of its targets or leaves it to be read by name.
type job struct {
	targets []target
	run     func(ctx context.Context) (found answers, left []target)
}

// Read reads the wanted objects, with as few requests as the package comment describes. The result has one answer for
// each wanted Ref: the object, an absence or an error. If the kind is absent at this version but served at another
// one, the answer also has the object at that version. The namespace of a cluster-scoped object is ignored.
func (c *Cluster) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	return c.ReadFrom(ctx, wanted, func(Group) Find { return nil })
}

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

// ReadFrom is Read for a caller that has lists of its own. Lists returns what finds a group in a list, or nil for a group that is to be
// read as Read does. What a list does not have is read by name. If a list fails, its objects are read as Read does, unless that must fail
// as well (MayGetInstead).
func (c *Cluster) ReadFrom(ctx context.Context, wanted []object.Ref, lists func(Group) Find) map[object.Ref]cluster.Live {
	out := answers{}
	targets := c.targets(wanted, out)
	var jobs []job
	for _, group := range groups(targets) {
		if find := lists(groupOf(group)); find != nil {
			jobs = append(jobs, c.findJob(group, find))
		} else {
			jobs = append(jobs, c.groupJobs(group)...)
		}
	}
	left := out.run(ctx, jobs)
	out.run(ctx, c.getJobs(left))
	c.markMissingNamespaces(ctx, targets, out)
	c.findAtOtherVersions(ctx, out)
	for _, t := range targets {
		found := out[t.ref]
		found.PlainStatus = !t.status
		out[t.ref] = found
	}
	return out
}

// findAtOtherVersions looks for objects whose kind is no longer served at their version, but at another one. They
// still exist, and a report that calls them missing would make somebody create them again.
func (c *Cluster) findAtOtherVersions(ctx context.Context, out answers) {
	moved := map[object.Ref]object.Ref{}
	for ref, found := range out {
		versions := c.served.versions[ref.GroupKind()]
		if found.Absence == cluster.AbsentKind && len(versions) > 0 {
			moved[ref] = object.Ref{Key: ref.Key, Version: versions[0]}
		}
	}
	if len(moved) == 0 {
		return
	}
	elsewhere := c.Read(ctx, slices.Collect(maps.Values(moved)))
	for ref, at := range moved {
		if found := elsewhere[at]; found.Object != nil || found.Err != nil {
			out[ref] = cluster.Live{Absence: cluster.AbsentKind, Object: found.Object, Err: found.Err}
		}
	}
}

// targets sorts and looks up the wanted objects. Those that need no request are answered in out.
func (c *Cluster) targets(wanted []object.Ref, out answers) []target {
	var targets []target
	byRef := func(a, b object.Ref) int { return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Version, b.Version)) }
	for _, ref := range slices.Compact(order.Sorted(slices.Values(wanted), byRef)) {
		r, served, err := c.served.find(ref.GVK())
		t := target{ref, r}
		problem := t.invalidReason()
		switch {
		case err != nil:
			out[ref] = cluster.Live{Err: t.objectError("get", err)}
		case !served:
			out[ref] = cluster.Live{Absence: cluster.AbsentKind}
		case problem != "":
			out[ref] = cluster.Live{Err: t.failure(cluster.CodeInvalid, "get", problem, problem)}
		default:
			targets = append(targets, t)
		}
	}
	return targets
}

// groupJobs returns the jobs that read a group: one list if that is cheaper, otherwise a get for each object.
func (c *Cluster) groupJobs(group []target) []job {
	first := group[0]
	if first.isListed() && (first.namespaced && len(group) >= ListFrom || len(group) > clusterListAbove) {
		return []job{c.listJob(group)}
	}
	return c.getJobs(group)
}

// groups divides the targets by kind and namespace, in the order of the first of each.
func groups(targets []target) [][]target {
	type group struct {
		schema.GroupVersionResource
		namespace string
	}
	at := map[group]int{}
	var out [][]target
	for _, t := range targets {
		g := group{t.GroupVersionResource, t.namespace()}
		i, begun := at[g]
		if !begun {
			i = len(out)
			at[g], out = i, append(out, nil)
		}
		out[i] = append(out[i], t)
	}
	return out
}

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

// getJobs returns one job for each target.
func (c *Cluster) getJobs(targets []target) []job {
	jobs := make([]job, len(targets))
	for i, t := range targets {
		jobs[i] = job{[]target{t}, func(ctx context.Context) (answers, []target) {
			return answers{t.ref: c.get(ctx, t)}, nil
		}}
	}
	return jobs
}

// run runs the jobs in parallel, adds what they find to a, and returns the targets that they leave, in the order of
// the jobs.
func (a answers) run(ctx context.Context, jobs []job) (left []target) {
	type result struct {
		found answers
		left  []target
	}
	results := inParallel(jobs, func(j job) (r result) {
		defer func() {
			if p := recover(); p != nil {
				r = result{found: answers{}}
				for _, t := range j.targets {
					r.found[t.ref] = cluster.Live{Err: t.panicError(p)}
				}
			}
		}()
		r.found, r.left = j.run(ctx)
		return r
	})
	for _, r := range results {
		maps.Copy(a, r.found)
		left = append(left, r.left...)
	}
	return left
}

// inParallel applies f to each item, with a bounded number of calls at a time, and returns the results in the order
// of the items.
func inParallel[T, R any](items []T, f func(T) R) []R {
	results := make([]R, len(items))
	var group errgroup.Group
	group.SetLimit(InFlight)
	for i, item := range items {
		group.Go(func() error {
			results[i] = f(item)
			return nil
		})
	}
	_ = group.Wait() // no item returns an error
	return results
}

func (c *Cluster) get(ctx context.Context, t target) cluster.Live {
	object, err := c.client(t).Get(ctx, t.ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && !t.matches(object):
		return cluster.Live{Err: t.otherObjectError(object)}
	case err == nil:
		return cluster.Live{Object: object.Object}
	case isObjectNotFound(err):
		return cluster.Live{Absence: cluster.AbsentObject}
	}
	return cluster.Live{Err: t.objectError("get", err)}
}
