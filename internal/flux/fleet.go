package flux

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file asks what Flux does next with the releases of many HelmReleases.

// Fleet says how to compare many HelmReleases. Several goroutines call its functions.
type Fleet struct {
	// Question is the question about each of them. It has no namespace and no name.
	Question
	// From is the working tree that makes the HelmReleases, in whatever namespace. Without one, those of the cluster are compared.
	From *From
	// On is the cluster.
	On deployer.Scanned

	// before is the tree before a change. If it is set, only HelmReleases are compared that the change touches.
	before *applied.Tree
}

// Compare compares what Flux does next with each HelmRelease. If something goes wrong with one of them, its report has the error. Compare
// fails if the tree cannot be built, if the HelmReleases cannot be listed, or if ctx ends; even then, it returns the reports that it has.
// The error is deployer.ErrNoObject or deployer.NothingBut if there is no HelmRelease, although no change is asked about and the tree has no
// failure. If no file of the tree names Flux either, it is one of these in any case.
func (f Fleet) Compare(ctx context.Context) ([]report.Release, error) {
	isForFlux := func() bool { return f.From == nil || f.From.Order.MayNameFlux() } // it reads the files of the tree
	if f.From != nil {
		f.On.Namespace, f.On.List = "", f.listOnce()
		var err error
		var all []object.Ref
		items, _ := f.On.List(ctx, api.Kind(), "") // list says why they cannot be listed
		for _, item := range items {
			all = append(all, api.RefOf(api.Kind(), item))
		}
		f.Tree, f.before, err = f.From.Trees(ctx, f.knowing(ctx), all...)
		switch {
		case err != nil && ctx.Err() == nil && !isForFlux():
			return nil, deployer.NothingBut{Cause: err} // kustomize cannot build a folder with charts, and Flux need not have anything to do with it
		case err != nil:
			return nil, err
		}
		defer f.before.Close()
	}
	found, err := f.compareAll(ctx)
	if err == nil && len(found) == 0 && !isForFlux() {
		return nil, deployer.ErrNoObject
	}
	hasFailed := false
	for _, p := range f.Tree.Problems() {
		if p.Severity == tree.Failed || p.Severity == tree.Unbuilt && !isAsBefore(f.Tree, f.before, p) {
			hasFailed = true
			f.On.Fail(report.Message{Code: report.ErrorSource, Message: p.String()})
		} else {
			f.On.Note(p.String())
		}
	}
	if err == nil && len(found) == 0 && !hasFailed && f.before == nil {
		err = f.nothing()
	}
	return found, err
}

// nothing returns the error of a cluster or a tree without HelmReleases. If something in the tree was not looked at, such as a Kustomization
// that is suspended, that is why.
func (f Fleet) nothing() error {
	for _, p := range f.Tree.Problems() {
		if p.Severity == tree.Skipped {
			return deployer.NothingBut{Cause: fmt.Errorf("%s makes no HelmRelease: %s", f.From.Order.Dir, p)}
		}
	}
	return deployer.ErrNoObject
}

// compareAll is Compare without the problems of the tree.
func (f Fleet) compareAll(ctx context.Context) ([]report.Release, error) {
	known := applied.NewOverlay(f.On.Cluster)
	if f.Tree != nil {
		known = f.Tree.Over
	}
	found, err := f.list(ctx, known)
	if err != nil {
		return nil, err
	}
	var fetched deployer.Fetched
	defer fetched.Close()
	f.Question = f.kept(&fetched)
	if f.Tree != nil && f.isMost(ctx, found) {
		f.On.Shared = f.On.Wide() // objects of Flux, which lack Helm's label, are still read by name
	}
	from := f.On.Connection
	if f.Tree != nil {
		from.Lookups, f.On.Alone.Lookups = f.Tree.Lookups(from.Lookups), f.Tree.Lookups(f.On.Alone.Lookups)
	}
	reports := deployer.Fleet[*api.HelmRelease]{
		Title: func(h *api.HelmRelease) report.Release { return titled(from.Name, h) },
		Compare: func(own *secret.Known, h *api.HelmRelease) (report.Release, error) {
			return f.compare(ctx, own, known, readOnce(from), h)
		},
		Code: CodeIncomplete, Known: f.Known, Each: f.On.Each, Progress: f.On.Show, Changed: f.On.ChangedUntil(ctx),
		Anew: func(own *secret.Known, h *api.HelmRelease) (report.Release, error) {
			return f.compare(ctx, own, known, f.On.Alone, h)
		},
	}.Start().All(found)
	return reports, ctx.Err()
}

