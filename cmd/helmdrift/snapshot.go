package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
)

// This file is the command snapshot: it makes the same comparisons as diff and saves what they read. diff_snapshot.go reads the file.

// snapshotOptions are the flags of snapshot. The flags of diff that choose a desired state choose what to capture.
type snapshotOptions struct {
	cli.CompareOptions
	output         string
	includeSecrets bool
	overwrite      bool
	// controllers answer for a first argument such as hr/web.
	controllers controllers
}

// newSnapshot returns the command snapshot.
func newSnapshot(s cli.Streams, c *cli.Connection, all guest) *cobra.Command {
	o := snapshotOptions{CompareOptions: cli.NewCompareOptions(s, c, all.forecast), controllers: newControllers(all)}
	cmd := &cobra.Command{
		Use:   "snapshot RELEASE [CHART] -o FILE",
		Short: "Save what a comparison reads, so that diff can make it elsewhere",
		Long: `snapshot reads what helmdrift diff reads of a release, and saves it in a file. helmdrift diff
--snapshot FILE makes the same report from it without a cluster. It writes nothing to the cluster.

Secrets are replaced by random tokens, which are equal where the secrets are: the report shows that
a password differs, and nobody can find out the password. With --include-secrets they are kept.

Without CHART the file is good for drift, and for charts that name no object that the release does
not have. With CHART it also holds the objects that CHART adds and what its templates look up. With
--to-revision it also holds the revision to return to. With hr/NAME it holds what helmdrift diff
hr/NAME reads of a HelmRelease of Flux, but not its chart.`,
		Example: `  helmdrift snapshot web -n prod -o web.json.gz
  helmdrift snapshot web ./chart -n prod -f values.yaml -o web.json.gz
  helmdrift snapshot hr/web -n shop -o web.json.gz
  helmdrift diff --snapshot web.json.gz
  helmdrift diff --snapshot web.json.gz ./chart -f values.yaml`,
		Args:              snapshotArgs,
		ValidArgsFunction: o.controllers.complete(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.CheckRevision(), o.check(cmd.Flags(), len(args) > 1)); err != nil {
				return err
			}
			return runSnapshot(cmd.Context(), s, c, o, args, cmd.Flags())
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", "", "`file` to write, such as web.json.gz")
	fs.BoolVar(&o.includeSecrets, "include-secrets", false, "keep secrets as they are instead of masking them")
	fs.BoolVar(&o.overwrite, "overwrite", false, "replace the file even if it is no snapshot")
	fs.IntVar(&o.Revision, "revision", 0, "start from stored revision `N` instead of the one helm upgrade would start from")
	o.DesiredOptions.AddFlags(fs)
	fs.Lookup("to-revision").Usage = "also save revision `N`, so that the snapshot can show a rollback to it; -1 is the one before the last"
	cli.HideFlags(fs, "install", "dry-run", "skip-crds", "create-namespace")
	return cmd
}

// snapshotArgs refuses anything but a release and a chart.
func snapshotArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] == "" {
		return cli.EmptyNameError()
	}
	if len(args) == 1 || len(args) == 2 {
		return nil
	}
	return hint.New(errors.New("snapshot takes a release, and a chart if one is to be compared later"), "helmdrift list shows the releases")
}

// check refuses flags that contradict each other or have no effect.
func (o *snapshotOptions) check(flags *pflag.FlagSet, hasChart bool) error {
	switch {
	case o.output == "":
		return hint.New(errors.New("snapshot needs a file to write"), "-o web.json.gz names one")
	case o.output == "-":
		return errors.New("snapshot writes a file, not standard output")
	case o.DryRun.Word != "":
		return errors.New("--dry-run has no effect on a snapshot: a snapshot cannot try writes")
	case o.Install:
		return errors.New("--install has no effect on a snapshot, which is of an installed release")
	}
	return o.DesiredOptions.Check(flags, hasChart)
}

// runSnapshot compares and saves what the comparisons read. It first compares without the chart, since a reader may want that.
func runSnapshot(ctx context.Context, s cli.Streams, c *cli.Connection, o snapshotOptions, args []string, flags *pflag.FlagSet) error {
	if err := o.checkFile(); err != nil {
		return err
	}
	if of := o.controllers.named(args); of != nil {
		if err := of.words().CheckRelease(args); err != nil {
			return err
		}
	}
	if len(args) > 1 {
		if err := o.CheckFiles(ctx, args[1]); err != nil {
			return err
		}
	}
	options := o.Options()
	found, err := c.Resolve()
	if err != nil {
		return err
	}
	activity := s.NewActivity(c)
	defer activity.Stop()
	options.Doing = activity.Say
	activity.Say("connecting to the cluster")
	cluster, storage, err := c.Connect(ctx, found)
	if err != nil {
		return err
	}
	recorder := snapshot.NewRecorder(drift.LiveConnection(cluster, found.Cluster, storage))
	target := drift.Target{Namespace: found.Namespace, Release: args[0]}
	if controlled := o.controllers.named(args); controlled != nil {
		target, options, err = o.compareControlled(ctx, controlled, s, recorder.Connection(), options, target, args, flags)
	} else {
		err = o.compareAll(ctx, drift.New(recorder.Connection(), options), found.Namespace, args)
		err = c.WithSuggestion(ctx, err, cluster, storage, target, "snapshot")
	}
	if err != nil {
		return err
	}
	activity.Say("reading what a later chart may need")
	about := snapshot.Options{
		Helmdrift: version, Time: time.Now(), Namespace: target.Namespace, Release: target.Release, IncludeSecrets: o.includeSecrets,
		ReadManifest: options.ReadManifest, Learned: options.Learned,
	}
	if len(args) > 1 {
		about.Chart = args[1]
	}
	saved, err := recorder.Snapshot(ctx, about)
	if err == nil {
		err = ctx.Err() // an interrupt looks like objects that cannot be read
	}
	if err != nil {
		return err
	}
	activity.Stop()
	if err := saved.WriteFile(o.output); err != nil {
		return err
	}
	fmt.Fprintln(s.Out, o.output+": "+saved.Summary())
	return nil
}

