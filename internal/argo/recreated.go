package argo

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says what it means that a sync deletes an object and creates it again.

// recreations are the objects that a sync deletes and creates again. The comparison adds them from several goroutines.
type recreations struct {
	lock sync.Mutex
	of   map[object.Key]argocd.Recreation
}

func (r *recreations) set(key object.Key, is argocd.Recreation) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.of == nil {
		r.of = map[object.Key]argocd.Recreation{}
	}
	r.of[key] = is
}

func (r *recreations) get(key object.Key) argocd.Recreation {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.of[key]
}

// keys returns the objects that are created again, in their order.
func (r *recreations) keys() (out []object.Key) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for key, is := range r.of {
		if is.Why != "" {
			out = append(out, key)
		}
	}
	order.Sort(out, object.Key.Compare)
	return out
}

// noteRecreated says which objects the next sync deletes and creates again. One that does not change is in no report, and a warning names
// it: it is no drift, and Argo CD does not sync because of it, but any sync does that, for whatever reason it begins.
func (p *Plan) noteRecreated(r *report.Release) {
	for _, key := range p.recreated.keys() {
		why := p.recreated.get(key).Why
		at := slices.IndexFunc(r.Objects, func(o report.Object) bool { return o.Key() == key && o.Action != report.ActionNone })
		if at >= 0 {
			r.Objects[at].Notes.Add(why + "; what others have set on it is lost")
			continue
		}
		loses := goWithTheirData[key.Kind]
		if loses != "" {
			loses = "; " + loses
		}
		p.warn(fmt.Sprintf("%s: at the next sync, %s, although none of its fields changes%s", key, why, loses))
	}
}

// goWithTheirData are the kinds whose objects take pods, data or other objects with them when they are deleted, and what then happens.
var goWithTheirData = map[string]string{
	"CronJob": podsStop, "DaemonSet": podsStop, "Deployment": podsStop, "Job": podsStop, "ReplicaSet": podsStop, "ReplicationController": podsStop,
	"StatefulSet": podsStop, "Pod": "it stops", "PersistentVolumeClaim": "its data may be lost", "CustomResourceDefinition": "all of its objects go",
}

const podsStop = "its pods stop"

// forecast returns a forecast for which an object that is created again goes first: its pods do not roll, and its data does not stay.
func (p *Plan) forecast(of effect.Forecast) effect.Forecast {
	if of == nil {
		return nil
	}
	return func(ctx context.Context, from effect.Reader, o effect.Operation) effect.Effects {
		o.Objects = slices.Clone(o.Objects)
		for i := range o.Objects {
			w := &o.Objects[i]
			if w.Action.Writes() && goWithTheirData[w.Kind] != "" && p.recreated.get(w.Key).Why != "" {
				w.Action, w.After = report.ActionDelete, nil
			}
		}
		return of(ctx, from, o)
	}
}
