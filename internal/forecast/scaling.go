package forecast

import (
	"fmt"
	"math"
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// bounds are the numbers of replicas that an autoscaler may set.
type bounds struct{ least, most int }

// boundsOf returns the bounds of a HorizontalPodAutoscaler or of a ScaledObject of KEDA.
func boundsOf(o *Object, m map[string]any) bounds {
	spec := object.Child(m, "spec")
	if o.Kind == "ScaledObject" {
		if paused, is := pausedBounds(m); is {
			return paused
		}
		return bounds{number(spec, "minReplicaCount", 0), number(spec, "maxReplicaCount", 100)}
	}
	return bounds{number(spec, "minReplicas", 1), number(spec, "maxReplicas", 1)}
}

// pausedBounds returns the bounds of a paused ScaledObject, and whether it is paused. One annotation makes it scale to a fixed number, and
// the other one alone makes it scale nothing.
func pausedBounds(m map[string]any) (bounds, bool) {
	annotations := object.Child(object.Child(m, "metadata"), "annotations")
	if text, ok := annotations["autoscaling.keda.sh/paused-replicas"].(string); ok {
		if n, err := strconv.Atoi(text); err == nil {
			return bounds{n, n}, true
		}
	}
	return bounds{0, math.MaxInt32}, object.PausesScaling(m)
}

// autoscaler returns the effect of the write of an autoscaler on what it scales.
func (in Input) autoscaler(o *Object) *report.Effect {
	m := o.After
	if m == nil {
		m = o.Before
	}
	target := targetOf(o, m)
	scaled := in.find(target)
	if o.After == nil {
		return &report.Effect{Text: "nothing scales " + named(target) + " any more: it keeps its number of replicas"}
	}
	is := boundsOf(o, o.After)
	if o.Before != nil && boundsOf(o, o.Before) == is || scaled == nil || scaled.After == nil {
		return nil
	}
	n := replicas(scaled.After)
	switch {
	case n == 0 && is.least > 0:
		return nil
	case n < is.least:
		return &report.Effect{Text: fmt.Sprintf("scales %s from %d to %d replicas or more", named(target), n, is.least)}
	case n > 0 && is.most == 0:
		return scaledToZero(scaled, n)
	case n > is.most:
		return &report.Effect{Text: fmt.Sprintf("scales %s from %d to %d replicas or less", named(target), n, is.most)}
	}
	return nil
}

// scaledToZero returns the effect of an autoscaler that stops all n pods of a workload, as a ScaledObject does that is paused at 0 (KEDA
// v2 pkg/scaling/executor/scale_scaledobjects.go RequestScale). A workload that the operation creates has no pods yet.
func scaledToZero(o *Object, n int) *report.Effect {
	e := &report.Effect{Text: fmt.Sprintf("scales %s from %d to 0 replicas", named(o.Key), n)}
	if o.Before != nil {
		e.Stops, e.Downtime = n, number(object.Child(o.Live, "status"), "readyReplicas", 0) > 0
	}
	return e
}

// targetOf returns what an autoscaler scales.
func targetOf(o *Object, m map[string]any) object.Key {
	ref := object.Child(object.Child(m, "spec"), "scaleTargetRef")
	key := object.Key{Group: "apps", Kind: "Deployment", Namespace: o.Namespace}
	if version, ok := ref["apiVersion"].(string); ok {
		gv, _ := schema.ParseGroupVersion(version)
		key.Group = gv.Group
	}
	if kind, ok := ref["kind"].(string); ok {
		key.Kind = kind
	}
	key.Name, _ = ref["name"].(string)
	return key
}

// budget returns the effect of the write of a PodDisruptionBudget. It limits evictions, such as those of a node drain, but not roll-outs:
// controllers delete pods and do not evict them.
func (in *prediction) budget(o *Object) *report.Effect {
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	if object.Equal(spec, desired) || !in.hasPods(o.Namespace) {
		return nil
	}
	p := in.population(o.Namespace)
	before, _ := matched(p.now, budgetSelector(o.Version, spec))
	after, _ := matched(p.then, budgetSelector(o.Version, desired))
	e := &report.Effect{Inexact: p.why}
	evictable := evictions(decoded[policyv1.PodDisruptionBudget](o.After), after)
	switch {
	case before == 0 && after == 0 && p.why == "":
		return nil
	case before == 0 && after == 0:
		e.Text = "selects no pod of the release"
	case after == 0:
		e.Text = "no longer limits the eviction of " + english.Count(before, "pod")
	case evictable == 0:
		e.Text = "lets none of " + english.Count(after, "pod") + " be evicted: node drains wait"
	default:
		e.Text = fmt.Sprintf("lets %d of %s be evicted at the same time", evictable, english.Count(after, "pod"))
	}
	return e
}

// budgetSelector returns the selector of a PodDisruptionBudget. An absent one selects no pod, and an empty one all of the namespace
// (k8s.io/api v0.36.3 policy/v1/types.go PodDisruptionBudgetSpec). At version v1beta1, which Kubernetes 1.25 removed, an empty one selects
// none either (k8s.io/api v0.36.3 policy/v1beta1/types.go PodDisruptionBudgetSpec).
func budgetSelector(version string, spec map[string]any) labels.Selector {
	if !object.Has(spec, "selector") || version == "v1beta1" && len(object.Child(spec, "selector")) == 0 {
		return labels.Nothing()
	}
	return labelSelector(spec, "selector")
}

// evictions returns how many of n pods may be evicted at the same time if all are healthy. A budget without a bound allows none.
func evictions(b policyv1.PodDisruptionBudget, n int) int {
	bound := b.Spec.MaxUnavailable
	if bound == nil {
		bound = b.Spec.MinAvailable
	}
	if bound == nil {
		return 0
	}
	pods, err := intstr.GetScaledValueFromIntOrPercent(bound, n, true)
	switch {
	case err != nil:
		return 0
	case b.Spec.MaxUnavailable != nil:
		return min(n, pods)
	}
	return max(0, n-pods)
}