// isMost reports whether HelmReleases are in so many namespaces, and so many of those of the cluster, that lists across all namespaces are
// cheaper than lists of each.
func (f Fleet) isMost(ctx context.Context, found []*api.HelmRelease) bool {
	const many = 3
	namespaces := map[string]bool{}
	for _, h := range found {
		namespaces[h.ReleaseNamespace()] = true
	}
	all, err := f.On.List(ctx, api.Kind(), "")
	return err == nil && 2*len(found) >= len(all) && len(namespaces) >= many
}

// listOnce returns a function that lists as On.List does, each kind in each namespace once.
func (f Fleet) listOnce() func(context.Context, schema.GroupVersionKind, string) ([]map[string]any, error) {
	type key struct {
		kind      schema.GroupVersionKind
		namespace string
	}
	list, lists := f.On.List, once.Map[key, []map[string]any]{}
	return func(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
		return lists.Get(key{kind, namespace}, func() ([]map[string]any, error) { return list(ctx, kind, namespace) })
	}
}

// knowing returns a connection that knows the HelmReleases and the sources of charts.
func (f Fleet) knowing(ctx context.Context) drift.Connection {
	from, over := f.On.Connection, applied.NewOverlay(f.On.Cluster)
	for _, kind := range append(sourceKinds(), api.Kind()) {
		items, _ := f.On.List(ctx, kind, f.On.Namespace) // otherwise each is read by its name
		over.Add(kind, items)
	}
	from.Cluster = over
	return from
}

// sourceKinds returns the kinds that charts come from.
func sourceKinds() (out []schema.GroupVersionKind) {
	for _, kind := range []string{"HelmChart", "HelmRepository", "OCIRepository", "GitRepository", tree.KindBucket} {
		out = append(out, schema.GroupVersionKind{Group: api.SourceGroup, Version: "v1", Kind: kind})
	}
	return out
}

// readOnce returns a connection for one release whose histories do not change. It reads each record once.
func readOnce(from drift.Connection) drift.Connection {
	records, loaded := from.Records, map[drift.Target]*release.Loaded{}
	from.Records = func(namespace string) (drift.Records, error) {
		found, err := records(namespace)
		return recordsOnce{found, namespace, loaded}, err
	}
	return from
}

// recordsOnce are records that are read once.
type recordsOnce struct {
	drift.Records
	namespace string
	loaded    map[drift.Target]*release.Loaded
}

// Load implements drift.Records.
func (r recordsOnce) Load(ctx context.Context, name string, revision int, o release.Options) (*release.Loaded, error) {
	at := drift.Target{Namespace: r.namespace, Release: name, Revision: revision}
	if found := r.loaded[at]; found != nil {
		return found, nil
	}
	out, err := r.Records.Load(ctx, name, revision, o)
	if err == nil {
		r.loaded[at] = out
	}
	return out, err
}

// olderVersion returns an error if the cluster serves HelmReleases only in versions before v2, which Flux has since 2.3.
func (f Fleet) olderVersion() error {
	at := api.Kind()
	if _, isServed := f.On.Cluster.Scope(at); isServed {
		return nil
	}
	for _, at.Version = range []string{"v2beta2", "v2beta1"} {
		if _, isServed := f.On.Cluster.Scope(at); isServed {
			return fmt.Errorf("the cluster serves HelmReleases only as %s, and helmdrift reads %s", at.GroupVersion(), api.Kind().GroupVersion())
		}
	}
	return nil
}

