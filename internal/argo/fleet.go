package argo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file asks what Argo CD does next with many Applications.

// Fleet says how to compare many Applications. Several goroutines call its functions.
type Fleet struct {
	// Question is the question about each of them. Its namespace is theirs, or empty for all. Its name is not used.
	Question
	// Options are those of each comparison.
	Options drift.Options
	// List lists the objects of a kind in a namespace, or in all if it is empty, as they are now.
	List func(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error)
	// Each calls do for each Application, whose objects are in the namespace of the same index. It may call several at the same time.
	Each func(namespaces []string, do func(i int))
	// Report returns the report of a comparison, with what Plan.Finish adds to it.
	Report func(result *drift.Result, p *Plan) report.Release
	// Progress is called with each report. It may be nil.
	Progress func(report.Release)
}

// Compare compares what Argo CD does next with each Application. If something goes wrong with one of them, its report has the error. Compare
// fails if the Applications cannot be listed, or if ctx ends; even then, it returns the reports that it has.
func (f Fleet) Compare(ctx context.Context, from drift.Connection) ([]report.Release, error) {
	found, err := f.list(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *Application) int {
		return cmp.Or(live.CompareNamespaces(a.Spec.Destination.Namespace, b.Spec.Destination.Namespace),
			cmp.Compare(a.Metadata.Namespace, b.Metadata.Namespace), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	fetched := &fetched{Question: f.Question}
	defer fetched.close()
	f.Question = fetched.question()
	from.Cluster = &sharedReads{Cluster: from.Cluster}
	namespaces, reports := make([]string, len(found)), make([]report.Release, len(found))
	for i, a := range found {
		namespaces[i], reports[i] = a.Spec.Destination.Namespace, f.failed(from, a, errors.New("interrupted before it was read"))
	}
	f.Each(namespaces, func(i int) {
		reports[i] = f.compare(ctx, from, found[i])
		if f.Progress != nil {
			f.Progress(reports[i])
		}
	})
	return reports, ctx.Err()
}

// list returns the Applications of the tree, or those of the cluster.
func (f Fleet) list(ctx context.Context) ([]*Application, error) {
	if f.Tree != nil {
		return f.Tree.all(), nil
	}
	items, err := f.List(ctx, Kind(), f.Namespace)
	if err != nil {
		return nil, err
	}
	found := make([]*Application, len(items))
	for i, item := range items {
		found[i] = newApplication(item)
	}
	return found, nil
}

// newApplication decodes an Application. One that cannot be decoded has its fault.
func newApplication(item map[string]any) *Application {
	out := &Application{}
	key := keyOf(item)
	if err := decode(item, "Application "+key.Namespace+"/"+key.Name, out); err != nil {
		return &Application{Metadata: meta{Namespace: key.Namespace, Name: key.Name}, fault: err}
	}
	return out
}

// compare compares what Argo CD does next with one Application. Whatever goes wrong is an error in the report.
func (f Fleet) compare(ctx context.Context, from drift.Connection, a *Application) (out report.Release) {
	defer func() {
		if cause := recover(); cause != nil {
			out = f.failed(from, a, fmt.Errorf("internal error: %v", cause))
		}
	}()
	if a.fault != nil {
		return f.failed(from, a, a.fault)
	}
	own := &secret.Known{} // a child process gets all secrets that are known, and those of others are none of its business
	defer f.Known.AddKnown(own)
	f.Known = own
	plan, err := newPlan(ctx, from, f.Question, a)
	if err != nil {
		return f.failed(from, a, err)
	}
	defer plan.Close()
	f.Options.Known = (*drift.Secrets)(own.With(nil))
	result, err := drift.New(plan.Connection, plan.Adapt(f.Options)).Compare(ctx, plan.Target)
	if err != nil {
		return f.failed(from, a, err)
	}
	return f.Report(result, plan)
}

// failed returns the report of an Application that could not be compared.
func (f Fleet) failed(from drift.Connection, a *Application, err error) report.Release {
	said, why := f.Known.Scrub(hint.Sentence(err)), f.Known.Scrub(err.Error())
	return report.Release{
		Name: a.Metadata.Name, Namespace: a.Spec.Destination.Namespace, StorageNamespace: a.Metadata.Namespace, Cluster: from.Name,
		Operation: report.OperationSync, Warnings: []report.Message{}, NotCompared: []report.NotCompared{}, Objects: []report.Object{},
		Errors: []report.Message{{Code: CodeIncomplete, Message: said}},
		Deployer: &report.Deployer{
			Kind: "Application", Namespace: a.Metadata.Namespace, Name: a.Metadata.Name, Controller: report.ControllerArgo,
			Action: report.DeployerUnknown, Reason: why, PutsBack: report.PutsBackUnknown,
		},
	}
}

// sharedReads is a cluster that reads what all Applications share once: the settings of Argo CD and the projects.
type sharedReads struct {
	drift.Cluster
	answers once.Map[object.Ref, cluster.Live]
}

// Read implements drift.Cluster.
func (c *sharedReads) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	if len(wanted) != 1 || wanted[0].Kind != "AppProject" && wanted[0].Name != "argocd-cm" {
		return c.Cluster.Read(ctx, wanted)
	}
	answer, _ := c.answers.Get(wanted[0], func() (cluster.Live, error) { return c.Cluster.Read(ctx, wanted)[wanted[0]], nil })
	return map[object.Ref]cluster.Live{wanted[0]: answer}
}

// fetched keeps the charts and commits of many Applications, so that each is fetched once.
type fetched struct {
	Question
	indexes fetch.Indexes
	charts  once.Map[chartKey, string]
	commits once.Map[commitKey, checkout]

	mu   sync.Mutex
	done []func()
}

// chartKey and commitKey are what decides which files are fetched.
type (
	chartKey  struct{ ref, version, repository string }
	commitKey struct {
		url, ref string
		foreign  bool
	}
)

// checkout is a folder with the files of a commit.
type checkout struct{ dir, commit string }

// question returns the question with functions that keep their answers.
func (k *fetched) question() Question {
	out := k.Question
	out.Fetch = func(ctx context.Context, ref string, o fetch.Options) (string, func(), error) {
		path, err := k.charts.Get(chartKey{ref, o.Version, o.RepoURL}, func() (string, error) {
			o.Indexes = &k.indexes
			path, done, err := k.Question.Fetch(ctx, ref, o)
			if err == nil {
				k.removeLater(done)
			}
			return path, err
		})
		return path, func() {}, err
	}
	out.Commit = func(ctx context.Context, o CommitOrder) (string, string, func(), error) {
		at, err := k.commits.Get(commitKey{o.URL, o.Ref, o.Foreign}, func() (checkout, error) {
			dir, commit, done, err := k.Question.Commit(ctx, o)
			if err == nil {
				k.removeLater(done)
			}
			return checkout{dir, commit}, err
		})
		return at.dir, at.commit, func() {}, err
	}
	return out
}

// removeLater lets close call done.
func (k *fetched) removeLater(done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done = append(k.done, done)
}

// close removes the files.
func (k *fetched) close() {
	k.indexes.Close()
	for _, done := range k.done {
		done()
	}
}
