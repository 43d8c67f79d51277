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

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	desiredOptions
	ignoreOptions
	format      output.Format
	failOn      failOn
	color       colorMode
	revision    int
	showSecrets bool
	showIgnored bool
	baseline    string
	// fix says that what drifted is put back after the report, and repair says how.
	fix    bool
	repair fixOptions
}

func newDiff(s streams, c *connection) *cobra.Command {
	o := diffOptions{
		desiredOptions: newDesiredOptions(s), format: output.Text,
		failOn: defaultFailOn(), color: "auto",
		repair: newFixOptions(),
	}
	cmd := &cobra.Command{
		Use:   "diff [RELEASE [CHART]]",
		Short: "Compare a release with the cluster, field by field",
		Long: `diff compares what Helm stored for a release with what the cluster holds, and shows for every
field that differs what the next helm upgrade will do to it.

Without CHART it shows drift: it assumes that the next upgrade sends the stored manifest again.
With CHART it renders the chart as helm upgrade would, and also shows what that upgrade changes.
CHART is anything that Helm accepts: a directory, a .tgz file, a URL, repo/name or oci://….
With --to-revision it shows what helm rollback would do. Without RELEASE it compares the only
release of the namespace. With --fix it then does what helmdrift fix does, and has its exit codes
and its flags --yes, --only, --skip, --prune, --backup, --timeout, --field-manager and
--target-namespace.

Signs: + add   - remove   ± overwrite   ∅ ignore   ! conflict

` + exitHelp,
		Example: `  helmdrift diff web -n prod
  helmdrift diff web ./chart -n prod -f values.yaml --set image.tag=1.27
  helmdrift diff web oci://registry.example.com/charts/web --version 1.8.1 -n prod --reuse-values
  helmdrift diff web --to-revision -1 -n prod
  helmdrift diff web -n prod -o json --fail-on +unmanaged
  helmdrift diff web -n prod --ignore /spec/replicas --show-ignored
  helmdrift diff web -n prod -o ignore > .helmdrift.yaml`,
		Args:              releaseAndChart,
		ValidArgsFunction: completeRelease(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags(), args); err != nil {
				return err
			}
			if err := o.checkFix(cmd.LocalNonPersistentFlags(), len(args) > 1); err != nil {
				return err
			}
			return runDiff(cmd.Context(), s, c, o, args, cmd.Flags())
		},
	}
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the report: "+strings.Join(output.Formats(), ", "))
	fs.Var(&o.failOn, "fail-on", "`list` of what sets exit code 2: "+strings.Join(failOnWords(), ", ")+"; +word adds to the default")
	fs.Var(&o.color, "color", "use colour: auto, always or never [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
	fs.IntVar(&o.revision, "revision", 0, "compare with stored revision `N` instead of the one helm upgrade would start from")
	fs.BoolVar(&o.showSecrets, "show-secrets", false, "show secret values instead of masking them")
	fs.BoolVar(&o.fix, "fix", false, "after the report, put back what drifted as helmdrift fix does; its flags are then accepted too")
	o.ignoreOptions.addFlags(fs)
	fs.BoolVar(&o.showIgnored, "show-ignored", false, "list ignored findings, each with the rule that ignores it")
	fs.BoolVar(&o.showControllers, "show-controllers", false,
		"list fields that only controllers or forgotten writers wrote and no manifest names, instead of counting them")
	fs.StringVar(&o.baseline, "baseline", "", "count only what is new since the report in this `file` (JSON or YAML)")
	o.desiredOptions.addFlags(fs)
	o.repair.addFlags(fs)
	for _, name := range fixFlags() {
		_ = fs.MarkHidden(name)
	}
	completeFixFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(o.failOn.completions(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// runDiff compares, prints the report, and puts back what drifted if --fix says so.
func runDiff(ctx context.Context, s streams, c *connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	known, err := readBaseline(o.baseline)
	if err != nil {
		return err
	}
	d, err := begin(ctx, s, c, o, args, "diff")
	if err != nil {
		return err
	}
	result, err := d.compare(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	release := result.Report(threeway.Mask{Show: o.showSecrets})
	if o.baseline != "" {
		release.Accept(known, "--baseline "+filepath.Base(o.baseline))
	}
	report := report.New(version, now, []report.Release{release})
	look := s.display(o.color, now)
	look.ShowIgnored = o.showIgnored
	if o.fix && o.format != output.Text {
		return d.fix(ctx, s, o.repairFlags(), result) // whose result has the report in it
	}
	if !o.fix && o.format == output.Text && o.revision == 0 && d.target.Chart == nil && o.baseline == "" && !result.RecordElsewhere() {
		look.Fix, look.Plan = fixCommand(d.target, flags), planned(result.Comparison)
	}
	if err := output.Write(s.out, o.format, report, look); err != nil {
		return err
	}
	if o.fix {
		fmt.Fprintln(s.out)
		return d.fix(ctx, s, o.repairFlags(), result)
	}
	return o.failOn.status(report)
}

// repairFlags are the flags of a fix that follows the report.
func (o *diffOptions) repairFlags() fixOptions {
	flags := o.repair
	flags.format, flags.color, flags.showSecrets = o.format, o.color, o.showSecrets
	return flags
}

// planned is what a fix would write; empty if that cannot be planned, for which fix has the words.
func planned(c *threeway.Comparison) []report.FixPlan {
	defer func() { _ = recover() }()
	plan, err := repair.New(c, repair.Options{})
	if err != nil {
		return nil
	}
	return plan.Result(threeway.Mask{}, nil).Plan
}

// fixCommand is the command that puts back what this one found. It has the flags that chose the cluster, or it would go to another one.
func fixCommand(t drift.Target, flags *pflag.FlagSet) string {
	words := []string{"helmdrift", "fix", t.Release, "-n", t.Namespace}
	where := []string{"kubeconfig", "kube-context", "context", "kube-apiserver", "kube-as-user"}
	for _, name := range slices.Concat(where, ignoreFlags(), boundFlags(), []string{"kube-as-group"}) {
		words = append(words, givenFlag(flags.Lookup(name))...)
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// givenFlag is a flag as it was given, each of its values; nothing where it was not.
func givenFlag(f *pflag.Flag) (words []string) {
	if !f.Changed {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		for _, value := range list.GetSlice() {
			words = append(words, "--"+f.Name, value)
		}
		return words
	}
	if f.Value.Type() == "bool" {
		return []string{"--" + f.Name + "=" + f.Value.String()}
	}
	return []string{"--" + f.Name, f.Value.String()}
}

// shellWord quotes a word for a shell where it needs that.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@,+=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// releaseAndChart refuses more arguments than that.
func releaseAndChart(cmd *cobra.Command, args []string) error {
	if len(args) <= 2 {
		return nil
	}
	return hinted{error: errors.New("diff takes a release and a chart and nothing else"), hint: cmd.UseLine()}
}

// check refuses flags that contradict each other or would have no effect.
func (o *diffOptions) check(flags *pflag.FlagSet, args []string) error {
	if o.revision < 0 {
		return fmt.Errorf("--revision %d: revisions begin at 1", o.revision)
	}
	return o.desiredOptions.check(flags, len(args) > 1)
}

// checkFix refuses flags that mean nothing without --fix, and with it all that would not compare with what Helm deployed.
func (o *diffOptions) checkFix(flags *pflag.FlagSet, hasChart bool) error {
	ofFix := fixFlags()
	if !o.fix {
		for _, name := range ofFix {
			if flags.Changed(name) {
				return hinted{error: fmt.Errorf("--%s needs --fix", name), hint: "without --fix, diff writes nothing"}
			}
		}
		return nil
	}
	if hasChart {
		return hinted{error: errors.New("--fix puts back what Helm deployed: leave out CHART"), hint: outOfScope}
	}
	var err error
	common := append(ofFix, "fix", "revision", "output", "color", "show-secrets", "show-ignored", "show-controllers", "help")
	common = slices.Concat(common, ignoreFlags(), boundFlags())
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed || slices.Contains(common, f.Name):
		case f.Name == "fail-on":
			err = hinted{error: errors.New("--fail-on does not go with --fix"), hint: "fix has its own exit codes; helmdrift fix --help lists them"}
		case f.Name == "baseline":
			err = hinted{error: errors.New("--baseline does not go with --fix"), hint: "use --skip KIND/NAME:PATH for what fix must not put back"}
		case f.Name == "dry-run":
			err = hinted{error: errors.New("--dry-run does not go with --fix"),
				hint: "helmdrift fix RELEASE --dry-run=server lets the API server try the fix"}
		default:
			err = hinted{error: fmt.Errorf("--%s does not go with --fix", f.Name), hint: outOfScope}
		}
	})
	if err != nil {
		return err
	}
	return o.repair.check(flags)
}
