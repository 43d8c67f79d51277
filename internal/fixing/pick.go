package fixing

import (
	"context"
	"io"
	"slices"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is --patch of fix.

// pick asks for each field or object of a plan, and returns the plan without what the user does not want.
func (f Run) pick(ctx context.Context, plan *repair.Plan) (*repair.Plan, error) {
	planned, p := f.result(plan, nil, f.Before.Comparison), cli.Picker{Streams: f.Streams}
	var unwanted []repair.Selector
	for i, whole := range planned.Plan {
		for _, part := range partsOf(whole) {
			wants, err := p.Wants(ctx, func(w io.Writer) error {
				return output.WriteFixPick(w, planned, part, f.Streams.Display(w, f.Color, planned.Time))
			})
			switch {
			case err != nil:
				return nil, err
			case !wants:
				unwanted = append(unwanted, selectorOf(plan.Objects[i], part))
			}
		}
	}
	if len(unwanted) == 0 {
		return plan, nil
	}
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	left, err := without(f.Before.Comparison, plan, options, unwanted)
	if err != nil {
		return nil, err
	}
	f.explain(left, func(d repair.Declined) bool {
		return slices.ContainsFunc(plan.Declined, func(before repair.Declined) bool { return before.Ref == d.Ref && before.ID == d.ID })
	})
	left.Forecast(ctx, f.Comparer.Predict)
	return left, nil
}

// partsOf splits the plan of an object into what is asked for: each field, or the object as a whole.
func partsOf(whole report.FixPlan) (out []report.FixPlan) {
	if whole.Create || whole.HandOver {
		return []report.FixPlan{whole}
	}
	part := whole
	for _, field := range whole.Fields {
		part.Fields, part.Prune = []report.Finding{field}, nil
		out = append(out, part)
	}
	for _, field := range whole.Prune {
		part.Fields, part.Prune = nil, []report.Finding{field}
		out = append(out, part)
	}
	return out
}

// selectorOf returns the selector of a part of an object's plan.
func selectorOf(o repair.ObjectPlan, part report.FixPlan) repair.Selector {
	fields := slices.Concat(part.Fields, part.Prune)
	if len(fields) == 0 {
		return repair.Selector{Key: o.Ref.Key}
	}
	i := slices.IndexFunc(o.Changes, func(c repair.Change) bool { return c.ID == fields[0].ID })
	isOrder := fields[0].Class == report.ClassOrder // the items are asked for as well
	return repair.Selector{Key: o.Ref.Key, Path: o.Changes[i].Path.String(), Alone: isOrder}
}
