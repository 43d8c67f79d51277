package forecast

import (
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// prediction is a forecast that is being made: its input, the effects so far, and what several of them need.
type prediction struct {
	Input
	effects map[object.Key]*report.Effect
	known   map[string]knownUsers
}

// addOthers adds the effects on objects that are no workloads, and what other objects mean for workloads. It needs the effects on the
// workloads themselves.
func (in Input) addOthers(effects map[object.Key]*report.Effect) {
	p := &prediction{Input: in, effects: effects, known: map[string]knownUsers{}}
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Action.Writes() && o.Group == "batch" && o.Kind == "Job" {
			if e := in.job(o); e != nil {
				effects[o.Key] = e
			}
		}
	}
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Action.Writes() && o.runsPods() {
			p.addToWorkload(o)
		}
	}
	for i := range in.Objects {
		o := &in.Objects[i]
		if e := p.other(o); e != nil && e.Text != "" {
			effects[o.Key] = e
		}
	}
}

// addToWorkload adds to the effect on a workload what other objects mean for it.
func (in *prediction) addToWorkload(o *Object) {
	e := in.effects[o.Key]
	if e == nil {
		return
	}
	if e.Restarts > 0 && !o.isPod() {
		e.Notes = append(e.Notes, in.checksumNotes(o)...)
	}
	in.claimsOf(e, o)
	in.limit(e, o)
}

// other returns the effect on an object that is no workload; nil if it has none.
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

// infrastructure returns the effect on an object that pods need or that limits them; nil if it has none.
func (in *prediction) infrastructure(o *Object) *report.Effect {
	switch o.GroupKind().String() {
	case "PersistentVolumeClaim":
		return in.claim(o)
	case "PersistentVolume":
		return volume(o)
	case "ResourceQuota":
		return in.quota(o)
	case "LimitRange":
		return limitRange(o)
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
