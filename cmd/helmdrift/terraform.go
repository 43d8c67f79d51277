package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/terraform"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff --plan: what Terraform or OpenTofu does next with the releases of a plan. internal/terraform finds out what to compare.

// jobTerraformPlan is the job of a child process that reads a plan.
const jobTerraformPlan = "terraform-plan"

// terraformGuest returns diff of a plan as a guest.
func terraformGuest() guest {
	return guest{
		files: []func(cli.Streams, *cli.Connection) objectFile{
			func(s cli.Streams, c *cli.Connection) objectFile { return &terraformDiff{Streams: s, connection: c} },
		},
		jobs: map[string]confine.Job{
			jobTerraformPlan: confine.NewJob(func(_ context.Context, _ *confine.Parent, text []byte) (*terraform.Plan, error) {
				return terraform.Read(text)
			}),
		},
	}
}

// terraformDiff implements objectFile for a plan.
type terraformDiff struct {
	cli.Streams
	connection *cli.Connection
	// plan is the file with the JSON of the plan, or "-". plans are all that the flag of diff names.
	plan  string
	plans []string
	// flags are those of the command.
	flags *pflag.FlagSet
}

// addFlags implements objectFile.
func (t *terraformDiff) addFlags(fs *pflag.FlagSet) {
	t.flags = fs
	fs.StringArrayVar(&t.plans, "plan", nil,
		"compare what Terraform or OpenTofu does next with the releases of a plan: a `file` of terraform show -json, or -; "+
			"with --next or --from, may be repeated")
}

// addKeepFlags implements objectFile.
func (t *terraformDiff) addKeepFlags(fs *pflag.FlagSet) {
	t.flags = fs
	fs.StringVar(&t.plan, "plan", "",
		"with an ADDRESS instead of RELEASE CHART, take both from a plan: a `file` of terraform show -json, or -")
}

// isNamed implements objectFile.
func (t *terraformDiff) isNamed() bool { return t.flags.Changed("plan") }

// each implements objectFile.
func (t *terraformDiff) each() []objectFile {
	return eachFile(t.plans, func(plan string) objectFile {
		one := *t
		one.plan = plan
		return &one
	}, t)
}

// words implements objectFile.
func (t *terraformDiff) words() fileWords { return fileWords{"--plan", "plan", "ADDRESS"} }

// open implements objectFile.
func (t *terraformDiff) open(ctx context.Context, o *cli.CompareOptions, addresses []string, joined bool) (openFile, error) {
	plan, chosen, err := t.choose(ctx, o, addresses, joined)
	if err != nil {
		return openFile{}, err
	}
	var isBegun atomic.Bool // once all was called
	return openFile{
		isOne: len(chosen) == 1, namespaces: terraform.Namespaces(chosen), close: func() {},
		report: func(ctx context.Context, o diffOptions) error { return t.report(ctx, o, plan, chosen[0]) },
		all: func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
			fleet := terraform.Fleet{Question: t.question(o, limits), Problems: plan.Problems, IsFirst: !isBegun.Swap(true), On: on}
			return fleet.Compare(ctx, chosen)
		},
	}, nil
}

// report compares a release and prints its report.
func (t *terraformDiff) report(ctx context.Context, o diffOptions, plan *terraform.Plan, r terraform.Release) error {
	step, d, err := t.begin(ctx, &o.CompareOptions, r, "diff")
	if err != nil {
		return err
	}
	d.Use(step.Target, d.Connection, step.Adapt(d.Options))
	return o.report(ctx, t.Streams, d, t.flags, time.Now, func(result *drift.Result, out *report.Release) {
		step.Finish(ctx, result, out)
		for _, problem := range plan.Problems {
			out.Errors = append(out.Errors, report.Message{Code: terraform.CodeIncomplete, Message: problem})
		}
	})
}

// choose reads the plan and returns the releases that addresses and -n choose.
func (t *terraformDiff) choose(
	ctx context.Context, o *cli.CompareOptions, addresses []string, joined bool,
) (plan *terraform.Plan, chosen []terraform.Release, err error) {
	if plan, err = t.read(ctx, o); err != nil {
		return nil, nil, err
	}
	var namespaces []string
	if t.flags.Changed("namespace") && !joined {
		namespaces = strings.Split(t.connection.Namespace, ",")
	}
	chosen, err = plan.Choose(addresses, namespaces)
	return plan, chosen, err
}

