package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
)

// newFix returns the command fix. It lacks the flags of diff that choose a desired state, because it puts back only what Helm deployed.
func newFix(s cli.Streams, c *cli.Connection, all guest) *cobra.Command {
	o, compare, controllers := newFixFlags(all), cli.NewCompareOptions(s, c, all.forecast), newControllers(all)
	cmd := &cobra.Command{
		Use:   "fix [RELEASE]",
		Short: "Put back what drifted in a release, and nothing else",
		Long: `fix puts back what drifted in a release: the fields that diff RELEASE reports as drift, in
built-in kinds and in custom resources, and missing objects. It shows its plan and asks; without
a terminal it needs --yes. Afterwards it compares again and reports the result. With --wait it
also waits until what it put back is ready, and says why if it is not. With hr/NAME it fixes the
release of a HelmRelease, which is in -n, and says what Flux makes of that. Without RELEASE it
takes the only release of the namespace, and refuses if there are several.

Each field is written as Helm deployed it. The API server refuses a write if anything that it
depends on has changed meanwhile. Nothing outside the plan is touched, no hook runs, and no
revision is written. What fix cannot put back safely it leaves, and says why. With --prune it
also removes what a person added and no manifest names. The plan says which pods restart; with
--no-restart, fix leaves the fields that would restart any.

For charts, values and other revisions, use helm upgrade and helm rollback.

Exit codes:
  0  everything that fix can put back is as Helm deployed it
  1  usage error or failure; something could not be read; or, with --wait, something did not come up
  2  drift remains: you did not confirm or select it, it was a dry run, or the result says why`,
		Example: `  helmdrift fix web -n prod
  helmdrift fix web -n prod --dry-run=server
  helmdrift fix web -n prod --yes --only Deployment/web --backup ./before
  helmdrift fix web -n prod --yes --skip ConfigMap/flags --skip Deployment/web:spec.replicas
  helmdrift fix web -n prod --prune --dry-run
  helmdrift fix web -n prod --yes --wait --wait-timeout 10m
  helmdrift fix web -n prod --yes -o json
  helmdrift fix hr/web -n shop`,
		Args:              oneRelease,
		ValidArgsFunction: controllers.complete(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(compare.CheckRevision(), o.Check(cmd.Flags())); err != nil {
				return err
			}
			return runFix(cmd.Context(), s, compare, o, controllers.named(args), args)
		},
	}
	fs := cmd.Flags()
	cli.AddOutputFlag(cmd, &o.Format, "format of the result", output.FixFormats())
	cli.AddColorFlag(fs, &o.Color)
	fs.BoolVar(&o.ShowSecrets, "show-secrets", false, "show secret values instead of masking them, and keep secret fields in the backup")
	fs.Var(&o.DryRun, "dry-run", "write nothing; client: only show the plan; server: the API server also tries the writes and stores none")
	// --dry-run without a value means --dry-run=client.
	fs.Lookup("dry-run").NoOptDefVal = "client"
	fs.IntVar(&compare.Revision, "revision", 0,
		"after a failed upgrade, put back revision `N`: the failed one, or the deployed one that the next upgrade starts from")
	compare.IgnoreOptions.AddFlags(fs)
	compare.Limits.AddFlags(fs)
	o.Choose.AddFlags(fs, "put back")
	o.AddFlags(fs)
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(o.DryRun.Words, cobra.ShellCompDirectiveNoFileComp))
	completeFixFlags(cmd)
	return cmd
}

// oneRelease refuses more than one argument. --dry-run has an optional value, so the word in "--dry-run server" is an argument.
func oneRelease(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) <= 1:
		return nil
	case cmd.Flags().Changed("dry-run") && (slices.Contains(args, "client") || slices.Contains(args, "server")):
		return hint.New(fmt.Errorf("fix takes one release, not %d", len(args)),
			"write an equals sign between --dry-run and its value: --dry-run=server")
	}
	return hint.New(errors.New("fix takes a release and nothing else"), cli.OutOfScope)
}

// runFix compares, and puts back what drifted. The rest is in internal/fixing, which diff --fix shares.
func runFix(
	ctx context.Context, s cli.Streams, compare cli.CompareOptions, o fixing.Flags, controlled controlled, args []string,
) error {
	if controlled != nil {
		if err := controlled.words().CheckRelease(args); err != nil {
			return err
		}
		_, name, _ := strings.Cut(args[0], "/")
		args = []string{name}
	}
	d, err := compare.Begin(ctx, args, "fix")
	if err != nil {
		return err
	}
	if controlled != nil {
		note, err := controlled.release(ctx, s, &compare, &d)
		if err != nil {
			return err
		}
		d.Quiet()
		s.Print("Note: ", s.Known.ScrubProblem(note)) // it quotes the controller
	}
	result, err := d.Comparer.Compare(ctx, d.Target)
	if err != nil {
		return d.WithAdvice(ctx, err)
	}
	return fixing.Run{Session: d, Flags: o, Streams: s, Before: result, Version: version}.Do(ctx)
}

// newFixFlags returns the flags of fix and of diff --fix, with what guests add.
func newFixFlags(all guest) fixing.Flags {
	o := fixing.NewFlags()
	o.Forecast = all.forecast
	if all.waiter != nil {
		o.Waiter = all.waiter()
	}
	return o
}

// fixFlags returns the names of the flags that fix and diff --fix share.
func fixFlags(all guest) []string {
	o := newFixFlags(all)
	return cli.NamesOf(o.AddFlags)
}

// completeFixFlags sets the completion for the flags that fix and diff --fix share.
func completeFixFlags(cmd *cobra.Command) {
	for _, name := range []string{"field-manager", "timeout", "wait-timeout"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // it fails for a flag that a missing guest would add
	}
	_ = cmd.MarkFlagDirname("backup")
}

// fixHelp returns the headings of the help of fix.
func fixHelp() []cli.FlagGroup {
	return slices.Concat([]cli.FlagGroup{
		cli.Group("What to put back", "only", "skip", "prune", "no-restart", "revision", "target-namespace", "allow-namespace"),
		cli.Group("How to put it back", "yes", "patch", "dry-run", "backup", "wait", "wait-timeout", "timeout", "field-manager"),
		cli.Group("What to ignore", cli.IgnoreFlags()...),
		cli.Group("Output", "output", "show-secrets", "color"),
	}, cli.CommonGroups())
}
