package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/reporting"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is the command diff: its flags and their contradictions, the comparison, the report, and the command that would put the drift
// back. Without --fix it writes nothing to the cluster.

// diffOptions are the flags of diff: how to compare, which findings count, and how the report looks.
type diffOptions struct {
	cli.CompareOptions
	reporting.Flags
	// guests is what the guests add: --snapshot, the flags of several releases, and those of fix.
	guests guest
	// scan compares several releases. It is nil if this program cannot.
	scan scan
	// controllers answer for a first argument such as hr/web.
	controllers controllers
	// files are files that say what a tool does next. A flag names one of them instead of a release.
	files []objectFile
	// all compares what a controller deploys instead of all releases, if --next is set. opened are the files that it compares.
	all    compareAll
	opened openFiles
	// snapshot is a file to compare instead of a cluster.
	snapshot string
	// fix is set to put back drift after the report. The help hides the flags of repair, and they are allowed only together with fix.
	fix    bool
	repair fixing.Flags
}

// scan is diff of several releases.
type scan interface {
	AddFlags(*pflag.FlagSet)
	// isSet reports whether a flag asks for several releases.
	isSet(*pflag.FlagSet) bool
	// check refuses flags that need one release.
	check(flags *pflag.FlagSet, hasChart bool) error
	run(ctx context.Context, o diffOptions, names []string) error
}

// newDiff returns the command diff. Its help explains the signs and the exit codes, since readers of a report look them up there.
func newDiff(s cli.Streams, c *cli.Connection, all guest) *cobra.Command {
	o := diffOptions{
		CompareOptions: cli.NewCompareOptions(s, c, all.forecast), Flags: reporting.Flags{PrintOptions: reporting.NewPrintOptions()},
		guests: all, controllers: newControllers(all), repair: newFixFlags(all),
	}
	if all.scan != nil {
		o.scan = all.scan(s, c)
	}
	for _, create := range all.files {
		o.files = append(o.files, create(s, c))
	}
	cmd := &cobra.Command{
		Use:   "diff [RELEASE[,RELEASE...] [CHART]]",
		Short: "Compare a release with the cluster, field by field",
		Long: `diff compares what Helm stored for a release with what the cluster holds. For every field that
differs, it shows what the next helm upgrade will do to it.

Without CHART it shows drift: it assumes that the next upgrade sends the stored manifest again.
With CHART it renders the chart as helm upgrade would, and also shows what that upgrade changes.
CHART is anything that Helm accepts: a directory, a .tgz file, a URL, repo/name or oci://….
With --to-revision it shows what helm rollback would do.
With --snapshot it compares what helmdrift snapshot saved, without a cluster; RELEASE may be left out.
With hr/NAME it shows what Flux does next with the release of a HelmRelease, which is in -n, and with
app/NAME what the next sync of an Application of Argo CD writes. With --next it shows that of all
HelmReleases and Applications of the namespace, or with -A of the cluster, and with --helmfile and
--plan of the releases of these files, too.
With --from it shows what Flux and Argo CD do once a working tree of Git is merged. With --plan it shows
what Terraform or OpenTofu does next with the helm_release resources of a plan, or of those that are named.
With --helmfile it shows what helmfile does next with the releases of a helmfile. That runs helmfile and
the programs that the file names; -e, -l, -n and names of releases choose.

Without RELEASE it compares all releases of the namespace, with -A those of all namespaces; several
names, and several namespaces, are written with commas. One line for each release comes first, then
what drifted.

With --fix it then does what helmdrift fix does. It has the exit codes of helmdrift fix then, and
its flags --yes, --patch, --prune, --no-restart, --backup, --wait, --wait-timeout, --timeout,
--field-manager, --target-namespace and --allow-namespace.

Signs: + add   - remove   ± overwrite   ∅ ignore   ! conflict   (without UTF-8: ~ overwrite, = ignore)

` + reporting.ExitHelp,
		Example: `  helmdrift diff web -n prod
  helmdrift diff -A
  helmdrift diff web -n dev,stage,prod
  helmdrift diff -l team=shop --contexts dev,stage,prod -A -o json
  helmdrift diff web ./chart -n prod -f values.yaml --set image.tag=1.27
  helmdrift diff web oci://registry.example.com/charts/web --version 1.8.1 -n prod --reuse-values
  helmdrift diff web --to-revision -1 -n prod
  helmdrift diff hr/web -n shop
  helmdrift diff app/web -n argocd
  helmdrift diff -A --next
  helmdrift diff -A --next --helmfile helmfile.yaml -e prod --plan plan.json
  helmdrift diff --from clusters/prod -o markdown
  helmdrift diff --plan plan.json
  helmdrift diff --plan plan.json 'module.shop.helm_release.web["eu"]'
  helmdrift diff --helmfile helmfile.yaml -e prod -l team=shop
  helmdrift diff web -n prod -o json --fail-on +unmanaged
  helmdrift diff web -n prod --ignore /spec/replicas --show-ignored
  helmdrift diff web -n prod --only deploy/web --skip spec.replicas
  helmdrift diff -A --since 1h --timeline
  helmdrift diff web -n prod -o ignore > .helmdrift.yaml
  helmdrift diff --snapshot web.json.gz ./chart -f values.yaml`,
		Args:              o.releaseAndChart,
		ValidArgsFunction: o.controllers.complete(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, controlled := namedFiles(o.files), o.controllers.named(args)
			hasChart := len(args) > 1 || controlled != nil || len(files) > 0
			if err := o.Flags.Check(s); err != nil {
				return err
			}
			if err := cli.AcceptAliases(s, c, cmd.Flags(), hasChart, o.Quiet); err != nil {
				return err
			}
			if len(files) > 0 && (o.scan == nil || !o.controllers.isAll()) {
				return runDiffFile(cmd.Context(), files, c, o, args, cmd.Flags())
			}
			if controlled != nil {
				return controlled.run(cmd.Context(), s, o, args, cmd.Flags())
			}
			if o.scan != nil {
				all, opened, err := o.controllers.all(cmd.Context(), s, o, args, cmd.Flags())
				if err != nil {
					return err
				}
				defer opened.close()
				o.all, o.opened = all, opened
			}
			if cmd.Flags().Changed("snapshot") {
				return runDiffSnapshot(cmd.Context(), s, c, o, args, cmd.Flags())
			}
			if err := o.check(cmd.Flags(), hasChart); err != nil {
				return err
			}
			if err := o.checkFix(cmd.LocalNonPersistentFlags(), hasChart); err != nil {
				return err
			}
			if names, several := o.several(cmd.Flags(), args); several {
				if err := o.scan.check(cmd.Flags(), hasChart && o.all == nil); err != nil {
					return err
				}
				return o.scan.run(cmd.Context(), o, names)
			}
			if err := o.FailOn.CheckOne(); err != nil {
				return err
			}
			return runDiff(cmd.Context(), s, o, args, cmd.Flags())
		},
	}
	o.addFlags(cmd)
	return cmd
}