// keep implements objectFile.
func (t *terraformDiff) keep(ctx context.Context, o *cli.CompareOptions, addresses []string, _ bool) (d cli.Session, out kept, err error) {
	refusals := append(t.refused(),
		cli.Refusal{Flags: []string{"write"}, Advice: "absorb writes no HCL; -o hcl prints the values for the configuration"})
	if err := cli.Refuse(t.flags, refusals, "--plan"); err != nil {
		return d, out, err
	}
	if err := t.check(); err != nil {
		return d, out, err
	}
	_, chosen, err := t.choose(ctx, o, addresses, false)
	if err != nil {
		return d, out, err
	}
	if len(addresses) != 1 || len(chosen) != 1 {
		return d, out, hint.New(errors.New("absorb takes one helm_release of the plan"), "helmdrift absorb --plan FILE ADDRESS -o hcl")
	}
	step, d, err := t.begin(ctx, o, chosen[0], "absorb")
	if err == nil {
		err = step.Keep()
	}
	if err != nil {
		d.Quiet()
		return d, out, err
	}
	out.of, out.check = report.ObjectKey{Key: step.Resource()}, step.CheckEdits
	out.warnings, out.errors = step.Remarks()
	d.Use(step.Target, d.Connection, step.Adapt(d.Options))
	return d, out, nil
}

// begin connects to the cluster and finds out what Terraform does with a release.
func (t *terraformDiff) begin(
	ctx context.Context, o *cli.CompareOptions, r terraform.Release, command string,
) (step *terraform.Step, d cli.Session, err error) {
	if d, err = o.Begin(ctx, []string{cmp.Or(r.Now.Name, r.Address)}, command); err != nil {
		return nil, d, err
	}
	if step, err = terraform.New(ctx, d.Connection, t.question(o, o.Jobs()), r); err != nil {
		d.Quiet()
	}
	return step, d, err
}

// refused implements objectFile.
func (t *terraformDiff) refused() []cli.Refusal {
	// --post-renderer allows the program that the plan names; see question.
	decided := cli.Without(cli.DecidedBy("plan", "Terraform installs and upgrades"), []string{"post-renderer"})
	return append(decided, []cli.Refusal{
		{Flags: []string{"helmfile", "environment", "state-values-file", "state-values-set", "state-values-set-string"},
			Advice: "diff -A --next --plan FILE --helmfile FILE has one report of both"},
		{Flags: append([]string{"snapshot"}, controllerFlags()...), Advice: "a plan is another source of what comes next"},
		{Flags: []string{"contexts", "all-contexts", "selector", "filter", "exclude", "status", "shard"},
			Advice: "--plan FILE ADDRESS and -n choose from the releases of the plan, and --kube-context chooses the cluster"},
		{Flags: []string{"revision", "to-revision"}, Advice: "it shows what Terraform does next; for a stored revision, name the release"},
		{Flags: []string{"version", "devel", "repo", "username", "password", "cert-file", "key-file", "ca-file", "pass-credentials", "verify"},
			Advice: "the chart is that of the plan"},
	}...)
}

// takes implements objectFile.
func (t *terraformDiff) takes() []string { return []string{"plan"} }

// check implements objectFile.
func (t *terraformDiff) check() error {
	if t.plan == "" {
		return hint.New(errors.New("--plan names no file"), "terraform show -json tfplan > plan.json makes it")
	}
	return nil
}

// read reads the plan in a child process.
func (t *terraformDiff) read(ctx context.Context, o *cli.CompareOptions) (*terraform.Plan, error) {
	text, err := terraform.Text(t.plan, t.In)
	if err != nil {
		return nil, err
	}
	plan, err := jobs.Run[[]byte, *terraform.Plan](ctx, o.Jobs(), "reading the plan", jobTerraformPlan, text, nil)
	if err != nil {
		return nil, fmt.Errorf("--plan %s: %w", t.plan, err)
	}
	return plan, nil
}

// question returns a question about the releases of a plan.
func (t *terraformDiff) question(o *cli.CompareOptions, limits jobs.Limits) terraform.Question {
	return terraform.Question{
		Chart: o.Chart(""), Source: o.Source, Fetch: limits.FetchChart, Known: t.Known,
		PostRenderer: func(command []string) func(context.Context, []byte) ([]byte, error) {
			if allowed, err := t.flags.GetString("post-renderer"); err != nil || allowed != command[0] {
				return nil
			}
			return program.PostRenderer{Command: command[0], Args: command[1:], MaxOutput: limits.MaxAnswer()}.Run
		},
	}
}
