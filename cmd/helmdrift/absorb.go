package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
)

// This file is the command absorb: it finds the changes of values by which the chart renders what the cluster holds, and writes them into
// the values file if --write says so. It writes nothing to the cluster.

// absorbOptions are the flags of absorb, besides those that say what is compared.
type absorbOptions struct {
	compareOptions
	format         formatOf
	color          oneOf
	unmanaged      bool
	write          bool
	maxSideEffects int
	snapshot       string
}

// absorbExitHelp is the part of the help that explains the exit codes.
const absorbExitHelp = `Exit codes:
  0  everything that drifted is absorbed, or there is nothing to absorb
  1  usage error or failure; or the chart does not render
  2  something is left; the result says why`

// newAbsorb returns the command absorb.
func newAbsorb(s streams, c *connection) *cobra.Command {
	o := absorbOptions{compareOptions: newCompareOptions(s, c), format: newFormatOf(output.AbsorbFormats()), color: newColor()}
	cmd := &cobra.Command{
		Use:   "absorb RELEASE CHART",
		Short: "Find the values that make the chart agree with the cluster",
		Long: `absorb takes over what somebody changed in the cluster: for each field that drifted, it finds the
smallest change of values with which CHART renders what the cluster holds. Each change is proved by
rendering, and what else it would move is shown. The result is a patch of the last values file.

Give CHART and the values as for helm upgrade. Without -f, the values that the release stores are
the file. --write changes the file in place and keeps comments, order and anchors; a change that
moves more than --max-side-effects fields of other objects is shown and not written.

What no value controls is left, with the template that writes it; -o kustomize prints patches of it
for a post-renderer, which are proved too.

With --install, objects that no release records, such as those of an application of Argo CD, are
compared with the chart, and every field in which they differ is absorbed.

A secret is never written into values or patches. absorb reads the cluster and writes nothing to it.

` + absorbExitHelp,
		Example: `  helmdrift absorb web ./chart -n prod -f values.yaml
  helmdrift absorb web ./chart -n prod -f values.yaml --write
  helmdrift absorb web ./chart -n prod -f values.yaml --unmanaged
  helmdrift absorb web oci://registry.example.com/charts/web --version 1.8.1 -n prod -o values > absorbed.yaml
  helmdrift absorb web ./chart -n prod -f values.yaml -o kustomize > kustomization.yaml
  helmdrift absorb web ./chart -n shop -f values.yaml --install -o argocd > patch.yaml
  helmdrift absorb --snapshot web.json.gz ./chart -f values.yaml`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeRelease(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAbsorb(cmd.Context(), s, c, o, args, cmd.Flags())
		},
	}
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the result: "+strings.Join(output.AbsorbFormats(), ", "))
	addColorFlag(fs, &o.color)
	fs.BoolVar(&o.unmanaged, "unmanaged", false, "also absorb fields that no manifest names and that somebody added")
	fs.BoolVar(&o.write, "write", false, "write the changes into the last values file")
	fs.IntVar(&o.maxSideEffects, "max-side-effects", 0,
		"absorb a field only if no more than `N` fields of other objects move with it")
	fs.StringVar(&o.snapshot, "snapshot", "", "read what helmdrift snapshot saved in this `file`, without a cluster")
	fs.IntVar(&o.revision, "revision", 0, "start from stored revision `N` instead of the one helm upgrade would start from")
	o.ignoreOptions.addFlags(fs)
	o.desiredOptions.addFlags(fs)
	hideFlags(fs, "to-revision", "dry-run")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.AbsorbFormats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check refuses flags that contradict each other or have no effect.
func (o *absorbOptions) check(flags *pflag.FlagSet, hasChart bool) error {
	if err := o.checkRevision(); err != nil {
		return err
	}
	switch {
	case !hasChart:
		return hint.New(errors.New("absorb needs a CHART, whose values it changes"), "helmdrift absorb RELEASE CHART -f values.yaml")
	case o.toRevision != 0 || o.dryRun.word != "":
		return errors.New("--to-revision and --dry-run have no effect on absorb")
	case o.install && o.unmanaged:
		return errors.New("--install and --unmanaged exclude each other: without a release, what only the cluster has need not be an edit")
	case o.maxSideEffects < 0:
		return fmt.Errorf("--max-side-effects %d: the least is 0", o.maxSideEffects)
	case o.write && len(o.values.Files) == 0:
		return hint.New(errors.New("--write needs a values file to change"),
			"-f FILE names it; without one, -o values prints the changes as a file of their own")
	case fetch.IsPluginURL(o.valuesFile()):
		return hint.New(fmt.Errorf("absorb cannot change %s, which a plugin makes", o.valuesFile()),
			"give a file of plain values last: -f "+o.valuesFile()+" -f FILE")
	case o.write && !isWritable(o.valuesFile()):
		return fmt.Errorf("--write cannot change %s, which is no file on this machine", o.valuesFile())
	}
	return o.desiredOptions.check(flags, hasChart)
}

// valuesFile returns the file that is changed: the last one; empty if none is given.
func (o *absorbOptions) valuesFile() string {
	if n := len(o.values.Files); n > 0 {
		return o.values.Files[n-1]
	}
	return ""
}

// isWritable reports whether a values file is a regular file.
func isWritable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// runAbsorb searches, prints the result, and changes the file if --write says so.
func runAbsorb(ctx context.Context, s streams, c *connection, o absorbOptions, args []string, flags *pflag.FlagSet) error {
	d, err := o.session(ctx, s, c, args, flags)
	if err != nil {
		return err
	}
	values, err := readValuesFile(ctx, o.valuesFile(), d.target.Chart)
	if err != nil {
		return err
	}
	began := time.Now()
	a, err := d.comparer.Absorb(ctx, d.target, drift.AbsorbOptions{
		Unmanaged: o.unmanaged, MaxSideEffects: o.maxSideEffects, Rewrite: values.rewrite,
	})
	if err != nil {
		return withFlagHint(err, d.target.Chart)
	}
	now := time.Now()
	result := a.Report(version, now)
	result.Seconds = now.Sub(began).Round(time.Millisecond).Seconds()
	values.describe(result, a)
	if o.write && len(result.Edits) > 0 {
		if err := values.write(a.Content); err != nil {
			return err
		}
		result.Written = true
	}
	if err := output.WriteAbsorb(s.out, o.format.format, result, s.display(s.out, o.color, now)); err != nil {
		return err
	}
	return absorbStatus(result)
}

// session connects to the cluster, or opens the snapshot.
func (o *absorbOptions) session(ctx context.Context, s streams, c *connection, args []string, flags *pflag.FlagSet) (session, error) {
	if !flags.Changed("snapshot") {
		if len(args) > 2 {
			return session{}, errors.New("absorb takes a release and a chart and nothing else")
		}
		if err := o.check(flags, len(args) == 2); err != nil {
			return session{}, err
		}
		return begin(ctx, s, c, o.compareOptions, args, "absorb")
	}
	saved, err := readSnapshot(o.snapshot)
	if err != nil {
		return session{}, err
	}
	chart, hasChart, err := chartArg(args, saved, o.source.RepoURL)
	if err != nil {
		return session{}, err
	}
	if err := o.check(flags, hasChart); err != nil {
		return session{}, err
	}
	options, err := o.comparison(s, c)
	if err != nil {
		return session{}, err
	}
	player := snapshot.NewPlayer(saved)
	options.ReadManifest = o.limits.jobs(c.debug).Bounded(player.ReadManifest)
	target := drift.Target{Namespace: saved.Namespace, Release: saved.Release, Revision: o.revision, Chart: o.chart(chart)}
	return session{comparer: drift.New(player.Connection(), options), target: target}, nil
}

// absorbStatus returns the exit code of a result as an error; nil is exit code 0.
func absorbStatus(r *report.AbsorbResult) error {
	if _, left := r.Counts(); len(r.Errors) > 0 {
		return exitStatus(exitFailure)
	} else if left > 0 {
		return exitStatus(exitSelected)
	}
	return nil
}
