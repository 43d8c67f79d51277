package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff hr/NAME: what Flux does next with the release of a HelmRelease. internal/flux finds out what to compare. flux_all.go
// asks that about many HelmReleases, and has the working tree of --from.

// These are the jobs of a child process for a HelmRelease.
const (
	jobFluxChart  = "flux-chart"
	jobFluxRender = "flux-render"
	jobFluxPost   = "flux-post-render"
	jobFluxTree   = "flux-tree"
)

// These are the questions of the job for a tree: about an object of the cluster, about what builds its folder there, about an encrypted
// text, and about a base.
const (
	askFlux = "flux"
	askRoot = "root"
	askSops = "sops"
	askBase = "base"
)

// fluxGuest returns diff of a HelmRelease as a guest.
func fluxGuest() guest {
	return guest{
		controllers: []func(*cli.ControllerOptions) controlled{func(o *cli.ControllerOptions) controlled { return &fluxDiff{o} }},
		jobs: map[string]confine.Job{
			jobFluxChart: confine.NewJob(func(ctx context.Context, _ *confine.Parent, o flux.ChartOrder) (flux.ChartAnswer, error) {
				return flux.PrepareChart(ctx, o)
			}),
			jobFluxRender: jobs.NewPostRendered(func(ctx context.Context, o flux.RenderOrder, manifest []byte) ([]byte, error) {
				o.Manifest = manifest
				return flux.PostRender(ctx, o)
			}),
			jobFluxPost: confine.NewJob(func(ctx context.Context, _ *confine.Parent, o flux.RenderOrder) ([]byte, error) {
				return flux.PostRender(ctx, o)
			}),
			jobFluxTree: confine.NewJob(func(ctx context.Context, p *confine.Parent, o tree.Order) (tree.Answer, error) {
				return applied.Build(ctx, o, applied.Questions{
					Lookup: func(_ context.Context, q applied.LookupOrder) ([]byte, error) {
						return confine.Ask[applied.LookupOrder, []byte](p, askFlux, q)
					},
					Makers: func(_ context.Context, made []tree.Asked) ([]tree.Candidate, error) {
						return confine.Ask[[]tree.Asked, []tree.Candidate](p, askRoot, made)
					},
					Decrypt: func(_ context.Context, e tree.Encrypted) ([]byte, error) {
						return confine.Ask[tree.Encrypted, []byte](p, askSops, e)
					},
					Fetch: func(_ context.Context, b kustomize.Base) (string, error) {
						return confine.Ask[kustomize.Base, string](p, askBase, b)
					},
				})
			}),
		},
	}
}

// fluxDiff implements controlled for a HelmRelease.
type fluxDiff struct {
	*cli.ControllerOptions
}

// words implements controlled.
func (f *fluxDiff) words() cli.ObjectWords {
	return cli.ObjectWords{
		Kinds: []string{"hr", "helmrelease", "helmreleases", "helmrelease.helm.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io"},
		GVK:   api.Kind(), One: "HelmRelease", Controller: "Flux", Lists: "kubectl get helmreleases -A",
	}
}

// run implements controlled.
func (f *fluxDiff) run(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error {
	name, err := f.words().CheckOne(f.ControllerOptions, args, flags, append(refused(f, o.guests), cli.Refusal{Flags: scanFlags(o.guests),
		Advice: "hr/NAME is one HelmRelease; helmdrift diff -A --next compares all of them"}))
	if err != nil {
		return err
	}
	from, err := f.tree(s, &o.CompareOptions)
	if err != nil {
		return err
	}
	d, now, err := f.session(ctx, &o, name, args, flags)
	if err != nil {
		return err
	}
	question := f.question(s, &o.CompareOptions, o.Jobs())
	question.Namespace, question.Name = d.Target.Namespace, name
	if d.Target.Chart != nil {
		question.Chart, question.Own = d.Target.Chart, true
	}
	if question.Tree, _, err = from.Trees(ctx, d.Connection, api.HelmReleaseRef(d.Target.Namespace, name)); err != nil {
		d.Quiet()
		return err
	}
	plan, err := flux.New(ctx, d.Connection, question)
	if err != nil {
		d.Quiet()
		return err
	}
	defer plan.Close()
	d.Use(plan.Target, plan.Connection, plan.Adapt(d.Options))
	return o.report(ctx, s, d, flags, now, func(result *drift.Result, r *report.Release) { plan.Finish(ctx, result, r) })
}

// release implements controlled. It fetches no chart: what the controller has is enough to say what it does next.
func (f *fluxDiff) release(ctx context.Context, s cli.Streams, o *cli.CompareOptions, d *cli.Session) (note string, err error) {
	q := f.question(s, o, o.Jobs())
	q.Namespace, q.Name = d.Target.Namespace, d.Target.Release
	q.Commit, q.Bucket = nil, nil
	q.Fetch = func(context.Context, string, fetch.Options) (string, func(), error) {
		return "", nil, errors.New("no chart is fetched")
	}
	next, err := flux.Next(ctx, d.Connection, q)
	if err != nil {
		return "", err
	}
	d.Target.Namespace, d.Target.Release = next.Namespace, next.Release
	return next.AboutFix, nil
}

// question returns a question about HelmReleases. Foreign text is read in child processes.
func (f *fluxDiff) question(s cli.Streams, o *cli.CompareOptions, limits jobs.Limits) flux.Question {
	return flux.Question{
		Chart: o.Chart(""), Source: o.Source, WithCredentials: f.WithCredentials, Fetch: limits.FetchChart, Known: s.Known,
		Commit: flux.Commits(func(ctx context.Context, order flux.CommitOrder) ([]byte, error) {
			return program.Remote{URL: order.URL, Ref: order.Ref, IsOwn: !order.InTree, Addresses: order.Addresses, Username: order.Username,
				Password: order.Password, Time: limits.Time, MaxOutput: limits.MaxAnswer()}.Fetch(ctx)
		}),
		Bucket: flux.Buckets(o.Source, limits.Time, limits.MaxAnswer()),
		Prepare: func(ctx context.Context, order flux.ChartOrder) (flux.ChartAnswer, error) {
			return order.InTemp(func(order flux.ChartOrder) (flux.ChartAnswer, error) {
				return jobs.Run[flux.ChartOrder, flux.ChartAnswer](ctx, limits, "reading the chart", jobFluxChart, order, nil)
			})
		},
		PostRender: func(ctx context.Context, order flux.RenderOrder) ([]byte, error) {
			return jobs.Run[flux.RenderOrder, []byte](ctx, limits, "running the post-renderers", jobFluxPost, order, nil)
		},
		Render: func(ctx context.Context, q drift.ChartRequest, order flux.RenderOrder) (*drift.RenderedChart, error) {
			return jobs.RenderPostRendered(ctx, limits, jobFluxRender, q, order)
		},
	}
}
