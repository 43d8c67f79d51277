package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// This file is snapshot hr/NAME, and diff hr/NAME of a snapshot.

// capture implements controlled.
func (f *fluxDiff) capture(
	ctx context.Context, s cli.Streams, o *cli.CompareOptions, from drift.Connection, namespace string, args []string, flags *pflag.FlagSet,
) (captured, error) {
	name, err := f.words().CheckOne(f.ControllerOptions, args, flags, f.words().Decides())
	if err != nil {
		return captured{}, err
	}
	question := f.question(s, o, o.Jobs())
	question.Namespace, question.Name = namespace, name
	if len(args) > 1 {
		question.Chart, question.Own = o.Chart(args[1]), true
	}
	plan, err := flux.New(ctx, from, question)
	if err != nil {
		return captured{}, err
	}
	return captured{plan.Targets(), plan.Adapt, plan.Close}, nil
}

// session connects to the cluster, or opens the snapshot. Now is the time of the report.
func (f *fluxDiff) session(
	ctx context.Context, o *diffOptions, name string, args []string, flags *pflag.FlagSet,
) (d cli.Session, now func() time.Time, err error) {
	if !flags.Changed("snapshot") {
		d, err = o.Begin(ctx, append([]string{name}, args[1:]...), "diff")
		return d, time.Now, err
	}
	if err := o.checkSnapshot(flags); err != nil {
		return d, nil, err
	}
	if f.WithCredentials {
		return d, nil, hint.New(errors.New("--with-source-credentials cannot be used with --snapshot"),
			"log in with helm, or give the chart as CHART")
	}
	saved, err := o.guests.open(o.snapshot)
	if err != nil {
		return d, nil, err
	}
	target := drift.Target{Namespace: saved.Namespace, Release: saved.Release}
	if flags.Changed("namespace") {
		target.Namespace, err = flags.GetString("namespace")
	}
	if err == nil && len(args) > 1 {
		target.Chart = o.Chart(args[1])
	}
	if err == nil {
		d, err = o.SavedSession(ctx, saved, target)
	}
	return d, func() time.Time { return saved.Time }, err
}
