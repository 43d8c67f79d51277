package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file compares the releases that a selection finds, in one or several clusters. The search is in search.go, and the reading that the
// releases share in pkg/fleet.

// checkScan refuses flags that need one release.
func (o *diffOptions) checkScan(flags *pflag.FlagSet, hasChart bool) error {
	if hasChart {
		return hint.New(errors.New("CHART needs one release"), commaHint)
	}
	for _, name := range []string{"to-revision", "revision", "install", "fix"} {
		if flags.Changed(name) {
			return fmt.Errorf("--%s needs one release", name)
		}
	}
	return o.selectionOptions.check(flags)
}

// runScan compares all selected releases and prints one report.
func runScan(ctx context.Context, s streams, c *connection, o diffOptions, names []string) error {
	known, err := saved.Baseline(o.baseline)
	if err != nil {
		return err
	}
	options, err := o.comparison(s, c)
	if err != nil {
		return err
	}
	search, err := newSearch(s, c, o.selectionOptions, names)
	if err != nil {
		return err
	}
	start := time.Now()
	search.showProgress(text.NewProgress(s.err, s.display(s.err, o.color, start).Text, time.Now))
	releases, err := inClusters(ctx, search, func(source fleet.Source, found fleet.Found, show func(fleet.Progress)) ([]report.Release, error) {
		s.limitMemory(len(found.Releases))
		return source.Compare(ctx, found, fleet.Options{
			Options: options, Concurrency: o.concurrency, Progress: show,
			Report: func(r *drift.Result) report.Release { return o.release(r, known) },
		})
	})
	if err != nil {
		return err
	}
	now := time.Now()
	search.covered.Seconds = now.Sub(start).Seconds()
	r := report.NewScan(version, now, releases, search.errors, search.covered)
	if err := search.checkFound(len(r.Releases)); err != nil {
		return err
	}
	if err := o.print(s, r, s.display(s.out, o.color, now)); err != nil {
		return err
	}
	return o.failOn.status(r)
}

// The memory that a scan aims at: a constant for the pages of objects, and what each release adds.
const (
	scanMemory    = 130 << 20
	releaseMemory = 160 << 10
)

// limitMemory makes the garbage collector keep the memory of a scan low, at the price of some processor time. It is no hard limit. GOMEMLIMIT,
// which is the user's own choice, takes precedence.
func (s streams) limitMemory(releases int) {
	if s.env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(scanMemory + int64(releases)*releaseMemory)
	}
}
