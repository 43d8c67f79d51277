package drift

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/forecast"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// forecast predicts what the writes of a comparison mean for pods. It reads the lists that the forecast wants.
func (c *Comparer) forecast(ctx context.Context, comparison *threeway.Comparison) forecast.Effects {
	in := forecast.Input{
		Autoscaled: comparison.Input.Autoscaled, AutoscalersUnseen: comparison.Input.AutoscalersUnseen, Seen: forecast.Seen{},
	}
	for i := range comparison.Objects {
		in.Objects = append(in.Objects, forecastObject(&comparison.Objects[i], comparison))
	}
	return c.Predict(ctx, in)
}

// Predict reads what a forecast wants, and predicts. Its types are internal: other modules pass it on to repair.Plan.Forecast, which
// predicts what a plan means for pods. What cannot be read makes the forecast less exact, and it says so.
func (c *Comparer) Predict(ctx context.Context, in forecast.Input) forecast.Effects {
	in.Now = c.connection.now()
	for _, want := range forecast.Wants(in) {
		in.Seen[want] = c.look(ctx, want)
	}
	return forecast.Predict(in)
}

// look reads a list that the forecast wants, or the one object of it that has a name.
func (c *Comparer) look(ctx context.Context, want forecast.Want) forecast.List {
	if want.Name == "" {
		items, err := c.connection.Cluster.List(ctx, want.Kind, want.Namespace)
		return forecast.List{Items: items, Err: err}
	}
	ref := object.Ref{
		Key:     object.Key{Group: want.Kind.Group, Kind: want.Kind.Kind, Namespace: want.Namespace, Name: want.Name},
		Version: want.Kind.Version,
	}
	found := c.connection.Cluster.Read(ctx, []object.Ref{ref})[ref]
	switch {
	case found.Err != nil && found.Err.Code == live.CodeForbidden:
		return forecast.List{Err: apierrors.NewForbidden(schema.GroupResource{}, ref.Name, errors.New(found.Err.Message))}
	case found.Err != nil:
		return forecast.List{Err: errors.New(found.Err.Message)}
	case found.Object == nil:
		return forecast.List{}
	}
	return forecast.List{Items: []map[string]any{found.Object}}
}

// forecastObject returns an object before and after Helm's write.
func forecastObject(o *threeway.ObjectComparison, c *threeway.Comparison) forecast.Object {
	out := forecast.Object{
		Ref: o.Ref, Action: o.Action, Live: c.Input.Live[o.Ref].Object, Before: o.Live, After: o.Result, Deployed: o.Old,
		TemplateEdited: templateEdited(o), Doubt: doubt(o, c),
	}
	normal := kinds.NewNormalizer(o.Key, kinds.Native().Shape(o.GVK()), out.Live)
	if out.Before == nil && out.Live != nil {
		out.Before = normal.Stored(out.Live).Object()
	}
	switch o.Action {
	case report.ActionCreate:
		out.Before, out.After = nil, normal.Manifest(o.Content).Object()
	case report.ActionDelete:
		out.After = nil
	case report.ActionNone, report.ActionKeep, report.ActionFail, report.ActionSkip:
		out.After = out.Before
	case report.ActionUpdate, report.ActionReplace, report.ActionAdopt:
	}
	return out
}

// templateEdited returns when the live pod template last drifted, which for a Pod is its spec; zero if it did not, or if nobody knows when.
// A value that only is written in another way, or that a controller fills in, is no edit.
func templateEdited(o *threeway.ObjectComparison) time.Time {
	var last time.Time
	template := object.Path{{Name: "spec"}, {Name: "template"}}
	if o.GroupKind() == (schema.GroupKind{Kind: "Pod"}) {
		template = template[:1]
	}
	for _, f := range o.Findings {
		isEdit := f.Cause != report.CauseChange && !f.Equivalent && f.Class != report.ClassAllocated
		if !isEdit || !f.Path.HasPrefix(template) {
			continue
		}
		for _, owner := range f.Owners {
			if owner.Time != nil && owner.Time.After(last) {
				last = *owner.Time
			}
		}
	}
	return last
}

// doubt returns why it is not certain what the write leaves; empty if it is.
func doubt(o *threeway.ObjectComparison, c *threeway.Comparison) string {
	if o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees {
		return "the server disagrees about what the write leaves"
	}
	for _, f := range o.Findings {
		if !f.Certain && f.Path[0].Name == "spec" {
			return "it is not certain what becomes of " + c.ShownPath(o, f.Path).String()
		}
	}
	return ""
}

// withEffects adds the effects to the report of a release.
func withEffects(r report.Release, effects forecast.Effects, scrub func(string) string) report.Release {
	for i := range r.Objects {
		r.Objects[i].Effect = effects.Objects[r.Objects[i].Key()].Map(scrub)
	}
	r.Effect = effects.Release.Map(scrub)
	for _, what := range effects.Unread {
		r.Warnings = append(r.Warnings, report.Message{Code: report.CodeEffects,
			Message: scrub(what) + "; what the operation means for pods and data is not exact"})
	}
	return r
}
