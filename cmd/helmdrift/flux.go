package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file is diff hr/NAME: what Flux does next with the release of a HelmRelease. internal/flux finds out what to compare.

// These are the jobs of a child process for a HelmRelease.
const (
	jobFluxChart  = "flux-chart"
	jobFluxRender = "flux-render"
)

// fluxGuest returns diff of a HelmRelease as a guest.
func fluxGuest() guest {
	return guest{
		controlled: func() controlled { return &fluxDiff{} },
		jobs: map[string]confine.Job{
			jobFluxChart: confine.NewJob(func(ctx context.Context, _ *confine.Parent, o flux.ChartOrder) (flux.ChartAnswer, error) {
				return flux.PrepareChart(ctx, o)
			}),
			jobFluxRender: confine.NewJob(func(ctx context.Context, _ *confine.Parent, o flux.RenderOrder) ([]byte, error) {
				return flux.PostRender(ctx, o)
			}),
		},
	}
}

// fluxDiff implements controlled for a HelmRelease.
type fluxDiff struct {
	// withCredentials uses the credentials of the sources in the cluster.
	withCredentials bool
}

// addFlags implements controlled.
func (f *fluxDiff) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.withCredentials, "with-source-credentials", false,
		"with hr/NAME, fetch the chart with the Secret that its source in the cluster names")
}

// fluxKinds are the words for a HelmRelease in front of a slash. They are those of kubectl.
func fluxKinds() []string {
	return []string{"hr", "helmrelease", "helmreleases", "helmrelease.helm.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io"}
}

// isNamed implements controlled.
func (f *fluxDiff) isNamed(args []string) bool {
	if len(args) == 0 {
		return false
	}
	kind, _, found := strings.Cut(args[0], "/")
	return found && slices.Contains(fluxKinds(), strings.ToLower(kind))
}

// check refuses what a HelmRelease decides itself, and what needs a release or a saved cluster.
func (f *fluxDiff) check(o diffOptions, args []string, flags *pflag.FlagSet) (name string, err error) {
	_, name, _ = strings.Cut(args[0], "/")
	switch {
	case name == "":
		return "", hint.New(fmt.Errorf("%s names no HelmRelease", args[0]), "kubectl get helmreleases -A lists them")
	case strings.Contains(name, ","):
		return "", errors.New("hr/NAME is one HelmRelease: compare several one by one")
	case strings.Contains(name, "/"):
		return "", hint.New(fmt.Errorf("%s has two slashes", args[0]), "the namespace of the HelmRelease is -n NAMESPACE")
	}
	for _, refused := range f.refused(o.guests) {
		for _, flag := range refused.flags {
			if flags.Changed(flag) {
				return "", hint.New(fmt.Errorf("--%s cannot be used with %s", flag, args[0]), refused.advice)
			}
		}
	}
	for _, flag := range []string{"version", "repo", "verify", "devel"} {
		if flags.Changed(flag) && len(args) < 2 {
			return "", hint.New(fmt.Errorf("--%s needs a CHART", flag), "without CHART, the chart is the one of the HelmRelease")
		}
	}
	return name, nil
}

// refusal is why some flags cannot be used with a HelmRelease.
type refusal struct {
	flags  []string
	advice string
}

// refused returns the flags that cannot be used.
func (f *fluxDiff) refused(all guest) []refusal {
	return []refusal{
		{[]string{"revision", "to-revision"},
			"hr/NAME shows what Flux does next; for a stored revision, name the release: helmdrift diff RELEASE"},
		{scanFlags(all), "hr/NAME is one HelmRelease; helmdrift diff -A compares all releases with what is deployed"},
		{[]string{"snapshot"}, "a snapshot has no HelmRelease; helmdrift diff --snapshot FILE compares what it has"},
		{append([]string{"fix"}, fixFlags(all)...), "put back the drift of the release: helmdrift fix RELEASE"},
		{[]string{"values", "set", "set-string", "set-json", "set-file", "set-literal", "reset-values", "reuse-values",
			"reset-then-reuse-values"}, "the values are those of the HelmRelease"},
		{[]string{"install", "skip-crds", "create-namespace", "helm-version", "server-side", "force-conflicts", "force", "force-replace",
			"take-ownership", "no-hooks", "enable-dns", "skip-schema-validation", "post-renderer", "post-renderer-args"},
			"the HelmRelease says how Flux installs and upgrades"},
	}
}

// run implements controlled.
func (f *fluxDiff) run(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error {
	name, err := f.check(o, args, flags)
	if err != nil {
		return err
	}
	known, err := saved.Baseline(o.baseline)
	if err != nil {
		return err
	}
	d, err := o.Begin(ctx, append([]string{name}, args[1:]...), "diff")
	if err != nil {
		return err
	}
	question := f.question(s, &o, d, name)
	plan, err := flux.New(ctx, d.Connection, question)
	if err != nil {
		d.Quiet()
		return err
	}
	defer plan.Close()
	from := d.Connection.Cluster
	d.Target = plan.Target
	d.Use(d.Connection, plan.Adapt(d.Options))
	o.learned = plan.Secrets()
	o.finish = func(r *report.Release) {
		plan.Finish(ctx, r, from, func(ctx context.Context, t drift.Target) (report.Release, error) {
			result, err := d.Comparer.Compare(ctx, t)
			if err != nil {
				return report.Release{}, err
			}
			return result.Report(threeway.Mask{}), nil
		})
	}
	return o.report(ctx, s, d, known, flags, time.Now)
}

// question returns the question about a HelmRelease. Foreign text is read in child processes.
func (f *fluxDiff) question(s cli.Streams, o *diffOptions, d cli.Session, name string) flux.Question {
	limits := o.Jobs()
	out := flux.Question{
		Namespace: d.Target.Namespace, Name: name, Chart: d.Target.Chart, Own: d.Target.Chart != nil,
		Source: o.Source, WithCredentials: f.withCredentials, Fetch: limits.FetchChart, Known: s.Known,
		Prepare: func(ctx context.Context, order flux.ChartOrder) (flux.ChartAnswer, error) {
			return jobs.Run[flux.ChartOrder, flux.ChartAnswer](ctx, limits, "reading the chart", jobFluxChart, order, nil)
		},
		PostRender: func(ctx context.Context, order flux.RenderOrder) ([]byte, error) {
			return jobs.Run[flux.RenderOrder, []byte](ctx, limits, "running the post-renderers", jobFluxRender, order, nil)
		},
	}
	if out.Chart == nil {
		out.Chart = o.Chart("")
	}
	return out
}
