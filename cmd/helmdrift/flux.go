package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
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
	// next asks about all HelmReleases.
	next bool
}

// addFlags implements controlled.
func (f *fluxDiff) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.withCredentials, "with-source-credentials", false,
		"with hr/NAME or --next, fetch charts with the Secrets that their sources in the cluster name")
	fs.BoolVar(&f.next, "next", false, "compare what Flux does next with the releases of all HelmReleases of the namespace, or with -A of the cluster")
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
	case f.next:
		return "", fmt.Errorf("--next compares all HelmReleases, and %s is one", args[0])
	case name == "":
		return "", hint.New(fmt.Errorf("%s names no HelmRelease", args[0]), "kubectl get helmreleases -A lists them")
	case strings.Contains(name, ","):
		return "", errors.New("hr/NAME is one HelmRelease: compare several one by one")
	case strings.Contains(name, "/"):
		return "", hint.New(fmt.Errorf("%s has two slashes", args[0]), "the namespace of the HelmRelease is -n NAMESPACE")
	}
	err = refuseFlags(flags, append(f.refused(o.guests), refusal{scanFlags(o.guests),
		"hr/NAME is one HelmRelease; helmdrift diff -A --next compares all of them"}), args[0])
	if err != nil {
		return "", err
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

// refuseFlags returns an error if one of the flags is set together with what is named.
func refuseFlags(flags *pflag.FlagSet, all []refusal, with string) error {
	for _, refused := range all {
		for _, flag := range refused.flags {
			if flags.Changed(flag) {
				return hint.New(fmt.Errorf("--%s cannot be used with %s", flag, with), refused.advice)
			}
		}
	}
	return nil
}

// refused returns the flags that cannot be used with one HelmRelease or with all.
func (f *fluxDiff) refused(all guest) []refusal {
	return []refusal{
		{[]string{"revision", "to-revision"},
			"it shows what Flux does next; for a stored revision, name the release: helmdrift diff RELEASE"},
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
	question := f.question(s, &o)
	question.Namespace, question.Name = d.Target.Namespace, name
	if d.Target.Chart != nil {
		question.Chart, question.Own = d.Target.Chart, true
	}
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
	o.finish = func(r *report.Release) { plan.Finish(ctx, r, from, d.Comparer) }
	return o.report(ctx, s, d, known, flags, time.Now)
}

// all implements controlled.
func (f *fluxDiff) all(s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) (compareAll, error) {
	if !f.next {
		return nil, nil
	}
	if len(args) > 0 {
		return nil, hint.New(errors.New("--next takes no release"), "for one HelmRelease: helmdrift diff hr/NAME -n NAMESPACE")
	}
	err := refuseFlags(flags, append(f.refused(o.guests), refusal{[]string{"selector", "filter", "exclude", "status", "shard"},
		"--next compares all HelmReleases of the namespace, or with -A of the cluster"}), "--next")
	if err != nil {
		return nil, err
	}
	known, err := saved.Baseline(o.baseline)
	if err != nil {
		return nil, err
	}
	options, err := o.OptionsWithRules()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, on scanned) ([]report.Release, error) {
		all := flux.Fleet{Question: f.question(s, &o), Options: options, List: on.list, Each: on.each, Progress: on.show}
		all.Namespace = on.namespace
		all.Report = func(result *drift.Result, p *flux.Plan, finish func(*report.Release)) report.Release {
			one := o
			one.learned, one.finish = p.Secrets(), finish
			return one.release(result, known)
		}
		found, err := all.Compare(ctx, on.Connection)
		if err == nil && len(found) == 0 {
			where := "any namespace"
			if on.namespace != "" {
				where = "namespace " + on.namespace
			}
			return nil, hint.New(fmt.Errorf("there are no HelmReleases in %s", where),
				"-n chooses the namespace, -A all of them; without --next, helmdrift diff compares releases with what is deployed")
		}
		return found, err
	}, nil
}

// complete implements controlled.
func (f *fluxDiff) complete(ctx context.Context, c *cli.Connection, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	kind, _, _ := strings.Cut(word, "/")
	return cli.CompleteKind(ctx, c, flux.Kind(), kind+"/")
}

// question returns a question about HelmReleases. Foreign text is read in child processes.
func (f *fluxDiff) question(s cli.Streams, o *diffOptions) flux.Question {
	limits := o.Jobs()
	return flux.Question{
		Chart: o.Chart(""), Source: o.Source, WithCredentials: f.withCredentials, Fetch: limits.FetchChart, Known: s.Known,
		Prepare: func(ctx context.Context, order flux.ChartOrder) (flux.ChartAnswer, error) {
			return jobs.Run[flux.ChartOrder, flux.ChartAnswer](ctx, limits, "reading the chart", jobFluxChart, order, nil)
		},
		PostRender: func(ctx context.Context, order flux.RenderOrder) ([]byte, error) {
			return jobs.Run[flux.RenderOrder, []byte](ctx, limits, "running the post-renderers", jobFluxRender, order, nil)
		},
	}
}
