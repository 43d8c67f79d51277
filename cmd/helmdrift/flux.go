package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff hr/NAME: what Flux does next with the release of a HelmRelease. internal/flux finds out what to compare. flux_all.go asks
// that about many HelmReleases, and has the working tree of --from.

// These are the jobs of a child process for a HelmRelease.
const (
	jobFluxChart  = "flux-chart"
	jobFluxRender = "flux-render"
	jobFluxPost   = "flux-post-render"
	jobFluxTree   = "flux-tree"
)

// These are the questions of the job for a tree: about an object of the cluster, about an encrypted text, and about a base.
const (
	askFlux = "flux"
	askSops = "sops"
	askBase = "base"
)

// fluxGuest returns diff of a HelmRelease as a guest.
func fluxGuest() guest {
	return guest{
		controlled: func() controlled { return &fluxDiff{} },
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
					Lookup: func(q applied.LookupOrder) ([]byte, error) {
						return confine.Ask[applied.LookupOrder, []byte](p, askFlux, q)
					},
					Decrypt: func(e tree.Encrypted) ([]byte, error) { return confine.Ask[tree.Encrypted, []byte](p, askSops, e) },
					Fetch:   func(b tree.Base) (string, error) { return confine.Ask[tree.Base, string](p, askBase, b) },
				})
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
	// from is the folder of a working tree, or "-", and sources are folders with the content of sources.
	from    string
	sources []string
	// sops decrypts with the user's sops, remoteBases fetches bases that the tree names, and secretLookups lets its charts look up Secrets.
	sops, remoteBases, secretLookups bool
	// changed is the commit before a change. If it is set, only what differs from it is compared.
	changed string
}

// addFlags implements controlled.
func (f *fluxDiff) addFlags(fs *pflag.FlagSet) {
	f.addSourceFlags(fs, "with hr/NAME or --next",
		"compare what Flux does once this `folder` of a working tree of Git is merged; - for the output of kustomize build")
	fs.BoolVar(&f.next, "next", false, "compare what Flux does next with the releases of all HelmReleases of the namespace, or with -A of the cluster")
	fs.BoolVar(&f.secretLookups, "allow-secret-lookups", false, "with --from, let charts look up Secrets of the cluster")
	fs.StringVar(&f.changed, "only-changed", "", "with --from, compare only the HelmReleases whose inputs differ from those of this `commit`, such as origin/main")
}

