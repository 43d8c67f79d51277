package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/argo"
	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/argo/ignored"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff app/NAME, and diff --next and --from of Applications: what the next sync of Argo CD writes. internal/argo finds out
// what to compare.

// These are the jobs of a child process: it searches a working tree for Applications, builds kustomizations, and evaluates what Argo CD
// ignores.
const (
	jobArgoTree      = "argo-tree"
	jobArgoKustomize = "argo-kustomize"
	jobArgoIgnore    = "argo-ignore"
)

// askArgoBase is the question of the job for a kustomization about a base.
const askArgoBase = "base"

// argoGuest returns diff of an Application as a guest.
func argoGuest() guest {
	return guest{
		controllers: []func(*cli.ControllerOptions) controlled{func(o *cli.ControllerOptions) controlled { return &argoDiff{o} }},
		jobs: map[string]confine.Job{
			jobArgoTree: confine.NewJob(func(_ context.Context, _ *confine.Parent, o appset.Order) (appset.Answer, error) {
				return appset.Build(o)
			}),
			jobArgoKustomize: confine.NewJob(func(_ context.Context, p *confine.Parent, o source.KustomizeOrder) (string, error) {
				return o.Build(func(b kustomize.Base) (string, error) { return confine.Ask[kustomize.Base, string](p, askArgoBase, b) })
			}),
			jobArgoIgnore: confine.NewJob(func(ctx context.Context, _ *confine.Parent, o ignored.Order) (ignored.Answer, error) {
				return o.Run(ctx)
			}),
		},
	}
}

// argoDiff implements controlled for an Application.
type argoDiff struct {
	*cli.ControllerOptions
}

// words implements controlled.
func (f *argoDiff) words() cli.ObjectWords {
	return cli.ObjectWords{
		Kinds: []string{"app", "application", "applications", "application.argoproj.io", "applications.argoproj.io"},
		GVK:   api.Kind(), One: "Application", Controller: "Argo CD", Lists: "kubectl get applications -A",
		Sync: "argocd app sync", Builds: true,
		NotOfTree: []cli.Refusal{{Flags: []string{"local-source", "sops", "only-changed", "allow-secret-lookups"},
			Advice: "it is about HelmReleases of Flux, and not about Applications"}},
	}
}

// unsupported returns the flags that helmdrift has for a HelmRelease and not for an Application.
func (f *argoDiff) unsupported() []cli.Refusal {
	return append(f.words().NotOfTree, []cli.Refusal{
		{Flags: []string{"with-source-credentials"}, Advice: "log in with helm, or set the credentials of git"},
		{Flags: []string{"dry-run"}, Advice: "the API server tries only writes of Helm"},
		{Flags: []string{"snapshot"}, Advice: "a snapshot has a release of Helm"},
		{Flags: []string{"allow-outside-links"}, Advice: "Argo CD refuses such links"},
		{Flags: []string{"from-flux"}, Advice: "it is about HelmReleases of Flux"},
	}...)
}

// run implements controlled.
func (f *argoDiff) run(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error {
	refusals := append(refused(f, o.guests), f.unsupported()...)
	name, err := f.words().CheckOne(f.ControllerOptions, args, flags, append(refusals, cli.Refusal{Flags: scanFlags(o.guests),
		Advice: "app/NAME is one Application; helmdrift diff -A --next compares all of them"}))
	if err != nil {
		return err
	}
	of, err := f.tree()
	if err != nil {
		return err
	}
	o.TakesFolders = true // a kustomization, or manifests
	d, err := o.Begin(ctx, append([]string{name}, args[1:]...), "diff")
	if err != nil {
		return err
	}
	question, done := f.question(s, &o.CompareOptions, o.Jobs())
	defer done()
	question.Namespace, question.Name = d.Target.Namespace, name
	if d.Target.Chart != nil {
		question.Chart, question.Own = d.Target.Chart, true
	}
	if f.From != "" {
		if question.Tree, err = f.search(ctx, d.Connection, question, of, o.Jobs()); err != nil {
			d.Quiet()
			return err
		}
	}
	plan, err := argo.New(ctx, d.Connection, question)
	if err != nil {
		d.Quiet()
		return err
	}
	defer plan.Close()
	d.Use(plan.Target, plan.Connection, plan.Adapt(d.Options))
	return o.report(ctx, s, d, flags, time.Now, plan.Finish)
}

// all implements controlled.
func (f *argoDiff) all(s cli.Streams, o diffOptions) (compareAll, error) {
	if f.From == "-" {
		return nil, nil // what comes from stdin is for Flux
	}
	of, err := f.tree()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
		question, done := f.question(s, &o.CompareOptions, limits)
		defer done()
		fleet := argo.Fleet{Question: question, On: on}
		fleet.Namespace = on.Namespace
		if f.From != "" {
			tree, err := f.search(ctx, on.Unlabelled.Connection, fleet.Question, of, limits)
			if err != nil {
				return nil, err
			}
			fleet.Tree = tree
		}
		return fleet.Compare(ctx)
	}, nil
}

