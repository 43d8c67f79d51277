package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/garbage"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output/progress"
	"github.com/helmdrift/helmdrift/internal/search"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file compares the releases that a selection finds, in one or several clusters. internal/search finds them, and pkg/fleet reads
// what the releases share.

// fleetScan implements scan.
type fleetScan struct {
	cli.Streams
	connection *cli.Connection
	search.Flags
}

// isSet implements scan. Several namespaces are written with commas.
func (f *fleetScan) isSet(flags *pflag.FlagSet) bool {
	return len(f.connection.ForNamespaces()) > 1 || f.Flags.IsSet(flags)
}

// check implements scan.
func (f *fleetScan) check(flags *pflag.FlagSet, hasChart bool) error {
	if hasChart {
		return hint.New(errors.New("a CHART is compared with one release, and the command selects several"),
			"helmdrift diff RELEASE CHART -n NAMESPACE compares one; without CHART, "+commaHint)
	}
	for _, name := range []string{"to-revision", "revision", "install", "fix"} {
		if flags.Changed(name) {
			return hint.New(fmt.Errorf("--%s needs one release", name), "name one, in one namespace: helmdrift diff RELEASE -n NAMESPACE --"+name)
		}
	}
	return f.Flags.Check(flags)
}

// run compares all selected releases and prints one report.
func (f *fleetScan) run(ctx context.Context, o diffOptions, names []string) error {
	s := f.Streams
	options, err := o.OptionsWithRules()
	if err != nil {
		return err
	}
	if o.all != nil { // what tools do next is compared without a search for claims
		if err := o.FailOn.CheckOne(); err != nil {
			return err
		}
	}
	o.GivenValues = len(names) == 1 // it may be in several environments
	options.GivenValues = o.GivenValues
	clusters, err := search.New(s, f.connection, f.Flags, names)
	if err != nil {
		return err
	}
	clusters.ByDeployers = o.all != nil
	start := time.Now()
	clusters.ShowProgress(progress.NewScan(s.Err, s.Display(s.Err, o.Color, start).Text, time.Now))
	releases, err := search.InClusters(ctx, clusters, func(
		source fleet.Source, found fleet.Found, show func(fleet.Progress),
	) ([]report.Release, error) {
		garbage.LimitScan(s.Env, len(found.Releases), o.all != nil)
		if o.all != nil {
			on, done := clusters.Share(ctx, source, found, show)
			defer done()
			limits := o.Jobs()
			limits.Program.Pool = confine.NewPool(runtime.GOMAXPROCS(0))
			defer limits.Program.Pool.Close()
			on.Options, on.Report = options, o.Release
			on.Options.ReadManifest, on.Options.Render = limits.ReadManifest, limits.RenderChart
			return o.all(ctx, on, limits)
		}
		compared, err := source.Compare(ctx, found, fleet.Options{
			Options: options, Concurrency: f.Concurrency, Progress: show, AllOrphans: o.FailOn["orphan"],
			Report: func(r *drift.Result) report.Release { return o.Release(r, nil) },
		})
		return clusters.Take(compared), err
	})
	if err != nil {
		return err
	}
	o.opened.finish(releases)
	now := time.Now()
	clusters.Covered.Seconds = now.Sub(start).Seconds()
	r := report.NewScan(version, now, releases, clusters.Errors, clusters.Covered)
	look := o.Look(s, r, now)
	if err := clusters.CheckFound(len(r.Releases)); err != nil {
		return err
	}
	if err := o.Print(s, r, look); err != nil {
		return err
	}
	return o.FailOn.Status(r)
}

// fleetGuest returns diff of several releases, and list, as a guest.
func fleetGuest() guest {
	return guest{
		commands: []guestCommand{{"list", newList, listHelp}},
		scan:     func(s cli.Streams, c *cli.Connection) scan { return &fleetScan{Streams: s, connection: c} },
	}
}
