package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/config"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/manifestdiff"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file is the command diff: its flags and their contradictions, the comparison, the report, and the command that would put the drift
// back. It writes nothing to the cluster unless --fix says so.

// diffOptions are the flags of diff: how to compare, which findings count, and how the report looks.
type diffOptions struct {
	compareOptions
	selectionOptions
	printOptions
	// baseline is the file of an earlier report; see readBaseline.
	baseline string
	// snapshot is a file to compare instead of a cluster.
	snapshot string
	// fix says that drift is put back after the report. The flags of repair are hidden in the help, and allowed only together with it.
	fix    bool
	repair fixOptions
}

// newDiff returns the command diff. Its text names the signs and the exit codes, since they are what a reader of a report looks up.
func newDiff(s streams, c *connection) *cobra.Command {
	o := diffOptions{
		compareOptions: newCompareOptions(s, c), printOptions: newPrintOptions(), repair: newFixOptions(),
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

Without RELEASE it compares all releases of the namespace, with -A those of all namespaces; several
names are written with commas. One line for each release comes first, then what drifted.

With --fix it then does what helmdrift fix does. It has the exit codes of helmdrift fix then, and
its flags --yes, --only, --skip, --prune, --no-restart, --backup, --wait, --wait-timeout,
--timeout, --field-manager and --target-namespace.

Signs: + add   - remove   ± overwrite   ∅ ignore   ! conflict   (without UTF-8: ~ overwrite, = ignore)

` + exitHelp,
		Example: `  helmdrift diff web -n prod
  helmdrift diff -A
  helmdrift diff -l team=shop --contexts dev,stage,prod -A -o json
  helmdrift diff web ./chart -n prod -f values.yaml --set image.tag=1.27
  helmdrift diff web oci://registry.example.com/charts/web --version 1.8.1 -n prod --reuse-values
  helmdrift diff web --to-revision -1 -n prod
  helmdrift diff web -n prod -o json --fail-on +unmanaged
  helmdrift diff web -n prod --ignore /spec/replicas --show-ignored
  helmdrift diff web -n prod -o ignore > .helmdrift.yaml
  helmdrift diff --snapshot web.json.gz ./chart -f values.yaml`,
		Args:              releaseAndChart,
		ValidArgsFunction: completeRelease(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			hasChart := len(args) > 1
			if err := acceptAliases(s, c, cmd.Flags(), hasChart, o.quiet); err != nil {
				return err
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
				if err := o.checkScan(cmd.Flags(), hasChart); err != nil {
					return err
				}
				return runScan(cmd.Context(), s, c, o, names)
			}
			return runDiff(cmd.Context(), s, c, o, args, cmd.Flags())
		},
	}
	o.addFlags(cmd)
	return cmd
}

// addFlags adds the flags of diff, and their completion in the shell.
func (o *diffOptions) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	o.printOptions.addFlags(cmd)
	fs.IntVar(&o.revision, "revision", 0, "compare with stored revision `N` instead of the one helm upgrade would start from")
	fs.StringVar(&o.snapshot, "snapshot", "", "compare what helmdrift snapshot saved in this `file`, without a cluster")
	fs.BoolVar(&o.showSecrets, "show-secrets", false, "show secret values instead of masking them")
	fs.BoolVar(&o.fix, "fix", false, "after the report, put back what drifted as helmdrift fix does; its flags are then accepted too")

	o.selectionOptions.addFlags(fs)
	o.ignoreOptions.addFlags(fs)
	fs.BoolVar(&o.showControllers, "show-controllers", false,
		"list fields that no manifest names and only controllers or forgotten writers wrote, instead of counting them")
	fs.StringVar(&o.baseline, "baseline", "", "count only what is new since the report in this `file` (JSON or YAML)")
	o.desiredOptions.addFlags(fs)

	// The flags of fix would fill a page of the help of a command that writes nothing without --fix.
	o.repair.addFlags(fs)
	hideFlags(fs, fixFlags()...)
	completeFixFlags(cmd)
	addAliases(fs)
}

// commaHint says how several releases are named.
const commaHint = "several releases are written with commas: helmdrift diff web,api"

// releaseAndChart refuses more than two arguments.
func releaseAndChart(_ *cobra.Command, args []string) error {
	if len(args) <= 2 {
		return nil
	}
	advice := otherCommand(args)
	if advice == "" {
		advice = commaHint
	}
	return hint.New(errors.New("diff takes a release and a chart and nothing else"), advice)
}

// several reports whether releases are selected, and returns their names if they are named. diff --fix without a name takes the only
// release of the namespace, since a fix takes one release.
func (o *diffOptions) several(flags *pflag.FlagSet, args []string) (names []string, several bool) {
	if len(args) > 0 {
		names = strings.Split(args[0], ",")
	}
	return names, len(names) > 1 || o.isSet(flags) || len(names) == 0 && !o.fix
}

// check refuses flags that contradict each other or would have no effect.
func (o *diffOptions) check(flags *pflag.FlagSet, hasChart bool) error {
	if err := o.checkRevision(); err != nil {
		return err
	}
	return o.desiredOptions.check(flags, hasChart)
}

// checkFix refuses the flags of fix without --fix. With --fix it refuses every flag whose comparison is not the one with what Helm
// deployed, since a fix puts back that and nothing else.
func (o *diffOptions) checkFix(flags *pflag.FlagSet, hasChart bool) error {
	if !o.fix {
		for _, name := range fixFlags() {
			if flags.Changed(name) {
				advice := "without --fix, diff writes nothing to the cluster"
				if name == "skip" { // --skip KIND of helm-drift
					advice += "; a rule in " + config.FileName + " ignores kinds"
				}
				return hint.New(fmt.Errorf("--%s needs --fix", name), advice)
			}
		}
		return nil
	}
	if hasChart {
		return hint.New(errors.New("--fix puts back what Helm deployed: leave out CHART"), outOfScope)
	}
	// How the report looks, where the release is and what is ignored may be chosen. Everything else would compare with another state.
	allowed := []string{"fix", "revision", "output", "color", "show-secrets", "show-ignored", "show-controllers", "help"}
	allowed = slices.Concat(allowed, fixFlags(), ignoreFlags(), limitFlags())
	hints := map[string]string{
		"fail-on":  "fix has its own exit codes; helmdrift fix --help lists them",
		"report":   "run helmdrift diff --report first, and helmdrift fix after it",
		"baseline": "use --skip KIND/NAME:PATH for what fix must not put back",
		"dry-run":  "helmdrift fix RELEASE --dry-run=server lets the API server try the fix",
	}
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(allowed, f.Name) {
			advice, known := hints[f.Name]
			if !known {
				advice = outOfScope
			}
			err = hint.New(fmt.Errorf("--%s cannot be used with --fix", f.Name), advice)
		}
	})
	if err != nil {
		return err
	}
	options := o.repairOptions()
	return options.check(flags)
}

// runDiff compares, prints the report, and puts back what drifted if --fix says so. With --fix and a format for programs, stdout holds one
// document: the result of the fix, which contains the report.
func runDiff(ctx context.Context, s streams, c *connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	known, err := saved.Baseline(o.baseline)
	if err != nil {
		return err
	}
	d, err := begin(ctx, s, c, o.compareOptions, args, "diff")
	if err != nil {
		return err
	}
	return o.report(ctx, s, d, known, flags, time.Now)
}

// report compares and prints the report; see runDiff. Known is the baseline, and the clock says of which time the report is.
func (o *diffOptions) report(
	ctx context.Context, s streams, d session, known *report.Report, flags *pflag.FlagSet, clock func() time.Time,
) error {
	result, err := d.compare(ctx)
	if err != nil {
		return err
	}
	now := clock()
	// From here on nothing is in clear text unless --show-secrets says so.
	report := report.New(version, now, []report.Release{o.release(result, known)})
	look := s.display(s.out, o.color, now)
	if d.target.Chart != nil {
		look.CI.ChartDir = chartDir(d.target.Chart.Ref)
	}
	if o.fix && o.format != output.Text {
		return d.fix(ctx, s, o.repairOptions(), result)
	}
	// The last line of the text names the fix if fix would see the same findings.
	if !o.fix && o.format == output.Text && o.revision == 0 && d.target.Chart == nil && o.baseline == "" && !result.RecordElsewhere() {
		look.Text.Fix, look.Text.Plan = fixCommand(d.target, flags), planned(result.Comparison)
	}
	if err := o.print(s, report, look); err != nil {
		return err
	}
	if o.fix {
		fmt.Fprintln(s.out)
		return d.fix(ctx, s, o.repairOptions(), result)
	}
	return o.failOn.status(report)
}

// release returns the report of a comparison. What the baseline has is accepted, and the patch is there only if it is printed.
func (o *diffOptions) release(result *drift.Result, known *report.Report) report.Release {
	out := result.Report(threeway.Mask{Show: o.showSecrets})
	if o.baseline != "" {
		out.Accept(known, "--baseline "+filepath.Base(o.baseline))
	}
	if o.writes(output.Diff) {
		manifest := ""
		if old := result.Loaded.Old; old != nil {
			manifest = old.Manifest
		}
		out.Patch = manifestdiff.Diff(manifest, result.Comparison, out, o.showSecrets)
	}
	return out
}

// repairOptions returns the options of the fix that follows the report.
func (o *diffOptions) repairOptions() fixOptions {
	options := o.repair
	options.format, options.color, options.showSecrets = o.format, o.color, o.showSecrets
	return options
}

// planned returns what a fix would write, for the last line of the report. It is empty if a fix cannot be planned: the report is complete
// without it, and fix itself reports why.
func planned(c *threeway.Comparison) []report.FixPlan {
	defer func() { _ = recover() }()
	plan, err := repair.New(c, repair.Options{Asks: true})
	if err != nil {
		return nil
	}
	return plan.Result(threeway.Mask{}, nil).Plan
}

// fixCommand returns the command that puts back what this one found. It repeats the flags that chose what to ignore.
func fixCommand(t drift.Target, flags *pflag.FlagSet) string {
	return commandLine([]string{"helmdrift", "fix", t.Release, "-n", t.Namespace}, flags, slices.Concat(ignoreFlags(), limitFlags())...)
}