// addFlags adds the flags of diff, and their completion in the shell.
func (o *diffOptions) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	o.PrintOptions.AddFlags(cmd, output.Formats())
	fs.IntVar(&o.Revision, "revision", 0, "compare with stored revision `N` instead of the one helm upgrade would start from")
	if o.guests.open != nil {
		fs.StringVar(&o.snapshot, "snapshot", "", "compare what helmdrift snapshot saved in this `file`, without a cluster")
	}
	fs.BoolVar(&o.fix, "fix", false, "after the report, put back what drifted as helmdrift fix does; its flags are then accepted too")

	if o.scan != nil {
		o.scan.AddFlags(fs)
	}
	if o.controllers.flags != nil {
		o.controllers.flags.AddFlags(fs)
		if o.scan == nil {
			cli.HideFlags(fs, "next")
		}
	}
	for _, file := range o.files {
		file.addFlags(fs)
	}
	o.IgnoreOptions.AddFlags(fs)
	fs.BoolVar(&o.ShowControllers, "show-controllers", false,
		"list fields that no manifest names and only controllers wrote, or writers that the API server no longer records, "+
			"instead of counting them")
	o.Flags.AddFlags(fs)
	o.DesiredOptions.AddFlags(fs)

	// diff writes nothing without --fix, so hide the flags of fix: they would fill a page of its help.
	o.repair.AddFlags(fs)
	cli.HideFlags(fs, fixFlags(o.guests)...)
	completeFixFlags(cmd)
	cli.AddAliases(fs)
	cli.AddShortHelp(cmd)
}

// commaHint says how several releases are named.
const commaHint = "several releases are written with commas: helmdrift diff web,api"

// releaseAndChart refuses more than two arguments, unless a flag names a file: the arguments choose among its releases.
func (o *diffOptions) releaseAndChart(_ *cobra.Command, args []string) error {
	if len(args) <= 2 || len(namedFiles(o.files)) > 0 {
		return nil
	}
	return hint.New(errors.New("diff takes a release and a chart and nothing else"), cmp.Or(cli.OtherCommand(args), commaHint))
}

// several reports whether the user selects several releases, and returns the names if they are named. diff --fix without a name
// takes the only release of the namespace, since a fix takes one release.
func (o *diffOptions) several(flags *pflag.FlagSet, args []string) (names []string, several bool) {
	if len(args) > 0 {
		names = strings.Split(args[0], ",")
	}
	return names, o.scan != nil && (len(names) > 1 || o.all != nil || o.scan.isSet(flags) || len(names) == 0 && !o.fix)
}

// check refuses flags that contradict each other or would have no effect.
func (o *diffOptions) check(flags *pflag.FlagSet, hasChart bool) error {
	if err := o.CheckRevision(); err != nil {
		return err
	}
	return o.DesiredOptions.Check(flags, hasChart)
}

