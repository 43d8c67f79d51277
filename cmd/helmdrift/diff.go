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
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
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
	// fix tells that what drifted is put back after the report, and repair how.
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

// runDiff is the wiring of diff, straight down.
func runDiff(ctx context.Context, s streams, c *connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	known, err := readBaseline(o.baseline)
	if err != nil {
		return err
	}
	d, err := begin(ctx, s, c, o, args, "diff")
	if err != nil {
		return err
	}
	comparison, loaded, err := d.settled(ctx)
	if err != nil {
		return err
	}
	if o.dryRun.word != "" {
		comparison.Verify(d.cluster.DryRun(ctx, comparison.Requests(), comparison.Deployer().Manager))
	}
	now := time.Now()
	release := comparison.Report(threeway.Mask{Show: o.showSecrets})
	if o.baseline != "" {
		release.Accept(known, "--baseline "+filepath.Base(o.baseline))
	}
	report := report.New(version, now, []report.Release{release})
	look := s.display(o.color, now)
	look.ShowIgnored = o.showIgnored
	if o.fix && o.format != output.Text {
		return d.putBack(ctx, s, comparison, loaded) // whose result has the report in it
	}
	if !o.fix && o.format == output.Text && o.revision == 0 && d.chart == "" && o.baseline == "" && !isElsewhere(comparison.Input) {
		look.Fix, look.Plan = d.fixCommand(flags), planned(comparison)
	}
	if err := output.Write(s.out, o.format, report, look); err != nil {
		return err
	}
	if o.fix {
		fmt.Fprintln(s.out)
		return d.putBack(ctx, s, comparison, loaded)
	}
	return o.failOn.status(report)
}

// begin connects to the cluster and finds the release for a command.
func begin(ctx context.Context, s streams, c *connection, o diffOptions, args []string, command string) (diff, error) {
	left, err := o.ignoreOptions.read(s, time.Now())
	if err != nil {
		return diff{}, err
	}
	c.known.Add(c.token, o.source.Password)
	at, err := c.resolve()
	if err != nil {
		return diff{}, err
	}
	cluster, err := live.Connect(ctx, at.config, c.options())
	if err != nil {
		return diff{}, err
	}
	store, err := release.Open(c.driver, at.namespace, cluster.Metadata(), cluster.Dynamic())
	if err != nil {
		return diff{}, err
	}
	o.bounds = o.bounds.logged(c.debug)
	d := diff{options: o, ignored: left, connection: c, at: at, cluster: cluster, store: store}
	if len(args) > 0 {
		d.name = args[0]
	} else if d.name, err = onlyRelease(ctx, store, at.namespace, command); err != nil {
		return diff{}, err
	}
	if len(args) > 1 {
		d.chart = args[1]
	}
	return d, nil
}

// putBack goes on from a comparison as helmdrift fix does.
func (d diff) putBack(ctx context.Context, s streams, c *threeway.Comparison, loaded *release.Loaded) error {
	flags := d.options.repair
	flags.format, flags.color, flags.showSecrets = d.options.format, d.options.color, d.options.showSecrets
	return fix{diff: d, flags: flags, streams: s, before: c, loaded: loaded}.run(ctx)
}

// planned is what a fix would write; nothing where that cannot be told, which is fix's to say.
func planned(c *threeway.Comparison) (all []report.FixPlan) {
	var err error
	defer caught(&err)
	plan, err := repair.New(c, repair.Options{})
	if err != nil {
		return nil
	}
	return plan.Result(threeway.Mask{}, nil).Plan
}

// fixCommand is the command that puts back what this one found. What chose the cluster is in it, or it would go to another one.
func (d diff) fixCommand(flags *pflag.FlagSet) string {
	words := []string{"helmdrift", "fix", d.name, "-n", d.at.namespace}
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
			err = hinted{error: errors.New("--dry-run does not go with --fix"), hint: "helmdrift fix RELEASE --dry-run=server lets the API server try the fix"}
		default:
			err = hinted{error: fmt.Errorf("--%s does not go with --fix", f.Name), hint: outOfScope}
		}
	})
	if err != nil {
		return err
	}
	return o.repair.check(flags)
}

// onlyRelease finds the release to take where none is named.
func onlyRelease(ctx context.Context, store *release.Store, namespace, command string) (string, error) {
	found, err := store.Names(ctx)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 0:
		return "", hinted{error: fmt.Errorf("no releases in namespace %q", namespace), hint: "-n chooses the namespace, HELM_DRIVER the storage"}
	case 1:
		return found[0].Name, nil
	}
	names := make([]string, len(found))
	for i, r := range found {
		names[i] = fmt.Sprintf("\n  %s (revision %d, %s)", r.Name, r.Revision, r.Status)
	}
	return "", hinted{error: fmt.Errorf("namespace %q has %d releases:%s", namespace, len(found), strings.Join(names, "")), hint: "name one: helmdrift " + command + " RELEASE"}
}
