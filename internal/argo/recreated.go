package argo

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says what it means that a sync deletes an object and creates it again.

// outcome returns the outcome of the write of an object, or the zero value if none is known.
func (p *Plan) outcome(of object.Key) argocd.Outcome {
	found, _ := p.outcomes.Load(of)
	out, _ := found.(argocd.Outcome)
	return out
}

// recreated returns the objects that the sync deletes and creates again, in their order.
func (p *Plan) recreated() (out []object.Key) {
	for key := range p.outcomes.Range {
		if key := key.(object.Key); p.outcome(key).Why != "" {
			out = append(out, key)
		}
	}
	order.Sort(out, object.Key.Compare)
	return out
}

// noteRecreated says which objects the next sync deletes and creates again. An object that does not change is in no report, so a warning
// names it. It is no drift, and Argo CD does not sync because of it, but any sync recreates it. Such an object has no effect in the report,
// so if pods stop, the code says that the effects are incomplete.
func (p *Plan) noteRecreated(r *report.Release) {
	for _, key := range p.recreated() {
		why := p.outcome(key).Why
		at := slices.IndexFunc(r.Objects, func(o report.Object) bool { return o.Key() == key && o.Action != report.ActionNone })
		if at >= 0 {
			r.Objects[at].Notes.Add(why + "; what others have set on it is lost")
			continue
		}
		code, loses := CodeWarning, goWithTheirData[key.Kind]
		if loses == podsStop || loses == podStops {
			code = report.CodeEffects
		}
		if loses != "" {
			loses = "; " + loses
		}
		p.warnAs(code, fmt.Sprintf("%s: at the next sync, %s, although none of its fields changes%s", key, why, loses))
	}
}

// goWithTheirData are the kinds whose objects take pods, data or other objects with them when they are deleted, and what then happens.
var goWithTheirData = map[string]string{
	"CronJob": podsStop, "DaemonSet": podsStop, "Deployment": podsStop, "Job": podsStop, "ReplicaSet": podsStop,
	"ReplicationController": podsStop, "StatefulSet": podsStop, "Pod": podStops,
	"PersistentVolumeClaim": "its data may be lost", "CustomResourceDefinition": "all of its objects go",
}

const podsStop, podStops = "its pods stop", "it stops"

// forecast returns a forecast that takes an object that Argo CD creates again for a deleted one: its pods do not roll, and its data does
// not stay.
func (p *Plan) forecast(of effect.Forecast) effect.Forecast {
	if of == nil {
		return nil
	}
	return func(ctx context.Context, from effect.Reader, o effect.Operation) effect.Effects {
		o.Objects = slices.Clone(o.Objects)
		for i := range o.Objects {
			w := &o.Objects[i]
			if w.Action.Writes() && goWithTheirData[w.Kind] != "" && p.outcome(w.Key).Why != "" {
				w.Action, w.After = report.ActionDelete, nil
			}
		}
		return of(ctx, from, o)
	}
}
