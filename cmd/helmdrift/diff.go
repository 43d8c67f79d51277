package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	desiredOptions
	format      output.Format
	failOn      failOn
	color       colorMode
	revision    int
	showSecrets bool
}

func newDiff(s streams, c *connection) *cobra.Command {
	o := diffOptions{
		desiredOptions: newDesiredOptions(s), format: output.Text,
		failOn: failOn{"drift": true, "conflict": true, "fail": true}, color: "auto",
	}
	cmd := &cobra.Command{
		Use:   "diff [RELEASE [CHART]]",
		Short: "Compare a release with the cluster, field by field",
		Long: `diff compares what Helm stored for a release with what the cluster holds, and says of
every field that differs what the next helm upgrade will do to it.

Without CHART it shows drift: the next upgrade is taken to send the stored manifest again.
With CHART it renders the chart as helm upgrade would, and shows what that upgrade changes
over the drift that is there. CHART is all that Helm takes: a directory, a .tgz, a URL,
repo/name, oci://…. With --to-revision it shows what helm rollback would do. Without RELEASE
it takes the only release of the namespace.

Signs: + add   - remove   ± overwrite   ∅ ignore   ! conflict

` + exitHelp,
		Example: `  helmdrift diff web -n prod
  helmdrift diff web ./chart -n prod -f values.yaml --set image.tag=1.27
  helmdrift diff web oci://registry.example.com/charts/web --version 1.8.1 -n prod --reuse-values
  helmdrift diff web --to-revision -1 -n prod
  helmdrift diff web -n prod -o json --fail-on drift,unmanaged`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: completeRelease(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags(), args); err != nil {
				return err
			}
			return runDiff(cmd.Context(), s, c, o, args)
		},
	}
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the report: "+strings.Join(output.Formats(), ", "))
	fs.Var(&o.failOn, "fail-on", "what makes the exit code 2, of: "+strings.Join(failOnWords(), ", "))
	fs.Var(&o.color, "color", "colour: auto, always or never [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
	fs.IntVar(&o.revision, "revision", 0, "compare with this stored revision instead of the one helm upgrade would take")
	fs.BoolVar(&o.showSecrets, "show-secrets", false, "show values that are masked otherwise")
	o.addFlags(fs)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(failOnWords(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// runDiff is the wiring of diff, straight down.
func runDiff(ctx context.Context, s streams, c *connection, o diffOptions, args []string) error {
	at, err := c.resolve()
	if err != nil {
		return err
	}
	cluster, err := live.Connect(ctx, at.config, c.options())
	if err != nil {
		return err
	}
	store, err := release.Open(c.driver, at.namespace, cluster.Metadata(), cluster.Dynamic())
	if err != nil {
		return err
	}
	d := diff{options: o, connection: c, at: at, cluster: cluster, store: store}
	if len(args) > 0 {
		d.name = args[0]
	} else if d.name, err = onlyRelease(ctx, store, at.namespace); err != nil {
		return err
	}
	if len(args) > 1 {
		d.chart = args[1]
	}
	comparison, err := d.settled(ctx)
	if err != nil {
		return err
	}
	if o.dryRun.word != "" {
		comparison.Verify(cluster.DryRun(ctx, comparison.Requests()))
	}
	now := time.Now()
	report := threeway.NewReport(version, now, []threeway.ReleaseReport{comparison.Report(threeway.Mask{Show: o.showSecrets})})
	if err := output.Write(s.out, o.format, report, s.display(o.color, now)); err != nil {
		return err
	}
	return o.failOn.status(report)
}

// check refuses flags that contradict each other or would have no effect.
func (o *diffOptions) check(flags *pflag.FlagSet, args []string) error {
	if o.revision < 0 {
		return fmt.Errorf("--revision %d: revisions begin at 1", o.revision)
	}
	return o.desiredOptions.check(flags, len(args) > 1)
}

// onlyRelease finds the release to take where none is named.
func onlyRelease(ctx context.Context, store *release.Store, namespace string) (string, error) {
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
	return "", hinted{error: fmt.Errorf("namespace %q has %d releases:%s", namespace, len(found), strings.Join(names, "")), hint: "name one: helmdrift diff RELEASE"}
}