// compareAll makes the comparisons whose answers are saved: with the record, and with the chart or the revision to return to.
func (o *snapshotOptions) compareAll(ctx context.Context, comparer *drift.Comparer, namespace string, args []string) error {
	target := drift.Target{Namespace: namespace, Release: args[0], Revision: o.Revision}
	if _, err := comparer.Compare(ctx, target); err != nil {
		return cli.WithFlagHint(err, nil)
	}
	if target.RollbackTo = o.ToRevision; target.RollbackTo != 0 {
		_, err := comparer.Compare(ctx, target)
		return cli.WithFlagHint(err, nil)
	}
	if len(args) < 2 {
		return nil
	}
	target.Chart = o.Chart(args[1])
	result, err := comparer.Compare(ctx, target)
	if err != nil {
		return cli.WithFlagHint(err, target.Chart)
	}
	for _, m := range result.Comparison.Input.Errors {
		if m.Code == report.ErrorRender {
			return hint.New(fmt.Errorf("the chart could not be rendered: %s", m), "without CHART, the release alone is saved")
		}
	}
	return nil
}

// compareControlled makes the comparisons for an object that a controller deploys a release from, and returns the release and the options
// that it was compared with.
func (o *snapshotOptions) compareControlled(
	ctx context.Context, of controlled, s cli.Streams, from drift.Connection, options drift.Options, target drift.Target, args []string,
	flags *pflag.FlagSet,
) (drift.Target, drift.Options, error) {
	what, err := of.capture(ctx, s, &o.CompareOptions, from, target.Namespace, args, flags)
	if err != nil {
		return target, options, err
	}
	defer what.close()
	options = what.adapt(options)
	comparer := drift.New(from, options)
	for _, t := range what.targets {
		if _, err := comparer.Compare(ctx, t); err != nil {
			return target, options, cli.WithFlagHint(err, t.Chart)
		}
	}
	return what.targets[0], options, nil
}

// checkFile refuses to replace a file that is not a snapshot, unless --overwrite is set, and to write to a folder that does not exist. It
// runs before the cluster is asked.
func (o *snapshotOptions) checkFile() error {
	info, err := os.Stat(o.output)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		_, err = os.Stat(filepath.Dir(o.output))
	}
	switch {
	case err != nil:
		return fmt.Errorf("--output %s: %w", o.output, err)
	case !isNew && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", o.output)
	case isNew, o.overwrite:
		return nil
	}
	file, err := os.Open(o.output)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	if !snapshot.IsSnapshot(file) {
		return hint.New(fmt.Errorf("%s exists and is no snapshot", o.output), "--overwrite replaces it anyway")
	}
	return nil
}

// snapshotHelp returns the headings of the help of snapshot.
func snapshotHelp() []cli.FlagGroup {
	return slices.Concat([]cli.FlagGroup{cli.Group("What to write", "output", "include-secrets", "overwrite")},
		cli.DesiredGroups("to-revision", "revision"), cli.CommonGroups())
}

// openSnapshot opens the file of a snapshot. It may come from somebody else, so pkg/snapshot limits and validates it.
func openSnapshot(name string) (*cli.SavedCluster, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--snapshot: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	saved, err := snapshot.Read(file)
	if err != nil {
		return nil, hint.New(fmt.Errorf("--snapshot %s is not a usable snapshot: %w", name, err),
			"helmdrift snapshot RELEASE -o FILE makes one")
	}
	player := snapshot.NewPlayer(saved)
	return &cli.SavedCluster{
		Connection: player.Connection(), ReadManifest: player.ReadManifest, Namespace: saved.Namespace, Release: saved.Release,
		Time: saved.Time, HasText: saved.HasText(),
	}, nil
}

// snapshotGuest returns snapshots as a guest.
func snapshotGuest() guest {
	return guest{commands: []guestCommand{{"snapshot", newSnapshot, snapshotHelp}}, open: openSnapshot}
}
