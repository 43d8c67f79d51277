package argo

import (
	"cmp"
	"context"
	"sync"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file asks what Argo CD does next with many Applications.

// Fleet says how to compare many Applications. Several goroutines call its functions.
type Fleet struct {
	// Question is the question about each of them. Its namespace is only that of NewTree, and its name is not used.
	Question
	// On is the cluster.
	On deployer.Scanned
}

// Compare compares what Argo CD does next with each Application. If something goes wrong with one of them, its report has the error.
// Compare fails if the Applications cannot be listed, or if ctx ends; even then, it returns the reports that it has. The error is
// deployer.ErrNoObject if there is no Application and no problem of the tree.
func (f Fleet) Compare(ctx context.Context) ([]report.Release, error) {
	found, err := f.list(ctx)
	if err != nil {
		return nil, err
	}
	order.Sort(found, func(a, b *api.Application) int {
		return cmp.Or(lists.CompareNamespaces(a.Spec.Destination.Namespace, b.Spec.Destination.Namespace),
			cmp.Compare(a.Metadata.Namespace, b.Metadata.Namespace), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	for _, problem := range f.Tree.Problems() {
		f.On.Fail(report.Message{Code: report.ErrorSource, Message: problem})
	}
	fetched := &fetched{Question: f.Question}
	defer fetched.Close()
	f.Question = fetched.question()
	from := f.On.Unlabelled.Connection
	from.Cluster = &sharedReads{Cluster: from.Cluster}
	reports := deployer.Fleet[*api.Application]{
		Title: func(a *api.Application) report.Release { return titled(from.Name, a) },
		Compare: func(own *secret.Known, a *api.Application) (report.Release, error) {
			return f.compare(ctx, own, from, a)
		},
		Code: CodeIncomplete, Known: f.Known, Each: f.On.Unlabelled.Each, Progress: f.On.Show,
	}.Start().All(found)
	if len(found) == 0 && len(f.Tree.Problems()) == 0 && ctx.Err() == nil {
		return nil, deployer.ErrNoObject
	}
	return reports, ctx.Err()
}

// list returns the Applications of the tree and those that it drops, or those of the cluster.
func (f Fleet) list(ctx context.Context) ([]*api.Application, error) {
	if f.Tree != nil {
		gone, err := f.Tree.dropped(ctx, f.On.Unlabelled.Connection, f.Question)
		if err != nil {
			f.On.Fail(report.Message{Code: CodeIncomplete, Message: err.Error()})
		}
		return append(f.Tree.all(), gone...), nil
	}
	items, err := f.On.List(ctx, api.Kind(), f.On.Namespace)
	if err != nil {
		return nil, err
	}
	found := make([]*api.Application, len(items))
	for i, item := range items {
		found[i] = api.Decoded(item)
	}
	return found, nil
}

// compare compares what Argo CD does next with one Application. Own has its secrets.
func (f Fleet) compare(ctx context.Context, own *secret.Known, from drift.Connection, a *api.Application) (report.Release, error) {
	if a.Fault != nil {
		return report.Release{}, a.Fault
	}
	f.Known = own
	plan, err := newPlan(ctx, from, f.Question, a)
	if err != nil {
		return report.Release{}, err
	}
	defer plan.Close()
	f.On.Options.Known = (*drift.Secrets)(own.With(nil))
	options := plan.Adapt(f.On.Options)
	if options.DryRun {
		options.DryRun = false
		plan.warn("the dry run did not try what a sync writes: it has only the writes of Helm")
	}
	result, err := drift.New(plan.Connection, options).Compare(ctx, plan.Target)
	if err != nil {
		return report.Release{}, err
	}
	return f.On.Report(result, plan.Finish), nil
}

// titled returns a report that says which Application it is about.
func titled(cluster string, a *api.Application) report.Release {
	return report.Release{
		Name: a.Metadata.Name, Namespace: a.Spec.Destination.Namespace, StorageNamespace: a.Metadata.Namespace, Cluster: cluster,
		Operation: report.OperationSync,
		Deployer: &report.Deployer{
			Kind: "Application", Namespace: a.Metadata.Namespace, Name: a.Metadata.Name, Controller: report.ControllerArgo,
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
	if len(wanted) != 1 || wanted[0].Kind != "AppProject" && wanted[0].Name != "argocd-cm" && wanted[0].Name != api.Parameters {
		return c.Cluster.Read(ctx, wanted)
	}
	answer, _ := c.answers.Get(wanted[0], func() (cluster.Live, error) { return c.Cluster.Read(ctx, wanted)[wanted[0]], nil })
	return map[object.Ref]cluster.Live{wanted[0]: answer}
}

// fetched keeps what was fetched for many Applications.
type fetched struct {
	Question
	deployer.Fetched
	commits once.Map[commitKey, checkout]
	// known are the commits that were fetched by the name of a branch or a tag, by their own names.
	known sync.Map
}

// commitKey is what decides which files are fetched.
type commitKey struct {
	url, tree, ref string
	foreign        bool
}

// checkout is a folder with the files of a commit.
type checkout struct{ dir, commit string }

// question returns the question with functions that keep their answers.
func (k *fetched) question() Question {
	out := k.Question
	out.Fetch = k.Charts(out.Fetch)
	out.Commit = func(ctx context.Context, o source.CommitOrder) (string, string, func(), error) {
		key := commitKey{o.URL, o.Tree, o.Ref, o.Foreign}
		if at, isKnown := k.known.Load(key); isKnown {
			return at.(checkout).dir, o.Ref, func() {}, nil
		}
		at, err := k.commits.Get(key, func() (checkout, error) {
			dir, commit, done, err := k.Question.Commit(ctx, o)
			k.Keep(done)
			return checkout{dir, commit}, err
		})
		if key.ref = at.commit; err == nil && at.commit != "" {
			k.known.Store(key, at)
		}
		return at.dir, at.commit, func() {}, err
	}
	return out
}
