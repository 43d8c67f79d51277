package forecast

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Run implements [effect.Forecast]: it reads what the prediction wants, and predicts.
func Run(ctx context.Context, from effect.Reader, o effect.Operation) effect.Effects {
	in := Input{Autoscaled: o.Autoscaled, AutoscalersUnseen: o.AutoscalersUnseen, Now: o.Now, Seen: Seen{}}
	for _, w := range o.Objects {
		in.Objects = append(in.Objects, Object(w))
	}
	if from != nil {
		for _, want := range Wants(in) {
			in.Seen[want] = look(ctx, from, want)
		}
	}
	return Predict(in)
}

// look reads a list that the forecast wants, or the one object with the wanted name.
func look(ctx context.Context, from effect.Reader, want Want) List {
	if want.Name == "" {
		items, err := from.List(ctx, want.Kind, want.Namespace)
		return List{Items: items, Err: err}
	}
	ref := object.Ref{
		Key:     object.Key{Group: want.Kind.Group, Kind: want.Kind.Kind, Namespace: want.Namespace, Name: want.Name},
		Version: want.Kind.Version,
	}
	found := from.Read(ctx, []object.Ref{ref})[ref]
	switch {
	case found.Err != nil && found.Err.Code == cluster.CodeForbidden:
		return List{Err: apierrors.NewForbidden(schema.GroupResource{}, ref.Name, errors.New(found.Err.Message))}
	case found.Err != nil:
		return List{Err: errors.New(found.Err.Message)}
	case found.Object == nil:
		return List{}
	}
	return List{Items: []map[string]any{found.Object}}
}

// Predict returns the effects of an operation.
func Predict(in Input) effect.Effects {
	wanted, seen := allWants(in), Seen{}
	for _, want := range wanted {
		seen[want] = List{Err: errNotRead}
	}
	maps.Copy(seen, in.Seen)
	in.Seen = seen
	out := effect.Effects{Objects: map[object.Key]*report.Effect{}, Unread: in.unread(wanted), Unknown: map[object.Key]bool{}}
	for i := range in.Objects {
		o := &in.Objects[i]
		if effect := in.effectOf(o); effect != nil {
			out.Objects[o.Key] = effect
		}
		if o.isUnknown() {
			out.Unknown[o.Key] = true
			out.Unread = append(out.Unread, "what becomes of the pods of "+named(o.Key)+" is not known")
		}
	}
	in.addOthers(out.Objects)
	out.Release = sum(in.Objects, out.Objects)
	return out
}

// effectOf returns the effect of an object, or nil if it has none.
func (in Input) effectOf(o *Object) *report.Effect {
	if w, ok := workloadOf(o); ok {
		return in.workload(w)
	}
	switch {
	case o.isPod():
		return barePod(o)
	case o.Group == "batch" && o.Kind == "Job" && o.Action.Writes():
		return job(o)
	}
	return customWorkload(o)
}

// addOthers adds the effects on objects that are not workloads, and what these mean for workloads. It needs the effects on workloads.
func (in Input) addOthers(effects map[object.Key]*report.Effect) {
	p := &prediction{Input: in, effects: effects, known: map[string]knownUsers{}}
	for i := range in.Objects {
		o := &in.Objects[i]
		e := effects[o.Key]
		if e == nil || !o.Action.Writes() || !o.runsPods() {
			continue
		}
		if e.Restarts > 0 && !o.isPod() {
			e.Notes = append(e.Notes, in.checksumNotes(o)...)
		}
		in.claimsOf(e, o)
	}
	for i := range in.Objects {
		o := &in.Objects[i]
		if e := p.other(o); e != nil && e.Text != "" {
			effects[o.Key] = e
		}
	}
}