// tree finds the working tree of --from. A mistyped folder is an error before a cluster is asked.
func (f *argoDiff) tree() (out worktree.Tree, err error) {
	switch f.From {
	case "":
		return out, nil
	case "-":
		return out, hint.New(errors.New("--from - reads HelmReleases, and no Application"), "--from FOLDER names a folder of a working tree")
	}
	out.Root, out.Remotes, err = worktree.Find(f.From)
	if errors.Is(err, fs.ErrNotExist) {
		return out, hint.New(fmt.Errorf("--from %s: there is no such folder", f.From), "it is a folder of a working tree that has Applications")
	}
	if err != nil {
		return out, fmt.Errorf("--from %s: %w", f.From, err)
	}
	return out, nil
}

// search finds the Applications of a working tree.
func (f *argoDiff) search(
	ctx context.Context, from drift.Connection, q argo.Question, of worktree.Tree, limits jobs.Limits,
) (*argo.Tree, error) {
	out, err := argo.NewTree(ctx, from, q, f.From, of, func(ctx context.Context, order appset.Order) (appset.Answer, error) {
		return jobs.Run[appset.Order, appset.Answer](ctx, limits, "searching the working tree for Applications", jobArgoTree, order, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", f.From, err)
	}
	return out, nil
}

// errNoRelease is the error of what needs a release of Helm. checkRelease refuses it before, with advice.
var errNoRelease = errors.New("an Application has no release of Helm")

// release implements controlled. A fix would write beside Argo CD, which has a command that writes the same.
func (f *argoDiff) release(context.Context, cli.Streams, *cli.CompareOptions, *cli.Session) (note string, err error) {
	return "", errNoRelease
}

// capture implements controlled.
func (f *argoDiff) capture(
	context.Context, cli.Streams, *cli.CompareOptions, drift.Connection, string, []string, *pflag.FlagSet,
) (captured, error) {
	return captured{}, errNoRelease
}

// question returns a question about Applications. Foreign text is read in child processes. Done removes the bases of kustomize that were
// fetched.
func (f *argoDiff) question(s cli.Streams, o *cli.CompareOptions, limits jobs.Limits) (q argo.Question, done func()) {
	bases := &kustomize.Fetcher{Time: limits.Time, MaxOutput: limits.MaxAnswer()}
	from := source.Fetcher{
		Source: o.Source, Fetch: limits.FetchChart,
		Commit: source.Commits(func(ctx context.Context, order source.CommitOrder) ([]byte, error) {
			if order.Tree != "" {
				return program.Archive(ctx, order.Tree, order.Ref, limits.MaxAnswer())
			}
			return program.Remote{URL: order.URL, Ref: order.Ref, IsOwn: !order.Foreign, Addresses: order.Addresses, Time: limits.Time,
				MaxOutput: limits.MaxAnswer()}.Fetch(ctx)
		}, program.CommitOf),
	}
	chart := o.Chart("")
	return argo.Question{
		KubeVersion: chart.KubeVersion, APIVersions: chart.APIVersions,
		Fetcher: from, Known: s.Known, Now: time.Now(), Render: limits.RenderChart, ReadManifest: limits.ReadManifest,
		Kustomize: func(ctx context.Context, order source.KustomizeOrder) (string, error) {
			order.FetchesBases = f.RemoteBases
			return jobs.Run[source.KustomizeOrder, string](ctx, limits, "building the kustomization "+order.Folder, jobArgoKustomize, order,
				map[string]confine.Call{askArgoBase: confine.NewCall(bases.Fetch)})
		},
		Ignore: func(ctx context.Context, order ignored.Order) (ignored.Answer, error) {
			return jobs.Run[ignored.Order, ignored.Answer](ctx, limits, "evaluating jqPathExpressions", jobArgoIgnore, order, nil)
		},
	}, bases.Close
}
