package live

import (
	"cmp"
	"context"
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
	// inFlight bounds the requests that run at the same time.
	inFlight = 16
	// A group is listed when it has this many objects in a namespace, or more than so many of a cluster-scoped kind:
	// of those, Helm's label brings the objects of every release in the cluster.
	listFrom         = 3
	clusterListAbove = 10
)

// target is one wanted object and how to ask for it.
type target struct {
	ref object.Ref
	resource
}

// answers is what is known so far.
type answers map[object.Ref]threeway.Live

// job is a piece of reading that runs by itself. It answers for each of its targets or leaves it to be got by name.
type job struct {
	targets []target
	run     func(ctx context.Context) (found answers, left []target)
}

// Read reads the wanted objects, with as few requests as the package comment says. Each wanted Ref has an answer
// in the result: the object, an absence or an error; with the absence of a kind, the object at another version where the
// kind is served there. The namespace of a cluster-scoped object is not looked at.
func (c *Cluster) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]threeway.Live {
	out := answers{}
	targets := c.targets(wanted, out)
	left := out.collect(ctx, c.plan(targets))
	out.collect(ctx, c.gets(left))
	c.tellNamespaces(ctx, targets, out)
	c.findElsewhere(ctx, out)
	return out
}

// findElsewhere looks for objects whose kind is no longer served at their version, but at another one: they are not gone,
// and calling them missing would make somebody create them again.
func (c *Cluster) findElsewhere(ctx context.Context, out answers) {
	moved := map[object.Ref]object.Ref{}
	var wanted []object.Ref
	for ref, found := range out {
		versions := c.Versions(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
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
	for _, ref := range slices.CompactFunc(slices.SortedFunc(slices.Values(wanted), compareRefs), sameRef) {
		gvk := schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind}
		r, served, err := c.served.find(gvk)
		t := target{ref, r}
		problem := t.refusal()
		switch {
		case err != nil:
			out[ref] = threeway.Live{Err: t.fail("get", err)}
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

func sameRef(a, b object.Ref) bool { return a == b }

// refusal says why a target cannot be asked for. A name with a slash would be another URL, a missing namespace another
// resource; both would come back as "not found".
func (t target) refusal() string {
	switch {
	case t.ref.Name == "" || len(rest.IsValidPathSegmentName(t.ref.Name)) > 0:
		return "this is no name that an object can have"
	case t.namespaced && (t.ref.Namespace == "" || len(rest.IsValidPathSegmentName(t.ref.Namespace)) > 0):
		return "this is no namespace that an object can be in"
	case !t.get:
		return "the server has no get for this kind"
	}
	return ""
}

// plan makes the first round: a list for each group that is large enough, gets for the others.
func (c *Cluster) plan(targets []target) []job {
	type group struct {
		schema.GroupVersionResource
		namespace string
	}
	groups := map[group][]target{}
	var order []group
	for _, t := range targets {
		g := group{t.GroupVersionResource, t.namespace()}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], t)
	}
	var jobs []job
	for _, g := range order {
		if members := groups[g]; worthList(members) {
			jobs = append(jobs, c.list(members))
		} else {
			jobs = append(jobs, c.gets(members)...)
		}
	}
	return jobs
}

func worthList(group []target) bool {
	first := group[0]
	// Definitions are few, large, and of the whole cluster: a page of them is megabytes of other people's.
	if !first.list || first.Resource == "customresourcedefinitions" {
		return false
	}
	return first.namespaced && len(group) >= listFrom || len(group) > clusterListAbove
}

// gets makes a job of each target.
func (c *Cluster) gets(targets []target) []job {
	jobs := make([]job, len(targets))
	for i, t := range targets {
		jobs[i] = job{[]target{t}, func(ctx context.Context) (answers, []target) {
			return answers{t.ref: c.get(ctx, t)}, nil
		}}
	}
	return jobs
}

// collect runs the jobs side by side, adds what they find and returns what they leave, in the order of the jobs.
func (a answers) collect(ctx context.Context, jobs []job) (left []target) {
	type result struct {
		found answers
		left  []target
	}
	results := inParallel(jobs, func(j job) (r result) {
		defer func() {
			if p := recover(); p != nil {
				r = result{found: answers{}}
				for _, t := range j.targets {
					r.found[t.ref] = threeway.Live{Err: t.panicked(p)}
				}
			}
		}()
		r.found, r.left = j.run(ctx)
		return r
	})
	for _, r := range results {
		for ref, live := range r.found {
			a[ref] = live
		}
		left = append(left, r.left...)
	}
	return left
}

// inParallel applies f to each item, a bounded number at a time, and returns the results in the order of the items.
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

// get reads one object by name.
func (c *Cluster) get(ctx context.Context, t target) threeway.Live {
	object, err := c.client(t).Get(ctx, t.ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && !t.is(object):
		return threeway.Live{Err: t.answeredWith(object)}
	case err == nil:
		return threeway.Live{Object: object.Object}
	case isObjectNotFound(err):
		return threeway.Live{Absence: threeway.AbsentObject}
	}
	return threeway.Live{Err: t.fail("get", err)}
}

// is reports whether an answer is the object that was asked for. A proxy, or an aggregated API server, may answer with a list or with
// something else, and all of that would look like drift.
func (t target) is(object *unstructured.Unstructured) bool {
	return object.GetName() == t.ref.Name && object.GetNamespace() == t.namespace() &&
		object.GetKind() == t.ref.Kind && object.GetAPIVersion() == t.ref.APIVersion()
}

func (c *Cluster) client(t target) dynamic.ResourceInterface {
	if t.namespaced {
		return c.dynamic.Resource(t.GroupVersionResource).Namespace(t.ref.Namespace)
	}
	return c.dynamic.Resource(t.GroupVersionResource)
}

// namespace is where the object lives; empty for a cluster-scoped one, whatever the manifest says.
func (t target) namespace() string {
	if t.namespaced {
		return t.ref.Namespace
	}
	return ""
}
