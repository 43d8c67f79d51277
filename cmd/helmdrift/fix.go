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

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/repair"
)

// fixOptions are the flags of fix.
type fixOptions struct {
	format      output.Format
	color       colorMode
	showSecrets bool
	yes         bool
	dryRun      oneOf
	only, skip  []string
	prune       bool
	manager     string
	revision    int
	target      string
	timeout     time.Duration
	backup      string
}

func newFixOptions() fixOptions {
	return fixOptions{format: output.Text, color: "auto", dryRun: oneOf{words: []string{"client", "server"}}, timeout: repair.DefaultTimeout}
}

func newFix(s streams, c *connection) *cobra.Command {
	o := newFixOptions()
	var ignore ignoreOptions
	limits := newBounds(s)
	cmd := &cobra.Command{
		Use:   "fix [RELEASE]",
		Short: "Put back what drifted in a release, and nothing else",
		Long: `fix puts back what drifted in a release: the fields that diff RELEASE reports as drift, in
built-in kinds and in custom resources, and missing objects. It shows its plan and asks; without
a terminal it needs --yes. Afterwards it compares again and reports the result.

Each field is written as Helm deployed it. Every write carries tests, so that the API server
refuses it if something that it depends on has changed. Nothing outside the plan is touched, no
hook runs, and no revision is written. What fix cannot put back safely it leaves, and says why.
With --prune it also removes what a person added and no manifest names.

For charts, values and other revisions, use helm upgrade and helm rollback.

` + fixExitHelp,
		Example: `  helmdrift fix web -n prod
  helmdrift fix web -n prod --dry-run=server
  helmdrift fix web -n prod --yes --only Deployment/web --backup ./before
  helmdrift fix web -n prod --yes --skip ConfigMap/flags --skip Deployment/web:spec.replicas
  helmdrift fix web -n prod --prune --dry-run
  helmdrift fix web -n prod --yes -o json`,
		Args:              oneRelease,
		ValidArgsFunction: completeRelease(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return runFix(cmd.Context(), s, c, o, ignore, limits, args)
		},
	}
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the result: "+strings.Join(output.FixFormats(), ", "))
	fs.Var(&o.color, "color", "use colour: auto, always or never [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
	fs.BoolVar(&o.showSecrets, "show-secrets", false, "show secret values instead of masking them, and keep secret fields in the backup")
	fs.Var(&o.dryRun, "dry-run", "write nothing; client: only show the plan; server: the API server also tries the writes and stores none")
	fs.Lookup("dry-run").NoOptDefVal = "client"
	fs.IntVar(&o.revision, "revision", 0, "after a failed upgrade, put back revision `N`: the failed one or the one before it")
	ignore.addFlags(fs)
	limits.addFlags(fs)
	o.addFlags(fs)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.FixFormats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(o.dryRun.words, cobra.ShellCompDirectiveNoFileComp))
	completeFixFlags(cmd)
	return cmd
}

// outOfScope is the hint printed when fix is given arguments that belong to helm upgrade or helm rollback.
const outOfScope = "for charts, values and other revisions, use helm upgrade and helm rollback"

// oneRelease refuses all arguments but a release.
func oneRelease(cmd *cobra.Command, args []string) error {
	word := func(arg string) bool { return arg == "client" || arg == "server" }
	switch {
	case len(args) <= 1:
		return nil
	case cmd.Flags().Changed("dry-run") && slices.ContainsFunc(args, word):
		return hinted{error: fmt.Errorf("fix takes one release, not %d", len(args)),
			hint: "write an equals sign between --dry-run and its value: --dry-run=server"}
	}
	return hinted{error: errors.New("fix takes a release and nothing else"), hint: outOfScope}
}

// addFlags adds the flags that diff --fix has as well.
func (o *fixOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.yes, "yes", "y", false, "write without asking")
	fs.StringArrayVar(&o.only, "only", nil, "put back only this object, `KIND/NAME`, or one field of it, KIND/NAME:PATH; may be repeated")
	fs.StringArrayVar(&o.skip, "skip", nil, "do not put back this object, `KIND/NAME`, or one field of it, KIND/NAME:PATH; may be repeated")
	fs.BoolVar(&o.prune, "prune", false, "also remove what a person added and no manifest names; the plan lists it separately")
	fs.StringVar(&o.manager, "field-manager", "",
		"field manager `name` under which Helm writes the release, if the cluster does not show it or Helm applies client-side")
	fs.StringVar(&o.target, "target-namespace", "",
		"allow writing to this `namespace`, which the release record names although it is kept in another one")
	fs.DurationVar(&o.timeout, "timeout", o.timeout, "how long to retry one object while others write to it or the server is busy")
	fs.StringVar(&o.backup, "backup", "",
		"before the first write, save each object to this `directory`, without Secrets and secret fields")
}

// fixFlags are the names of addFlags.
func fixFlags() []string {
	o := newFixOptions()
	return namesOf(o.addFlags)
}

func completeFixFlags(cmd *cobra.Command) {
	for _, name := range []string{"only", "skip", "field-manager", "target-namespace", "timeout"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	_ = cmd.MarkFlagDirname("backup")
}

// check refuses flags that contradict each other or would have no effect.
func (o *fixOptions) check(flags *pflag.FlagSet) error {
	switch {
	case o.format == output.Rules:
		return fmt.Errorf("-o %s: a fix has the formats %s", o.format, strings.Join(output.FixFormats(), ", "))
	case o.revision < 0:
		return fmt.Errorf("--revision %d: revisions begin at 1", o.revision)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s: must be longer than nothing", o.timeout)
	case o.yes && o.dryRun.word != "":
		return errors.New("--yes and --dry-run exclude each other: a dry run asks nothing and writes nothing")
	case o.dryRun.word != "" && flags.Changed("backup"):
		return errors.New("--backup and --dry-run exclude each other: a dry run writes nothing")
	case flags.Changed("backup") && o.backup == "":
		return errors.New("--backup needs a directory")
	case flags.Changed("field-manager") && o.manager == "":
		return errors.New("--field-manager needs a name")
	case flags.Changed("target-namespace") && o.target == "":
		return errors.New("--target-namespace needs a namespace")
	}
	_, err := o.selection()
	return err
}

// selection is what the flags choose from what drifted.
func (o *fixOptions) selection() (repair.Options, error) {
	chosen := repair.Options{Manager: o.manager, Prune: o.prune}
	var errs []error
	parse := func(flag string, words []string) (parsed []repair.Selector) {
		for _, word := range words {
			selector, err := repair.ParseSelector(word)
			if err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
			}
			parsed = append(parsed, selector)
		}
		return parsed
	}
	chosen.Only, chosen.Skip = parse("only", o.only), parse("skip", o.skip)
	return chosen, errors.Join(errs...)
}

// runFix compares, and puts back what drifted.
func runFix(ctx context.Context, s streams, c *connection, o fixOptions, ignore ignoreOptions, limits bounds, args []string) error {
	desired := newDesiredOptions(s)
	desired.bounds = limits
	d, err := begin(ctx, s, c, diffOptions{desiredOptions: desired, ignoreOptions: ignore, revision: o.revision}, args, "fix")
	if err != nil {
		return err
	}
	result, err := d.compare(ctx)
	if err != nil {
		return err
	}
	return d.fix(ctx, s, o, result)
}
