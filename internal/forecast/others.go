package forecast

import (
	"maps"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// addOthers adds the effects on objects that are no workloads, and what other objects mean for workloads. It needs the effects on the
// workloads themselves.
func (in Input) addOthers(effects map[object.Key]*report.Effect) {
	jobs := map[object.Key]*report.Effect{}
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Action.Writes() && o.Group == "batch" && o.Kind == "Job" {
			if e := in.job(o); e != nil {
				jobs[o.Key] = e
			}
		}
	}
	maps.Copy(effects, jobs)
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Action.Writes() && o.runsPods() {
			in.addToWorkload(o, effects)
		}
	}
	found := map[object.Key]*report.Effect{}
	for i := range in.Objects {
		o := &in.Objects[i]
		if e := in.other(o, effects); e != nil && e.Text != "" {
			found[o.Key] = e
		}
	}
	maps.Copy(effects, found)
}

// addToWorkload adds to the effect on a workload what other objects mean for it.
func (in Input) addToWorkload(o *Object, effects map[object.Key]*report.Effect) {
	e := effects[o.Key]
	if e == nil {
		return
	}
	if e.Restarts > 0 {
		e.Notes = append(e.Notes, in.checksumNotes(o)...)
	}
	in.claimsOf(e, o)
	in.limit(e, o, effects)
}

// other returns the effect on an object that is no workload; nil if it has none.
func (in Input) other(o *Object, effects map[object.Key]*report.Effect) *report.Effect {
	group := o.GroupKind().String()
	if group == "Service" {
		return in.service(o, effects)
	}
	if !o.Action.Writes() {
		return nil
	}
	switch group {
	case "ConfigMap", "Secret":
		return in.config(o, effects)
	case "EndpointSlice.discovery.k8s.io":
		return in.endpointSlice(o)
	case "Ingress.networking.k8s.io":
		return in.ingress(o)
	case "HTTPRoute.gateway.networking.k8s.io":
		return in.httpRoute(o)
	case "NetworkPolicy.networking.k8s.io":
		return in.networkPolicy(o, effects)
	case "PodDisruptionBudget.policy":
		return in.budget(o, effects)
	case "CronJob.batch":
		return in.cronJob(o)
	case "HorizontalPodAutoscaler.autoscaling", "ScaledObject.keda.sh":
		return in.autoscaler(o)
	}
	return in.infrastructure(o, effects)
}

// infrastructure returns the effect on an object that pods need or that limits them; nil if it has none.
func (in Input) infrastructure(o *Object, effects map[object.Key]*report.Effect) *report.Effect {
	switch o.GroupKind().String() {
	case "PersistentVolumeClaim":
		return in.claim(o, effects)
	case "PersistentVolume":
		return volume(o)
	case "ResourceQuota":
		return in.quota(o)
	case "LimitRange":
		return limitRange(o)
	case "Namespace":
		return in.namespace(o)
	case "ServiceAccount":
		return in.serviceAccount(o, effects)
	case "PriorityClass.scheduling.k8s.io":
		return in.priorityClass(o)
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return in.definition(o)
	}
	return nil
}
