package repair

import (
	"context"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/forecast"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Forecast predicts what the writes of the plan mean for pods, and adds it to Result. Predict reads what the forecast wants, and predicts.
func (p *Plan) Forecast(ctx context.Context, predict func(context.Context, forecast.Input) forecast.Effects) {
	planned := map[*threeway.ObjectComparison]*ObjectPlan{}
	for i := range p.Objects {
		planned[p.Objects[i].compared] = &p.Objects[i]
	}
	in := forecast.Input{
		Autoscaled: p.comparison.Input.Autoscaled, AutoscalersUnseen: p.comparison.Input.AutoscalersUnseen, Seen: forecast.Seen{},
	}
	for i := range p.comparison.Objects {
		o := &p.comparison.Objects[i]
		in.Objects = append(in.Objects, p.forecastObject(o, planned[o]))
	}
	p.effects = predict(ctx, in)
}

// forecastObject returns an object before and after the writes of its plan; nil if nothing is written.
func (p *Plan) forecastObject(o *threeway.ObjectComparison, plan *ObjectPlan) forecast.Object {
	live := p.comparison.Input.Live[o.Ref].Object
	switch {
	case plan == nil:
		return forecast.Object{Ref: o.Ref, Action: report.ActionNone, Live: live, Before: o.Live, After: o.Live, Deployed: o.Old}
	case plan.Create != nil:
		after := kinds.NewNormalizer(o.Key, kinds.Native().Shape(o.GVK()), nil).Manifest(plan.Create).Object()
		return forecast.Object{Ref: o.Ref, Action: report.ActionCreate, After: after, Deployed: o.Old}
	}
	return plan.forecastObject(plan.Changes)
}

// forecastObject returns the object before and after some changes.
func (o *ObjectPlan) forecastObject(changes []Change) forecast.Object {
	live := o.source.Live
	out := forecast.Object{Ref: o.Ref, Action: report.ActionNone, Live: live, Before: o.source.Normal(live), Deployed: o.source.Declared()}
	out.After = out.Before
	if after, err := o.repaired(live, changes); err == nil && len(changes) > 0 {
		out.Action, out.After = report.ActionUpdate, o.source.Normal(after)
	}
	return out
}

// restarts returns why some changes of an object must not be made if no pod may restart; empty if they restart none.
func (b *builder) restarts(changes []Change) string {
	o := b.plan.forecastObject(changes)
	in := forecast.Input{Objects: []forecast.Object{o}, Autoscaled: b.planner.plan.comparison.Input.Autoscaled}
	effects := forecast.Predict(in)
	switch e := effects.Objects[o.Key]; {
	case effects.Unknown[o.Key]:
		return "may restart its pods, which only the controller of its kind knows"
	case e != nil && e.Restarts > 0:
		return "would restart " + english.Count(e.Restarts, "pod")
	}
	return ""
}

// withoutRestarts returns the changes that restart no pod, and declines those that do or may. Each is tried beside all that were kept
// before it.
func (b *builder) withoutRestarts(kept, changes []Change) []Change {
	if !b.noRestart {
		return changes
	}
	var out []Change
	for _, c := range changes {
		kept = append(kept[:len(kept):len(kept)], c)
		if why := b.restarts(kept); why != "" {
			b.decline(b.compared, c.ID, why)
			kept = kept[:len(kept)-1]
			continue
		}
		out = append(out, c)
	}
	return out
}
