package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/argo"
	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff app/NAME and diff --next of Applications: what the next sync of Argo CD writes. internal/argo finds out what to compare.

// argoGuest returns diff of an Application as a guest.
func argoGuest() guest {
	return guest{controlled: func(o *cli.ControllerOptions) controlled { return &argoDiff{o} }}
}

// argoDiff implements controlled for an Application.
type argoDiff struct {
	*cli.ControllerOptions
}

// words implements controlled.
func (f *argoDiff) words() objectWords {
	return objectWords{
		kinds: []string{"app", "application", "applications", "application.argoproj.io", "applications.argoproj.io"},
		one:   "Application", controller: "Argo CD", lists: "kubectl get applications -A",
		sync: "argocd app sync",
	}
}

// unsupported returns the flags that helmdrift has for a HelmRelease and not for an Application.
func (f *argoDiff) unsupported() []refusal {
	return []refusal{
		{[]string{"from", "local-source", "sops", "allow-remote-bases", "only-changed", "allow-secret-lookups"},
			"a working tree is compared only for HelmReleases of Flux; give the folder of the source as CHART"},
		{[]string{"with-source-credentials"}, "log in with helm, or set the credentials of git"},
		{[]string{"dry-run"}, "the API server tries only writes of Helm"},
		{[]string{"snapshot"}, "a snapshot has a release of Helm"},
	}
}

// run implements controlled.
func (f *argoDiff) run(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error {
	refusals := append(refused(f, o.guests), f.unsupported()...)
	name, err := checkOne(f, f.ControllerOptions, args, flags, append(refusals, refusal{scanFlags(o.guests),
		"app/NAME is one Application; helmdrift diff -A --next compares all of them"}))
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
	question := f.question(s, &o.CompareOptions, o.Jobs())
	question.Namespace, question.Name = d.Target.Namespace, name
	if d.Target.Chart != nil {
		question.Chart, question.Own = d.Target.Chart, true
	}
	plan, err := argo.New(ctx, d.Connection, question)
	if err != nil {
		d.Quiet()
		return err
	}
	defer plan.Close()
	d.Target = plan.Target
	d.Use(plan.Connection, plan.Adapt(d.Options))
	o.finish = plan.Finish
	return o.report(ctx, s, d, known, flags, time.Now)
}

// all implements controlled.
func (f *argoDiff) all(s cli.Streams, o diffOptions) (compareAll, error) {
	if !f.Next {
		return nil, nil // a working tree is not searched for Applications
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
		limits := o.Jobs()
		fleet := argo.Fleet{Question: f.question(s, &o.CompareOptions, limits), Options: options, List: on.list, Each: on.eachUnlabelled, Progress: on.show}
		fleet.Namespace = on.namespace
		fleet.Report = func(result *drift.Result, p *argo.Plan) report.Release {
			one := o
			one.finish = p.Finish
			return one.release(result, known)
		}
		found, err := fleet.Compare(ctx, on.unlabelled)
		if err == nil && len(found) == 0 {
			err = errNothing
		}
		return found, err
	}, nil
}

// errNoRelease is the error of what needs a release of Helm. checkRelease refuses it before, with advice.
var errNoRelease = errors.New("an Application has no release of Helm")

// release implements controlled. A fix would write beside Argo CD, which has a command that writes the same.
func (f *argoDiff) release(context.Context, cli.Streams, *cli.CompareOptions, *cli.Session) (note string, err error) {
	return "", errNoRelease
}

// keep implements controlled.
func (f *argoDiff) keep(
	_ context.Context, _ cli.Streams, _ *cli.CompareOptions, args []string, _ *pflag.FlagSet,
) (d cli.Session, out kept, err error) {
	_, name, _ := strings.Cut(args[0], "/")
	return d, out, hint.New(errNoRelease, "compare with the chart: helmdrift absorb "+name+" CHART --install -o argocd")
}

// capture implements controlled.
func (f *argoDiff) capture(
	context.Context, cli.Streams, *cli.CompareOptions, drift.Connection, string, []string, *pflag.FlagSet,
) (captured, error) {
	return captured{}, errNoRelease
}

// complete implements controlled.
func (f *argoDiff) complete(ctx context.Context, c *cli.Connection, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	kind, _, _ := strings.Cut(word, "/")
	return cli.CompleteKind(ctx, c, argo.Kind(), kind+"/")
}

// question returns a question about Applications. Foreign text is read in child processes.
func (f *argoDiff) question(s cli.Streams, o *cli.CompareOptions, limits jobs.Limits) argo.Question {
	return argo.Question{
		Source: o.Source, Fetch: limits.FetchChart, Known: s.Known, Now: time.Now(), Render: limits.RenderChart, ReadManifest: limits.ReadManifest,
		Commit: func(ctx context.Context, url, ref string) (dir, commit string, done func(), err error) {
			archive, err := program.Remote{URL: url, Ref: ref, IsOwn: true, Time: limits.Time, MaxOutput: limits.MaxAnswer()}.Fetch(ctx)
			if err != nil {
				return "", "", func() {}, err
			}
			dir, done, err = files.Unpack(archive)
			return dir, program.CommitOf(archive), done, err
		},
	}
}
