package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is absorb hr/NAME: the values of a HelmRelease, and the places of a working tree where they live.

// keep implements controlled.
func (f *fluxDiff) keep(
	ctx context.Context, s cli.Streams, o *cli.CompareOptions, args []string, flags *pflag.FlagSet,
) (d cli.Session, out kept, err error) {
	name, err := f.words().CheckOne(f.ControllerOptions, args, flags, append(f.words().Decides(), withoutSnapshot()))
	switch {
	case err != nil:
		return d, out, err
	case flags.Changed("write") && f.From == "":
		return d, out, hint.New(errors.New("absorb writes no object of the cluster, so --write needs a working tree"),
			"--from FOLDER names it; -o flux prints a patch of the HelmRelease")
	case flags.Changed("write") && f.From == "-":
		return d, out, hint.New(errors.New("--write cannot change what comes from stdin"), "--from FOLDER names the working tree")
	}
	tree, err := f.tree(s, o)
	if err != nil {
		return d, out, err
	}
	if d, err = o.Begin(ctx, append([]string{name}, args[1:]...), "absorb"); err != nil {
		return d, out, err
	}
	out.close = func() {}
	defer func() {
		if err != nil {
			d.Quiet()
			out.close()
		}
	}()
	from, question := d.Connection, f.question(s, o, o.Jobs())
	question.Namespace, question.Name = d.Target.Namespace, name
	if d.Target.Chart != nil {
		question.Chart, question.Own = d.Target.Chart, true
	}
	if question.Tree, _, err = tree.Trees(ctx, from, api.HelmReleaseRef(d.Target.Namespace, name)); err != nil {
		return d, out, err
	}
	plan, err := flux.New(ctx, from, question)
	if err != nil {
		return d, out, err
	}
	out.close = plan.Close
	if err = plan.Keep(); err != nil {
		return d, out, err
	}
	if question.Tree != nil && !tree.Order.Rendered {
		build, done := tree.Builder(ctx)
		out.close = func() {
			plan.Close()
			done()
		}
		if out.tree, err = plan.Keeper(ctx, from, build); err != nil {
			return d, out, err
		}
	}
	out.of = report.ObjectKey{Key: plan.HelmRelease()}
	out.warnings, out.errors = plan.Remarks()
	d.Use(plan.Target, plan.Connection, plan.Adapt(d.Options))
	return d, out, nil
}
