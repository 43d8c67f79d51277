package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

const (
	// inFlight is the number of requests that run at the same time.
	inFlight = 16
	// A group is listed if it has at least listFrom objects in a namespace, or more than clusterListAbove objects of
	// a cluster-scoped kind, whose list contains the objects of every release in the cluster.
	listFrom         = 3
	clusterListAbove = 10
)

// target is one wanted object together with its resource.
type target struct {
	ref object.Ref
	resource
}

// answers maps the wanted objects to what is known so far.
type answers map[object.Ref]threeway.Live

// job is a piece of reading that runs by itself. It answers each of its targets or leaves it to be read by name.
type job struct {
	targets []target
	run     func(ctx context.Context) (found answers, left []target)
}

// Read reads the wanted objects, with as few requests as the package comment describes. The result has one answer for
// each wanted Ref: the object, an absence or an error. If the kind is absent at this version but served at another
// one, the answer also has the object at that version. The namespace of a cluster-scoped object is ignored.
func (c *Cluster) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]threeway.Live {
	return c.read(ctx, wanted, c.planJobs)
}

// read is Read with another plan for the first round.
func (c *Cluster) read(ctx context.Context, wanted []object.Ref, planJobs func([]target) []job) map[object.Ref]threeway.Live {
	out := answers{}
	targets := c.targets(wanted, out)
	left := out.run(ctx, planJobs(targets))
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
	var wanted []object.Ref
	for ref, found := range out {
		versions := c.versions(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
		if found.Absence == threeway.AbsentKind && len(versions) > 0 && versions[0] != ref.Version {
			moved[ref] = object.Ref{Key: ref.Key, Version: versions[0]}
			wanted = append(wanted, moved[ref])
		}
	}
	if len(wanted) == 0 {
		return
	}
	elsewhere := c.Read(ctx, wanted)
	for ref, at := range moved {
		if found := elsewhere[at]; found.Object != nil || found.Err != nil {
			out[ref] = threeway.Live{Absence: threeway.AbsentKind, Object: found.Object, Err: found.Err}
		}
	}
}

// targets sorts and looks up the wanted objects. Those that need no request are answered in out.
func (c *Cluster) targets(wanted []object.Ref, out answers) []target {
	var targets []target
	for _, ref := range slices.Compact(slices.SortedFunc(slices.Values(wanted), compareRefs)) {
		gvk := schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind}
		r, served, err := c.served.find(gvk)
		t := target{ref, r}
		problem := t.invalidReason()
		switch {
		case err != nil:
			out[ref] = threeway.Live{Err: t.objectError("get", err)}
		case !served:
			out[ref] = threeway.Live{Absence: threeway.AbsentKind}
		case problem != "":
			out[ref] = threeway.Live{Err: &report.ObjectError{Code: CodeInvalid, Message: "cannot get " + t.String() + ": " + problem}}
		default:
			targets = append(targets, t)
		}
	}
	return targets
}

func compareRefs(a, b object.Ref) int {
	return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Version, b.Version))
}

// invalidReason returns why no request can be sent for the target, or "". A name with a slash would change the URL,
// and a missing namespace would name another resource; the server would answer both with "not found".
func (t target) invalidReason() string {
	switch {
	case t.ref.Name == "" || len(rest.IsValidPathSegmentName(t.ref.Name)) > 0:
		return "its name is not valid"
	case t.namespaced && (t.ref.Namespace == "" || len(rest.IsValidPathSegmentName(t.ref.Namespace)) > 0):
		return "its namespace is not valid"
	case !t.get:
		return "the server does not support get for this kind"
	}
	return ""
}

// planJobs returns the jobs of the first round: a list for each group that is large enough, and gets for the others.
func (c *Cluster) planJobs(targets []target) []job {
	var jobs []job
	for _, group := range groups(targets) {
		jobs = append(jobs, c.groupJobs(group)...)
	}
	return jobs
}

// groupJobs returns the jobs that read a group.
func (c *Cluster) groupJobs(group []target) []job {
	if isWorthListing(group) {
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

// isWorthListing reports whether a list is cheaper than a get for each object of the group.
func isWorthListing(group []target) bool {
	first := group[0]
	return first.isListed() && (first.namespaced && len(group) >= listFrom || len(group) > clusterListAbove)
}

// isListed reports whether the kind is ever listed. A release has few definitions, but a page of them holds megabytes of definitions of
// other releases.
func (t target) isListed() bool { return t.list && t.Resource != "customresourcedefinitions" }

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
					r.found[t.ref] = threeway.Live{Err: t.panicError(p)}
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
	group.SetLimit(inFlight)
	for i, item := range items {
		group.Go(func() error {
			results[i] = f(item)
			return nil
		})
	}
	_ = group.Wait() // no item returns an error
	return results
}

// recoverError turns a panic into an error. It is called by defer.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error: %s", oneLine(fmt.Sprint(p)))
	}
}

// get reads one object by name.
func (c *Cluster) get(ctx context.Context, t target) threeway.Live {
	object, err := c.client(t).Get(ctx, t.ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && !t.matches(object):
		return threeway.Live{Err: t.otherObjectError(object)}
	case err == nil:
		return threeway.Live{Object: object.Object}
	case isObjectNotFound(err):
		return threeway.Live{Absence: threeway.AbsentObject}
	}
	return threeway.Live{Err: t.objectError("get", err)}
}

// matches reports whether an answer is the object that was asked for. A proxy or an aggregated API server may answer
// with a list or another object, and all of that would look like drift.
func (t target) matches(object *unstructured.Unstructured) bool {
	return object.GetName() == t.ref.Name && object.GetNamespace() == t.namespace() &&
		object.GetKind() == t.ref.Kind && object.GetAPIVersion() == t.ref.APIVersion()
}

func (c *Cluster) client(t target) dynamic.ResourceInterface {
	if t.namespaced {
		return c.dynamic.Resource(t.GroupVersionResource).Namespace(t.ref.Namespace)
	}
	return c.dynamic.Resource(t.GroupVersionResource)
}

// namespace returns the namespace of the object, or "" for a cluster-scoped one, whatever the manifest says.
func (t target) namespace() string {
	if t.namespaced {
		return t.ref.Namespace
	}
	return ""
}