// other returns the effect on an object that is not a workload, or nil if it has none.
func (in *prediction) other(o *Object) *report.Effect {
	group := o.GroupKind().String()
	if group == "Service" {
		return in.service(o)
	}
	if !o.Action.Writes() {
		return nil
	}
	switch group {
	case "ConfigMap", "Secret":
		return in.config(o)
	case "EndpointSlice.discovery.k8s.io":
		return in.endpointSlice(o)
	case "Ingress.networking.k8s.io":
		return in.ingress(o)
	case "HTTPRoute.gateway.networking.k8s.io":
		return in.httpRoute(o)
	case "NetworkPolicy.networking.k8s.io":
		return in.networkPolicy(o)
	case "PodDisruptionBudget.policy":
		return in.budget(o)
	case "CronJob.batch":
		return in.cronJob(o)
	case "HorizontalPodAutoscaler.autoscaling", "ScaledObject.keda.sh":
		return in.autoscaler(o)
	}
	return in.infrastructure(o)
}

// infrastructure returns the effect on an object that pods need, or nil if it has none. Except for claims, only a deletion has an effect.
func (in *prediction) infrastructure(o *Object) *report.Effect {
	kind := o.GroupKind().String()
	switch {
	case o.Before == nil:
		return nil
	case kind == "PersistentVolumeClaim":
		return in.claim(o)
	case o.After != nil:
		return nil
	}
	switch kind {
	case "PersistentVolume":
		return volume(o)
	case "Namespace":
		return in.namespace(o)
	case "ServiceAccount":
		return in.serviceAccount(o)
	case "PriorityClass.scheduling.k8s.io":
		return in.priorityClass(o)
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return in.definition(o)
	}
	return nil
}

// sum returns the sum of the effects on objects, or nil if no pod restarts, starts or stops, nothing goes down and nothing is lost.
func sum(objects []Object, effects map[object.Key]*report.Effect) *report.ReleaseEffect {
	out := &report.ReleaseEffect{}
	var outages, lost, cut []string
	for i := range objects {
		o, e := &objects[i], effects[objects[i].Key]
		if e == nil {
			continue
		}
		out.Restarts, out.Starts, out.Stops = out.Restarts+e.Restarts, out.Starts+e.Starts, out.Stops+e.Stops
		if e.Restarts > 0 {
			out.Workloads++
		}
		down := report.ObjectKey{Key: o.Key}
		switch {
		case !e.Downtime:
		case o.runsPods():
			out.Downtime, outages = append(out.Downtime, down), append(outages, outage(o, e))
		case o.Kind == "ScaledObject":
			if down.Key = targetOf(o, o.After); !slices.Contains(out.Downtime, down) {
				out.Downtime = append(out.Downtime, down)
			}
			outages = append(outages, down.Name+" has no pods afterwards")
		default:
			out.Downtime, cut = append(out.Downtime, down), append(cut, named(o.Key))
		}
		lost = append(lost, e.Lost...)
		if out.Inexact == "" && (e.Restarts+e.Starts+e.Stops+len(e.Lost) > 0 || e.Downtime) {
			out.Inexact = e.Inexact
		}
	}
	var does []string
	if out.Restarts > 0 {
		does = append(does, fmt.Sprintf("restarts %s in %s", english.Count(out.Restarts, "pod"), english.Count(out.Workloads, "workload")))
	}
	if out.Starts > 0 {
		does = append(does, "starts "+english.Count(out.Starts, "pod"))
	}
	if out.Stops > 0 {
		does = append(does, "stops "+english.Count(out.Stops, "pod"))
	}
	var clauses []string
	if len(does) > 0 {
		clauses = append(clauses, strings.Join(does, ", "))
	}
	clauses = append(clauses, outages...)
	if len(cut) > 0 {
		clauses = append(clauses, firstNames(cut)+" "+verb(len(cut), "has", "have")+" no ready pod for a time")
	}
	if len(lost) > 0 {
		clauses = append(clauses, "lost for good: "+firstNames(lost))
	}
	if len(clauses) == 0 {
		return nil
	}
	out.Text = strings.Join(clauses, "; ")
	return out
}

// outage says that a workload has no ready pod for a time, and why.
func outage(o *Object, e *report.Effect) string {
	switch {
	case e.Restarts == 0:
		return o.Name + " has no pods afterwards"
	case strategyType(o.After) == recreate:
		return o.Name + " is down while it restarts (Recreate)"
	}
	return o.Name + " is down while it restarts"
}
