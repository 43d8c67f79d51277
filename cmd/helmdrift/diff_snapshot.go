package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
)

// This file is diff --snapshot: a comparison from a file instead of a cluster. The file may come from somebody else; pkg/snapshot bounds
// and validates it. A chart is rendered as ever, in a child process.

// runDiffSnapshot compares the release of a snapshot and prints the report, which is of the time of the snapshot.
func runDiffSnapshot(ctx context.Context, s streams, c *connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	if err := o.checkSnapshot(flags); err != nil {
		return err
	}
	known, err := saved.Baseline(o.baseline)
	if err != nil {
		return err
	}
	saved, err := readSnapshot(o.snapshot)
	if err != nil {
		return err
	}
	if o.writes(output.Diff) && !saved.HasText() {
		return hint.New(errors.New("-o diff needs the text of the manifest, which snapshots of older versions do not have"),
			"helmdrift snapshot RELEASE -o FILE saves it")
	}
	target := drift.Target{Namespace: saved.Namespace, Release: saved.Release, Revision: o.revision, RollbackTo: o.toRevision}
	chart, hasChart, err := chartArg(args, saved, o.source.RepoURL)
	if err != nil {
		return err
	}
	if err := o.check(flags, hasChart); err != nil {
		return err
	}
	if hasChart {
		target.Chart = o.chart(chart)
	}
	if flags.Changed("namespace") && c.namespace != saved.Namespace {
		return fmt.Errorf("--namespace is %s, and the snapshot is of namespace %s", c.namespace, saved.Namespace)
	}
	options, err := o.comparison(s, c)
	if err != nil {
		return err
	}
	player := snapshot.NewPlayer(saved)
	options.ReadManifest = o.limits.jobs(c.debug).Bounded(player.ReadManifest)
	d := session{comparer: drift.New(player.Connection(), options), target: target}
	return o.report(ctx, s, d, known, flags, func() time.Time { return saved.Time })
}

// readSnapshot reads a snapshot. Its errors name the file.
func readSnapshot(name string) (*snapshot.Snapshot, error) {
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
	return saved, nil
}

// chartArg returns the chart of the arguments, which are [RELEASE] [CHART]. A single argument is the release if it has its name, unless
// there is such a file or a repository to look in.
func chartArg(args []string, saved *snapshot.Snapshot, repo string) (chart string, hasChart bool, err error) {
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == saved.Release && repo == "" && !fetch.IsLocal(args[0]):
		return "", false, nil
	case len(args) == 1:
		return args[0], true, nil
	case args[0] != saved.Release:
		return "", false, fmt.Errorf("the snapshot is of release %s, not %s", saved.Release, args[0])
	}
	return args[1], true, nil
}

// checkSnapshot refuses flags that need a cluster.
func (o *diffOptions) checkSnapshot(flags *pflag.FlagSet) error {
	needless := slices.Concat(selectionFlags(), []string{
		"fix", "dry-run", "install", "from-flux", "kubeconfig", "kube-context", "context", "kube-token", "kube-as-user", "kube-as-group",
		"kube-apiserver", "kube-ca-file", "kube-tls-server-name", "kube-insecure-skip-tls-verify", "request-timeout", "qps", "burst-limit",
	})
	needless = slices.Concat(needless, fixFlags())
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && slices.Contains(needless, f.Name) {
			err = hint.New(fmt.Errorf("--%s cannot be used with --snapshot", f.Name), "a snapshot is compared without a cluster")
		}
	})
	if err == nil && flags.Changed("snapshot") && o.snapshot == "" {
		err = errors.New("--snapshot needs the name of a file")
	}
	return err
}
