package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/argo"
	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is absorb app/NAME: the values of an Application, and the places of a working tree where they live.

// keep implements controlled.
func (f *argoDiff) keep(
	ctx context.Context, s cli.Streams, o *cli.CompareOptions, args []string, flags *pflag.FlagSet,
) (d cli.Session, out kept, err error) {
	name, err := f.words().CheckOne(f.ControllerOptions, args, flags, append(f.unsupported(), f.words().Decides()...))
	if err != nil {
		return d, out, err
	}
	if f.From == "" {
		return d, out, hint.New(errors.New("absorb changes the values of an Application in a working tree"),
			"--from FOLDER names it; without a tree, compare with the chart: helmdrift absorb "+name+" CHART --install -o argocd")
	}
	of, err := f.tree()
	if err != nil {
		return d, out, err
	}
	if d, err = o.Begin(ctx, append([]string{name}, args[1:]...), "absorb"); err != nil {
		return d, out, err
	}
	question, done := f.question(s, o, o.Jobs())
	defer done()
	question.Namespace, question.Name = d.Target.Namespace, name
	var plan *argo.Plan
	defer func() {
		if err != nil {
			d.Quiet()
			if plan != nil {
				plan.Close()
			}
		}
	}()
	if question.Tree, err = f.search(ctx, d.Connection, question, of, o.Jobs()); err != nil {
		return d, out, err
	}
	if plan, err = argo.New(ctx, d.Connection, question); err != nil {
		return d, out, err
	}
	keeper, err := plan.Keep(ctx, question.Tree)
	if err != nil {
		return d, out, err
	}
	out.tree, out.request, out.close = keeper, keeper.Request, plan.Close
	out.of = report.ObjectKey{Key: plan.Application()}
	out.warnings, out.errors = plan.Remarks()
	d.Use(plan.Target, plan.Connection, plan.Adapt(d.Options))
	return d, out, nil
}
