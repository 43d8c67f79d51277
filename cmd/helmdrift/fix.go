package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
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
	var left ignoreOptions
	limits := newBounds(s)
	cmd := &cobra.Command{
		Use:   "fix [RELEASE]",
		Short: "Put back what drifted in a release, that and nothing else",
		Long: `fix puts back what drifted in a release: the fields that diff RELEASE calls drift, in built-in
kinds and in custom resources, and the objects that are missing. It shows what it will do and
asks; without a terminal it needs --yes. Afterwards it compares again and says what is true.

Each field is written as Helm deployed it, behind tests that let the API server refuse the
write if anything it stands on has changed meanwhile. What nobody planned is not touched, no
hook runs, and no revision is written. What it cannot put back safely it leaves, and says why.
With --prune it also takes away what no manifest names and a person added.

Charts, values and other revisions are the business of helm upgrade and helm rollback.

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
			return runFix(cmd.Context(), s, c, o, left, limits, args)
		},
	}
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the result: "+strings.Join(output.FixFormats(), ", "))
	fs.Var(&o.color, "color", "colour: auto, always or never [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
	fs.BoolVar(&o.showSecrets, "show-secrets", false, "show values that are masked otherwise")
	fs.Var(&o.dryRun, "dry-run", "client: only show the plan; server: also have the API server try the writes and store none")
	fs.Lookup("dry-run").NoOptDefVal = "client"
	fs.IntVar(&o.revision, "revision", 0, "after a failed upgrade: put back what this revision has, the failed one or the one before it")
	left.addFlags(fs)
	limits.addFlags(fs)
	o.addFlags(fs)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.FixFormats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(o.dryRun.words, cobra.ShellCompDirectiveNoFileComp))
	completeFixFlags(cmd)
	return cmd
}

// business is whose business everything is that fix does not do.
const business = "charts, values and other revisions are the business of helm upgrade and helm rollback"

// oneRelease refuses all arguments but a release.
func oneRelease(cmd *cobra.Command, args []string) error {
	word := func(arg string) bool { return arg == "client" || arg == "server" }
	switch {
	case len(args) <= 1:
		return nil
	case cmd.Flags().Changed("dry-run") && slices.ContainsFunc(args, word):
		return hinted{error: fmt.Errorf("fix takes one release, not %d", len(args)), hint: "--dry-run and its word go together with a sign between them: --dry-run=server"}
	}
	return hinted{error: errors.New("fix takes a release and nothing else"), hint: business}
}

// addFlags adds the flags that diff --fix has as well.
func (o *fixOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	fs.StringArrayVar(&o.only, "only", nil, "put back only KIND/NAME, or one field of it: KIND/NAME:PATH; may be repeated")
	fs.StringArrayVar(&o.skip, "skip", nil, "leave KIND/NAME, or one field of it: KIND/NAME:PATH; may be repeated")
	fs.BoolVar(&o.prune, "prune", false, "also take away what no manifest names and a person added; the plan shows it apart")
	fs.StringVar(&o.manager, "field-manager", "",
		"name under which Helm writes the release, where the cluster does not show it or the release is applied client-side")
	fs.StringVar(&o.target, "target-namespace", "",
		"write to this namespace, which the record names, although the record is kept in another one")
	fs.DurationVar(&o.timeout, "timeout", o.timeout, "how long to try for one object while others write to it or the server is busy")
	fs.StringVar(&o.backup, "backup", "",
		"directory for a copy of each object as it was, made before the first write; Secrets are left out, and in other objects what is secret")
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

// selection is what the flags choose of what drifted.
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

// runFix is the wiring of fix, straight down.
func runFix(ctx context.Context, s streams, c *connection, o fixOptions, left ignoreOptions, limits bounds, args []string) error {
	desired := newDesiredOptions(s)
	desired.bounds = limits
	d, err := begin(ctx, s, c, diffOptions{desiredOptions: desired, ignoreOptions: left, revision: o.revision}, args, "fix")
	if err != nil {
		return err
	}
	comparison, loaded, err := d.settled(ctx)
	if err != nil {
		return err
	}
	return fix{diff: d, flags: o, streams: s, before: comparison, loaded: loaded}.run(ctx)
}

// fix puts back what one comparison found.
type fix struct {
	diff
	flags   fixOptions
	streams streams
	before  *threeway.Comparison
	loaded  *release.Loaded
}

// run plans, shows, asks, writes, compares again, and tells.
func (f fix) run(ctx context.Context) error {
	plan, err := f.plan()
	if err != nil {
		return err
	}
	planned := f.result(plan, nil, f.before)
	asks := len(plan.Objects) > 0 && f.flags.dryRun.word == "" && !f.flags.yes
	if err := f.show(planned, asks); err != nil {
		return err
	}
	switch {
	case len(plan.Objects) == 0, f.flags.dryRun.word == "client":
		return f.tell(planned)
	case f.flags.dryRun.word == "server":
		tried := plan.Run(ctx, f.cluster, repair.RunOptions{DryRun: true, Timeout: f.flags.timeout})
		return f.tell(f.result(plan, tried, f.before))
	}
	if asks {
		switch agreed, err := f.ask(ctx, planned); {
		case err != nil:
			return err
		case !agreed:
			return f.tell(f.result(plan, unconfirmed(planned), f.before))
		}
	}
	if err := f.backup(plan); err != nil {
		return err
	}
	outcomes := plan.Run(ctx, f.cluster, repair.RunOptions{Timeout: f.flags.timeout, Before: f.unmoved})
	after, err := f.again(ctx)
	if err != nil {
		f.streams.explain(err)
	} else {
		outcomes = plan.Confirmed(outcomes, after)
	}
	return f.tell(f.result(plan, outcomes, after))
}

// plan refuses what is not to be written to, and chooses what is written.
func (f fix) plan() (*repair.Plan, error) {
	last := f.loaded.Last
	if strings.HasPrefix(last.Status, "uninstall") {
		return nil, hinted{error: fmt.Errorf("revision %d of %s is %s", last.Revision, f.name, last.Status),
			hint: "what is left of it is not put back; helm rollback brings a release back"}
	}
	if err := errors.Join(f.checkRevision(), f.checkTarget()); err != nil {
		return nil, err
	}
	chosen, err := f.flags.selection()
	if err != nil {
		return nil, err
	}
	d := f.before.Deployer()
	if f.before.Input.ApplyMethod == "server-side" && d.Known && chosen.Manager != "" && chosen.Manager != d.Manager {
		return nil, hinted{error: fmt.Errorf("--field-manager %s: this release is applied server-side by %s", chosen.Manager, d.Manager),
			hint: "leave the flag out: fields are handed over to " + d.Manager + ", or its next upgrade would conflict with their owner"}
	}
	return repair.New(f.before, chosen)
}

// checkRevision refuses to put back any revision but the last one and the one that an upgrade would start from.
func (f fix) checkRevision() error {
	wanted, last := f.options.revision, f.loaded.Choice.Last.Revision
	if wanted == 0 {
		return nil
	}
	if f.loaded.LastProblem != nil {
		return f.loaded.LastProblem
	}
	current, err := f.loaded.History.Choose(0)
	switch {
	case err != nil:
		return err
	case wanted != last && wanted != current.Old.Revision:
		return hinted{
			error: fmt.Errorf("--revision %d: the release is at revision %d, and its last one is %d", wanted, current.Old.Revision, last),
			hint:  fmt.Sprintf("helm rollback %s %d goes back to it", f.name, wanted),
		}
	}
	return nil
}

// result is what is told of a plan and a run, masked.
func (f fix) result(plan *repair.Plan, outcomes []report.FixOutcome, now *threeway.Comparison) *report.FixResult {
	mask := threeway.Mask{Show: f.flags.showSecrets}
	r := plan.Result(mask, outcomes)
	r.Helmdrift, r.Time, r.DryRun = version, time.Now().UTC().Truncate(time.Second), f.flags.dryRun.word
	if now != nil {
		r.After = report.New(version, r.Time, []report.Release{now.Report(mask)})
	}
	return &r
}

// show writes the plan where it is read: as text to stdout, and to stderr where somebody is asked there who cannot see stdout.
func (f fix) show(r *report.FixResult, asks bool) error {
	if f.flags.format == output.Text {
		if err := f.write(f.streams.out, r, output.WriteFixPlan); err != nil {
			return err
		}
	}
	if unseen := f.flags.format != output.Text || !isTerminal(f.streams.out); asks && f.streams.canAsk() && unseen {
		return f.write(f.streams.err, r, output.WriteFixPlan)
	}
	return nil
}

func (f fix) write(w io.Writer, r *report.FixResult, writer func(io.Writer, *report.FixResult, output.Options) error) error {
	return writer(w, r, f.streams.displayOn(w, f.flags.color, r.Time))
}

// ask asks whether the plan is to be written.
func (f fix) ask(ctx context.Context, r *report.FixResult) (bool, error) {
	if !f.streams.canAsk() {
		return false, hinted{error: errors.New("nothing was written: this needs somebody's consent, and there is no terminal to ask on"),
			hint: "--yes writes without asking, --dry-run only shows what would be written"}
	}
	if err := f.write(f.streams.err, r, output.WriteFixQuestion); err != nil {
		return false, err
	}
	return f.streams.yes(ctx)
}

// unconfirmed are the outcomes of a plan to which somebody said no.
func unconfirmed(r *report.FixResult) []report.FixOutcome {
	var out []report.FixOutcome
	for _, p := range r.Plan {
		out = append(out, report.FixOutcome{Object: p.Object, Status: report.FixDeclined, Reason: "not confirmed"})
	}
	return out
}

// backup saves the planned objects that are there, before the first write. What is secret stays out of the files, and stderr names it.
func (f fix) backup(plan *repair.Plan) error {
	if f.flags.backup == "" {
		return nil
	}
	objects := map[object.Ref]map[string]any{}
	var notes []string
	for _, o := range plan.Objects {
		live := f.before.Input.Live[o.Ref].Object
		if o.Create != nil || live == nil {
			continue
		}
		bare := threeway.Bare(live)
		if !f.flags.showSecrets && !secret.Kind(o.Ref.Group, o.Ref.Kind) {
			var paths []string
			if bare, paths = f.before.WithoutSecrets(o.Ref, bare); len(paths) > 0 {
				notes = append(notes, fmt.Sprintf("the backup of %s lacks what is secret: %s; --show-secrets keeps it",
					o.Ref.Key, strings.Join(paths, ", ")))
			}
		}
		objects[o.Ref] = bare
	}
	leftOut, err := writeBackup(f.flags.backup, objects)
	for _, ref := range leftOut {
		notes = append(notes, fmt.Sprintf("%s is not in the backup: Secrets are left out", ref.Key))
	}
	slices.Sort(notes)
	for _, note := range notes {
		f.streams.print("note: ", note)
	}
	return err
}

// unmoved tells whether the release is still the one that the plan was made for.
func (f fix) unmoved(ctx context.Context) error {
	now, err := f.store.History(ctx, f.name)
	if err != nil {
		return fmt.Errorf("looking whether the release moved meanwhile: %w", err)
	}
	if slices.Equal(now.Entries, f.loaded.History.Entries) {
		return nil
	}
	if len(now.Entries) == 0 {
		return errors.New("the release was uninstalled after the plan was made")
	}
	last := now.Entries[len(now.Entries)-1]
	return fmt.Errorf("the release changed after the plan was made: revision %d is %s now", last.Revision, last.Status)
}

// again compares again, unless an interrupt says that nobody waits for it.
func (f fix) again(ctx context.Context) (*threeway.Comparison, error) {
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	after, _, err := f.settled(ctx)
	if err != nil {
		return nil, fmt.Errorf("comparing again: %w", err)
	}
	return after, nil
}

// tell writes the result, and gives the exit code.
func (f fix) tell(r *report.FixResult) error {
	if err := output.WriteFix(f.streams.out, f.flags.format, r, f.streams.display(f.flags.color, r.Time)); err != nil {
		return err
	}
	counting := *r
	counting.Results = slices.DeleteFunc(slices.Clone(r.Results), r.IsNoDrift)
	return fixStatus(&counting)
}