// checkFix refuses the flags of fix without --fix. With --fix it refuses every flag that compares with something other than what
// Helm deployed, since a fix puts back nothing else.
func (o *diffOptions) checkFix(flags *pflag.FlagSet, hasChart bool) error {
	if !o.fix {
		for _, name := range fixFlags(o.guests) {
			if flags.Changed(name) {
				return hint.New(fmt.Errorf("--%s needs --fix", name), "without --fix, diff writes nothing to the cluster")
			}
		}
		return nil
	}
	if hasChart {
		return hint.New(errors.New("--fix puts back what Helm deployed: leave out CHART"), cli.OutOfScope)
	}
	// The user may choose how the report looks, where the release is and what is ignored. Any other flag would compare with another
	// state.
	allowed := []string{"fix", "revision", "output", "color", "show-secrets", "show-ignored", "show-controllers", "help"}
	allowed = slices.Concat(allowed, cli.ChoiceNames(), fixFlags(o.guests), cli.IgnoreFlags(), cli.LimitFlags())
	hints := map[string]string{
		"fail-on":  "fix has its own exit codes; helmdrift fix --help lists them",
		"report":   "run helmdrift diff --report first, and helmdrift fix after it",
		"baseline": "use --skip KIND/NAME:PATH for what fix must not put back",
		"dry-run":  "helmdrift fix RELEASE --dry-run=server lets the API server try the fix",
	}
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(allowed, f.Name) {
			err = hint.New(fmt.Errorf("--%s cannot be used with --fix", f.Name), cmp.Or(hints[f.Name], cli.OutOfScope))
		}
	})
	if err != nil {
		return err
	}
	repair := o.repairFlags()
	return repair.Check(flags)
}

// runDiff compares a release of the cluster.
func runDiff(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error {
	d, err := o.Begin(ctx, args, "diff")
	if err != nil {
		return err
	}
	return o.report(ctx, s, d, flags, time.Now, nil)
}

// report compares, prints the report, and with --fix puts back what drifted. The clock gives the time of the report. Finish is that of
// reporting.Flags.Release.
func (o *diffOptions) report(
	ctx context.Context, s cli.Streams, d cli.Session, flags *pflag.FlagSet, clock func() time.Time,
	finish func(*drift.Result, *report.Release),
) error {
	if err := o.FailOn.CheckOne(); err != nil {
		return err
	}
	run := reporting.Run{Flags: &o.Flags, Session: d, Streams: s, Clock: clock, Version: version, Finish: finish}
	if o.Revision == 0 {
		run.FixCommand = fixCommand(d.Target, flags)
	}
	if o.fix {
		repair := o.repairFlags()
		run.Fix = &repair
	}
	return run.Do(ctx)
}

// repairFlags returns the flags of the fix that follows the report.
func (o *diffOptions) repairFlags() fixing.Flags {
	repair := o.repair
	repair.Choose = o.Choose
	repair.Format, repair.Color, repair.ShowSecrets = o.Format, o.Color, o.ShowSecrets
	return repair
}

// fixCommand returns the command that puts back what diff found. It repeats the flags that chose what to count and what to ignore.
func fixCommand(t drift.Target, flags *pflag.FlagSet) string {
	return cli.CommandLine([]string{"helmdrift", "fix", t.Release, "-n", t.Namespace}, flags,
		slices.Concat(cli.ChoiceNames(), cli.IgnoreFlags(), cli.LimitFlags())...)
}

// scanFlags returns the names of the flags that select several releases.
func scanFlags(all guest) []string {
	if all.scan == nil {
		return nil
	}
	return cli.NamesOf(all.scan(cli.Streams{}, nil).AddFlags)
}

// diffHelp returns the headings of the help of diff.
func diffHelp(all guest) []cli.FlagGroup {
	states := []string{"to-revision", "revision", "install", "skip-crds", "create-namespace", "dry-run"}
	return slices.Concat([]cli.FlagGroup{
		cli.Group("Which releases", slices.Concat(scanFlags(all), controllerFlags(), fileFlags(all))...),
		cli.Group("What counts", "fail-on", "only", "skip", "since", "baseline"),
		cli.Group("What to ignore", cli.IgnoreFlags()...),
		cli.Group("Output", "output", "timeline", "report", "quiet", "verbose", "show-ignored", "show-controllers", "show-secrets",
			"no-pager", "color"),
		cli.Group("Repair", "fix"),
	}, cli.DesiredGroups(states...), []cli.FlagGroup{cli.Group("Without a cluster", "snapshot")}, cli.CommonGroups())
}

// diffShortHelp returns the headings of diff -h, with the flags that people use, by task.
func diffShortHelp() []cli.FlagGroup {
	return []cli.FlagGroup{
		cli.Group("Choose releases", "namespace", "all-namespaces", "selector", "filter", "contexts"),
		cli.Group("Preview an upgrade or a rollback", "values", "set", "version", "install", "to-revision", "dry-run"),
		cli.Group("Gate a pipeline", "fail-on", "baseline", "ignore", "config"),
		cli.Group("Read the report", "only", "since", "output", "report", "quiet", "verbose", "show-ignored"),
		cli.Group("Put back what drifted", "fix"),
		cli.Group("Choose the cluster", "kube-context", "kubeconfig"),
		cli.Group("Other", "help"),
	}
}
