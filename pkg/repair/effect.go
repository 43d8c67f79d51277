package repair

import (
	"context"
	"slices"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Forecast predicts what the writes of the plan mean for pods, and adds it to Result. Predict is the method of a drift.Comparer.
func (p *Plan) Forecast(ctx context.Context, predict func(context.Context, effect.Operation) effect.Effects) {
	planned := map[*threeway.ObjectComparison]*ObjectPlan{}
	for i := range p.Objects {
		planned[p.Objects[i].compared] = &p.Objects[i]
	}
	operation := effect.Operation{
		Autoscaled: p.comparison.Input.Autoscaled, AutoscalersUnseen: p.comparison.Input.AutoscalersUnseen,
	}
	for i := range p.comparison.Objects {
		o := &p.comparison.Objects[i]
		operation.Objects = append(operation.Objects, p.write(o, planned[o]))
	}
	p.effects = predict(ctx, operation)
}

// write returns an object before and after the writes of its plan, or nil if nothing is written.
func (p *Plan) write(o *threeway.ObjectComparison, plan *ObjectPlan) effect.Write {
	live := p.comparison.Input.Live[o.Ref].Object
	switch {
	case plan == nil:
		return effect.Write{Ref: o.Ref, Action: report.ActionNone, Live: live, Before: o.Live, After: o.Live, Deployed: o.Old}
	case plan.Create != nil:
		after := kinds.NewNormalizer(o.Key, kinds.Native().Shape(o.GVK()), nil).Manifest(plan.Create).Object()
		return effect.Write{Ref: o.Ref, Action: report.ActionCreate, After: after, Deployed: o.Old}
	}
	return plan.write(plan.Changes)
}

// write returns the object before and after some changes.
func (o *ObjectPlan) write(changes []Change) effect.Write {
	live := o.source.Live
	out := effect.Write{Ref: o.Ref, Action: report.ActionNone, Live: live, Before: o.source.Normal(live), Deployed: o.source.Declared()}
	out.After = out.Before
	if after, err := o.repaired(live, changes); err == nil && len(changes) > 0 {
		out.Action, out.After = report.ActionUpdate, o.source.Normal(after)
	}
	return out
}

// restarts returns why changes of an object must not be made if no pod may restart, or "" if they restart none.
func (b *builder) restarts(changes []Change) string {
	o := b.plan.write(changes)
	effects := b.Forecast(context.Background(), nil, effect.Operation{ // it reads nothing
		Objects: []effect.Write{o}, Autoscaled: b.planner.plan.comparison.Input.Autoscaled,
	})
	switch e := effects.Objects[o.Key]; {
	case effects.Unknown[o.Key]:
		return "may restart its pods, which only the controller of its kind knows"
	case e != nil && e.Restarts > 0:
		return "would restart " + english.Count(e.Restarts, "pod")
	}
	return ""
}

// withoutRestarts returns the changes that restart no pod, and declines those that do or may. It tries each change together with those that
// were kept before and all that it keeps itself.
func (b *builder) withoutRestarts(kept, changes []Change) []Change {
	if !b.NoRestart {
		return changes
	}
	var out []Change
	for _, c := range changes {
		if why := b.restarts(slices.Concat(kept, out, []Change{c})); why != "" {
			b.decline(b.compared, c.ID, why)
		} else {
			out = append(out, c)
		}
	}
	return out
}