// addSourceFlags adds the flags that say where charts and objects come from.
func (f *fluxDiff) addSourceFlags(fs *pflag.FlagSet, with, from string) {
	fs.BoolVar(&f.withCredentials, "with-source-credentials", false, with+", fetch charts with the Secrets that their sources in the cluster name")
	fs.StringVar(&f.from, "from", "", from)
	fs.StringArrayVar(&f.sources, "local-source", nil, "with --from, a `KIND/NAMESPACE/NAME=FOLDER` that has the content of a source; may be repeated")
	fs.BoolVar(&f.sops, "sops", false, "with --from, decrypt with your sops what the tree has encrypted; the text stays in memory")
	fs.BoolVar(&f.remoteBases, "allow-remote-bases", false, "with --from, fetch the bases of kustomize that the tree names on other servers")
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
func (f *fluxDiff) check(args []string, flags *pflag.FlagSet, refused []refusal) (name string, err error) {
	_, name, _ = strings.Cut(args[0], "/")
	switch {
	case f.next:
		return "", fmt.Errorf("--next compares all HelmReleases, and %s is one", args[0])
	case f.changed != "":
		return "", fmt.Errorf("--only-changed chooses from all HelmReleases of a tree, and %s is one", args[0])
	case f.from == "" && f.needsTree():
		return "", errNeedsTree
	case f.from != "" && len(args) > 1:
		return "", hint.New(errors.New("--from takes no CHART"), "the chart is the one of the HelmRelease in the tree")
	case name == "":
		return "", hint.New(fmt.Errorf("%s names no HelmRelease", args[0]), "kubectl get helmreleases -A lists them")
	case strings.Contains(name, ","):
		return "", errors.New("hr/NAME is one HelmRelease: name several one by one")
	case strings.Contains(name, "/"):
		return "", hint.New(fmt.Errorf("%s has two slashes", args[0]), "the namespace of the HelmRelease is -n NAMESPACE")
	}
	if err := refuseFlags(flags, refused, args[0]); err != nil {
		return "", err
	}
	for _, flag := range []string{"version", "repo", "verify", "devel"} {
		if flags.Changed(flag) && len(args) < 2 {
			return "", hint.New(fmt.Errorf("--%s needs a CHART", flag), "without CHART, the chart is the one of the HelmRelease")
		}
	}
	return name, nil
}

// errNeedsTree is the error of flags about a working tree without one.
var errNeedsTree = errors.New("--local-source, --only-changed, --sops, --allow-remote-bases and --allow-secret-lookups need --from")

// needsTree reports whether flags are about a working tree.
func (f *fluxDiff) needsTree() bool {
	return len(f.sources) > 0 || f.changed != "" || f.sops || f.remoteBases || f.secretLookups
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

// refused returns the flags that diff refuses with one HelmRelease or with all.
func (f *fluxDiff) refused(all guest) []refusal {
	return append(f.decided(), refusal{append([]string{"fix"}, fixFlags(all)...), "put back the drift of the release: helmdrift fix RELEASE"})
}

// withoutSnapshot refuses a snapshot.
func withoutSnapshot() refusal {
	return refusal{[]string{"snapshot"}, "a snapshot has one HelmRelease: helmdrift diff hr/NAME --snapshot FILE compares it"}
}

// decided returns the flags about what a HelmRelease decides itself.
func (f *fluxDiff) decided() []refusal {
	return []refusal{
		{[]string{"revision", "to-revision"},
			"it shows what Flux does next; for a stored revision, name the release: helmdrift diff RELEASE"},
		{[]string{"values", "set", "set-string", "set-json", "set-file", "set-literal", "reset-values", "reuse-values",
			"reset-then-reuse-values"}, "the values are those of the HelmRelease"},
		{[]string{"install", "skip-crds", "create-namespace", "helm-version", "server-side", "force-conflicts", "force", "force-replace",
			"take-ownership", "no-hooks", "enable-dns", "skip-schema-validation", "post-renderer", "post-renderer-args"},
			"the HelmRelease says how Flux installs and upgrades"},
	}
}

// run implements controlled.
func (f *fluxDiff) run(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error {
	name, err := f.check(args, flags, append(f.refused(o.guests), refusal{scanFlags(o.guests),
		"hr/NAME is one HelmRelease; helmdrift diff -A --next compares all of them"}))
	if err != nil {
		return err
	}
	known, err := saved.Baseline(o.baseline)
	if err != nil {
		return err
	}
	order, err := f.order(s)
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
	if question.Tree, _, err = f.trees(ctx, s, order, &o.CompareOptions, d.Connection); err != nil {
		d.Quiet()
		return err
	}
	plan, err := flux.New(ctx, d.Connection, question)
	if err != nil {
		d.Quiet()
		return err
	}
	defer plan.Close()
	d.Target = plan.Target
	d.Use(plan.Connection, plan.Adapt(d.Options))
	o.learned = plan.Secrets()
	o.finish = func(result *drift.Result, r *report.Release) { plan.Finish(ctx, result, r) }
	return o.report(ctx, s, d, known, flags, now)
}

// release implements controlled. It fetches no chart: what the controller has is enough to say what it does next.
func (f *fluxDiff) release(ctx context.Context, s cli.Streams, o *cli.CompareOptions, d *cli.Session) (note string, err error) {
	q := f.question(s, o, o.Jobs())
	q.Namespace, q.Name = d.Target.Namespace, d.Target.Release
	q.Commit = nil
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

// complete implements controlled.
func (f *fluxDiff) complete(ctx context.Context, c *cli.Connection, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	kind, _, _ := strings.Cut(word, "/")
	return cli.CompleteKind(ctx, c, api.Kind(), kind+"/")
}

// question returns a question about HelmReleases. Foreign text is read in child processes.
func (f *fluxDiff) question(s cli.Streams, o *cli.CompareOptions, limits jobs.Limits) flux.Question {
	return flux.Question{
		Chart: o.Chart(""), Source: o.Source, WithCredentials: f.withCredentials, Fetch: limits.FetchChart, Known: s.Known,
		Commit: flux.Commits(func(ctx context.Context, order flux.CommitOrder) ([]byte, error) {
			return program.Remote{URL: order.URL, Ref: order.Commit, IsOwn: !order.InTree, Addresses: order.Addresses, Username: order.Username,
				Password: order.Password, Time: limits.Time, MaxOutput: limits.MaxAnswer()}.Fetch(ctx)
		}),
		Prepare: func(ctx context.Context, order flux.ChartOrder) (flux.ChartAnswer, error) {
			return jobs.Run[flux.ChartOrder, flux.ChartAnswer](ctx, limits, "reading the chart", jobFluxChart, order, nil)
		},
		PostRender: func(ctx context.Context, order flux.RenderOrder) ([]byte, error) {
			return jobs.Run[flux.RenderOrder, []byte](ctx, limits, "running the post-renderers", jobFluxPost, order, nil)
		},
		Render: func(ctx context.Context, q drift.ChartRequest, order flux.RenderOrder) (*drift.RenderedChart, error) {
			return jobs.RenderPostRendered(ctx, limits, jobFluxRender, q, order)
		},
	}
}