// list returns the HelmReleases of the cluster, or those that a tree makes or drops, in the order of the namespaces of their releases.
// Known learns them, and the sources of their charts.
func (f Fleet) list(ctx context.Context, known applied.Overlay) ([]*api.HelmRelease, error) {
	items, err := f.On.List(ctx, api.Kind(), f.On.Namespace)
	err = cmp.Or(err, f.olderVersion())
	if err != nil && f.Tree == nil {
		return nil, err
	}
	var out []*api.HelmRelease
	if f.Tree != nil {
		if err != nil {
			f.Tree.Note(tree.Failed, "the cluster", "which HelmReleases the tree drops is not known: "+err.Error())
		}
		out, items = f.Tree.Dropped(ctx, items), f.Tree.HelmReleases()
		if f.before != nil {
			out, items = f.changed(ctx, out, items)
		}
	}
	known.Add(api.Kind(), items)
	for _, kind := range sourceKinds() {
		if items, err := f.On.List(ctx, kind, f.On.Namespace); err == nil { // otherwise each is read by its name
			known.Add(kind, items)
		}
	}
	for _, item := range items {
		out = append(out, api.HelmReleaseOf(item))
	}
	order.Sort(out, func(a, b *api.HelmRelease) int {
		return cmp.Or(lists.CompareNamespaces(a.ReleaseNamespace(), b.ReleaseNamespace()),
			cmp.Compare(a.Metadata.Namespace, b.Metadata.Namespace), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	return out, nil
}

// changed returns those of the HelmReleases that the tree drops and makes that it changes, and notes how many are left out. The earlier
// tree drops none of a Kustomization that could not be built.
func (f Fleet) changed(ctx context.Context, dropped []*api.HelmRelease, made []map[string]any) ([]*api.HelmRelease, []map[string]any) {
	all := len(made) + len(dropped)
	dropped = slices.DeleteFunc(dropped, func(h *api.HelmRelease) bool {
		ref := api.HelmReleaseRef(h.Metadata.Namespace, h.Metadata.Name)
		item := f.before.Over.Cluster.Read(ctx, []object.Ref{ref})[ref].Object // it is known already
		return f.before.Deletes(ctx, ref, item) != ""
	})
	made = slices.DeleteFunc(made, func(item map[string]any) bool { return !isTouched(ctx, f.Tree, f.before, api.RefOf(api.Kind(), item)) })
	if left := all - len(made) - len(dropped); left > 0 {
		f.Tree.Note(tree.Note, "the change", fmt.Sprintf("it leaves %s as they are, which are not compared", english.Count(left, "HelmRelease")))
	}
	return dropped, made
}

// compare compares what Flux does next with one HelmRelease. Own has its secrets, and reading knows the objects of Flux.
func (f Fleet) compare(
	ctx context.Context, own *secret.Known, reading deployer.Reader, from drift.Connection, h *api.HelmRelease,
) (report.Release, error) {
	if h.Fault != nil {
		return report.Release{}, h.Fault
	}
	f.Known = own
	plan, err := newPlan(ctx, reading, from, f.Question, h)
	if err != nil {
		return report.Release{}, err
	}
	defer plan.Close()
	// A comparison with a chart also learns the secrets of the objects and of the values, for its own errors.
	f.On.Options.Known = (*drift.Secrets)(own.With(nil))
	result, err := drift.New(plan.Connection, plan.Adapt(f.On.Options)).Compare(ctx, plan.Target)
	if err != nil {
		return report.Release{}, err
	}
	return f.On.Report(result, func(result *drift.Result, r *report.Release) { plan.Finish(ctx, result, r) }), nil
}

// titled returns a report that says which HelmRelease it is about.
func titled(cluster string, h *api.HelmRelease) report.Release {
	return report.Release{
		Name: h.ReleaseName(), Namespace: h.ReleaseNamespace(), StorageNamespace: h.StorageNamespace(), Cluster: cluster,
		Operation: report.OperationDrift,
		Deployer: &report.Deployer{
			Kind: "HelmRelease", Namespace: h.Metadata.Namespace, Name: h.Metadata.Name, Controller: report.ControllerFlux,
		},
	}
}

// kept returns the question with functions that keep their answers. What they fetch is there until it is closed.
func (q Question) kept(fetched *deployer.Fetched) Question {
	out, prepared := q, &once.Map[string, ChartAnswer]{}
	out.Fetch, out.settings = fetched.Charts(q.Fetch), settingsOnce()
	out.Commit, out.Bucket = keptAnswers(fetched, q.Commit), keptAnswers(fetched, q.Bucket)
	out.Prepare = func(ctx context.Context, order ChartOrder) (ChartAnswer, error) {
		key, _ := json.Marshal(order) // it has plain fields
		return prepared.Get(string(key), func() (ChartAnswer, error) { return q.Prepare(ctx, order) })
	}
	return out
}

// keptAnswers returns a function that keeps the answers of one that fetches, which may be nil.
func keptAnswers[In, Out any](
	fetched *deployer.Fetched, fetch func(context.Context, In) (Out, func(), error),
) func(context.Context, In) (Out, func(), error) {
	if fetch == nil {
		return nil
	}
	answers := &once.Map[string, Out]{}
	return func(ctx context.Context, from In) (Out, func(), error) {
		key, _ := json.Marshal(from) // it has plain fields
		out, err := answers.Get(string(key), func() (Out, error) {
			out, done, err := fetch(ctx, from)
			fetched.Keep(done)
			return out, err
		})
		return out, func() {}, err
	}
}
