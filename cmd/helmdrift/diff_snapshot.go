package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// This file is diff --snapshot: a comparison from a file instead of a cluster. A child process renders the chart as usual.

// runDiffSnapshot compares the release of a snapshot and prints the report. The report has the time of the snapshot.
func runDiffSnapshot(ctx context.Context, s cli.Streams, c *cli.Connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	if err := o.checkSnapshot(flags); err != nil {
		return err
	}
	saved, err := o.guests.open(o.snapshot)
	if err != nil {
		return err
	}
	if o.Writes(output.Diff) && !saved.HasText {
		return hint.New(errors.New("-o diff needs the text of the manifest, which snapshots of older versions do not have"),
			"helmdrift snapshot RELEASE -o FILE saves it")
	}
	target := drift.Target{Namespace: saved.Namespace, Release: saved.Release, Revision: o.Revision, RollbackTo: o.ToRevision}
	chart, hasChart, err := saved.Chart(args, o.Source.RepoURL)
	if err != nil {
		return err
	}
	if err := o.check(flags, hasChart); err != nil {
		return err
	}
	if hasChart {
		target.Chart = o.Chart(chart)
	}
	if flags.Changed("namespace") && c.Namespace != saved.Namespace {
		return fmt.Errorf("--namespace is %s, and the snapshot is of namespace %s", c.Namespace, saved.Namespace)
	}
	d, err := o.SavedSession(ctx, saved, target)
	if err != nil {
		return err
	}
	return o.report(ctx, s, d, flags, func() time.Time { return saved.Time }, nil)
}

// checkSnapshot refuses flags that need a cluster.
func (o *diffOptions) checkSnapshot(flags *pflag.FlagSet) error {
	needless := slices.Concat(scanFlags(o.guests), fixFlags(o.guests), []string{
		"fix", "dry-run", "install", "from-flux", "kubeconfig", "kube-context", "context", "kube-token", "kube-as-user", "kube-as-group",
		"kube-apiserver", "kube-ca-file", "kube-tls-server-name", "kube-insecure-skip-tls-verify", "request-timeout", "qps", "burst-limit",
	})
	refusals := []cli.Refusal{{Flags: needless, Advice: "a snapshot is compared without a cluster"}}
	err := cli.Refuse(flags, refusals, "--snapshot")
	if err == nil && o.snapshot == "" {
		err = errors.New("--snapshot needs the name of a file")
	}
	return err
}
