package forecast

import (
	"cmp"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// quotasIn and rangesIn are the lists of what limits the pods of a namespace.
func quotasIn(namespace string) Want {
	return Want{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}, Namespace: namespace}
}

func rangesIn(namespace string) Want {
	return Want{Kind: schema.GroupVersionKind{Version: "v1", Kind: "LimitRange"}, Namespace: namespace}
}

// afterwards returns the objects of a list as they are once the operation is over: those of the release as it leaves them.
func (in Input) afterwards(want Want) []map[string]any {
	var out []map[string]any
	for _, item := range in.Seen[want].Items {
		name, _ := object.Child(item, "metadata")["name"].(string)
		if in.find(object.Key{Group: want.Kind.Group, Kind: want.Kind.Kind, Namespace: want.Namespace, Name: name}) == nil {
			out = append(out, item)
		}
	}
	for _, o := range in.Objects {
		if o.GroupKind() == want.Kind.GroupKind() && o.Namespace == want.Namespace && o.After != nil {
			m := map[string]any{"metadata": map[string]any{"name": o.Name}, "spec": o.After["spec"]}
			used := object.Child(object.Child(o.Live, "status"), "used")
			m["status"] = map[string]any{"used": used}
			out = append(out, m)
		}
	}
	return out
}

// limitRanges returns the LimitRanges of a namespace.
func (in Input) limitRanges(namespace string) []corev1.LimitRange {
	var out []corev1.LimitRange
	for _, item := range in.afterwards(rangesIn(namespace)) {
		out = append(out, decoded[corev1.LimitRange](item))
	}
	return out
}

// limit adds to the effect on a workload which of its new pods are refused by a LimitRange or a ResourceQuota.
func (in *prediction) limit(e *report.Effect, o *Object) {
	if e.Restarts+e.Starts == 0 || o.After == nil || o.isPod() && e.Starts == 0 {
		return
	}
	e.Inexact = cmp.Or(e.Inexact, unread(in.Seen[quotasIn(o.Namespace)], "resource quotas"),
		unread(in.Seen[rangesIn(o.Namespace)], "limit ranges"))
	ranges := in.limitRanges(o.Namespace)
	spec := withDefaults(podSpec(templateIn(o.Key, o.After)), ranges)
	for _, r := range ranges {
		if why := refusedBy(r, spec); why != "" {
			e.Notes = append(e.Notes, "LimitRange "+r.Name+" refuses the new pods: "+why)
		}
	}
	for _, item := range in.afterwards(quotasIn(o.Namespace)) {
		quota := decoded[corev1.ResourceQuota](item)
		if !counts(quota, spec) {
			continue
		}
		if why := in.exceeds(quota, o, spec); why != "" {
			e.Notes = append(e.Notes, "ResourceQuota "+quota.Name+" refuses new pods: "+why)
		}
	}
}

// counts reports whether a quota counts a pod: all its scopes must match.
func counts(q corev1.ResourceQuota, spec corev1.PodSpec) bool {
	var scopes []corev1.ScopedResourceSelectorRequirement
	for _, name := range q.Spec.Scopes {
		scopes = append(scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		scopes = append(scopes, q.Spec.ScopeSelector.MatchExpressions...)
	}
	for _, scope := range scopes {
		if !inScope(scope, spec) {
			return false
		}
	}
	return true
}

// inScope reports whether a pod is in a scope.
func inScope(scope corev1.ScopedResourceSelectorRequirement, spec corev1.PodSpec) bool {
	requests := podSum(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return spec.ActiveDeadlineSeconds != nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return spec.ActiveDeadlineSeconds == nil
	case corev1.ResourceQuotaScopeBestEffort:
		return len(requests) == 0
	case corev1.ResourceQuotaScopeNotBestEffort:
		return len(requests) > 0
	case corev1.ResourceQuotaScopePriorityClass:
		return inPriority(scope, spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity, corev1.ResourceQuotaScopeVolumeAttributesClass:
	}
	return false
}

// inPriority reports whether a scope selects a priority class.
func inPriority(scope corev1.ScopedResourceSelectorRequirement, class string) bool {
	named := false
	for _, value := range scope.Values {
		named = named || value == class
	}
	switch scope.Operator {
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	case corev1.ScopeSelectorOpIn:
		return named
	case corev1.ScopeSelectorOpNotIn:
		return !named
	}
	return false
}

// exceeds returns why a quota refuses pods of a workload: because they do not say what they need, or need more than is left, all together
// or one beside the old ones. It is empty if the quota refuses none.
func (in *prediction) exceeds(q corev1.ResourceQuota, o *Object, spec corev1.PodSpec) string {
	hard := q.Spec.Hard
	pod := charges(spec)
	for _, name := range object.SortedKeys(byText(hard)) {
		if container := unstated(corev1.ResourceName(name), spec); container != "" {
			return "container " + container + " does not say its " + name
		}
	}
	total := q.Status.Used.DeepCopy()
	if total == nil {
		total = corev1.ResourceList{}
	}
	surge := total.DeepCopy()
	add(surge, pod, 1)
	in.charge(total, q, o)
	for _, name := range object.SortedKeys(byText(hard)) {
		resource := corev1.ResourceName(name)
		most, need, beside := hard[resource], total[resource], surge[resource]
		cost, charged := pod[resource]
		switch {
		case !charged || cost.IsZero():
		case need.Cmp(most) > 0:
			return fmt.Sprintf("%s would be %s of %s", name, need.String(), most.String())
		case beside.Cmp(most) > 0 && waitsForReady(o, in.effects[o.Key]):
			return fmt.Sprintf("%s would be %s of %s with one pod beside the old ones, so the roll-out does not begin", name, beside.String(),
				most.String())
		}
	}
	return ""
}

// charge adds to what is used what the workloads up to o in the release will use in addition.
func (in *prediction) charge(total corev1.ResourceList, q corev1.ResourceQuota, o *Object) {
	ranges := in.limitRanges(o.Namespace)
	for i := range in.Objects {
		w := &in.Objects[i]
		if e := in.effects[w.Key]; e != nil && w.Namespace == o.Namespace && w.runsPods() {
			old, desired := withDefaults(podSpec(templateIn(w.Key, w.Before)), ranges), withDefaults(podSpec(templateIn(w.Key, w.After)), ranges)
			if w.Before != nil && counts(q, old) {
				add(total, charges(old), int64(-e.Restarts-e.Stops))
			}
			if w.After != nil && counts(q, desired) {
				add(total, charges(desired), int64(e.Restarts+e.Starts))
			}
		}
		if w.Key == o.Key {
			return
		}
	}
}

// unstated returns a container that does not say how much of a resource it needs, although a quota limits it; empty if there is none.
func unstated(name corev1.ResourceName, spec corev1.PodSpec) string {
	of := func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }
	base := corev1.ResourceName(strings.TrimPrefix(string(name), "requests."))
	if limit, found := strings.CutPrefix(string(name), "limits."); found {
		base, of = corev1.ResourceName(limit), func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }
	}
	if base != corev1.ResourceCPU && base != corev1.ResourceMemory || spec.Resources != nil {
		return ""
	}
	for _, c := range append(append([]corev1.Container{}, spec.Containers...), spec.InitContainers...) {
		if _, found := of(c.Resources)[base]; !found {
			return c.Name
		}
	}
	return ""
}

// waitsForReady reports whether a roll-out stops no old pod before a new one is ready.
func waitsForReady(o *Object, e *report.Effect) bool {
	strategy := decoded[appsv1.Deployment](o.After).Spec.Strategy
	if o.Kind != "Deployment" || e == nil || e.Restarts == 0 || strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return false
	}
	surge, unavailable := intstr.FromString("25%"), intstr.FromString("25%")
	if u := strategy.RollingUpdate; u != nil && u.MaxSurge != nil {
		surge = *u.MaxSurge
	}
	if u := strategy.RollingUpdate; u != nil && u.MaxUnavailable != nil {
		unavailable = *u.MaxUnavailable
	}
	more, _ := intstr.GetScaledValueFromIntOrPercent(&surge, replicas(o.After), true)
	less, err := intstr.GetScaledValueFromIntOrPercent(&unavailable, replicas(o.After), false)
	return err == nil && less == 0 && more > 0
}

// quota returns the effect of the write of a ResourceQuota: what it no longer leaves room for.
func (in Input) quota(o *Object) *report.Effect {
	if o.After == nil || o.Before == nil {
		return nil
	}
	before, after := decoded[corev1.ResourceQuota](o.Before), decoded[corev1.ResourceQuota](o.After)
	used := decoded[corev1.ResourceQuota](o.Live).Status.Used
	var full []string
	for _, name := range object.SortedKeys(byText(after.Spec.Hard)) {
		resource := corev1.ResourceName(name)
		was, limited := before.Spec.Hard[resource]
		is, n := after.Spec.Hard[resource], used[resource]
		if n.Cmp(is) > 0 && (!limited || was.Cmp(is) > 0) {
			full = append(full, fmt.Sprintf("%s is %s of %s", name, n.String(), is.String()))
		}
	}
	if len(full) == 0 {
		return nil
	}
	return &report.Effect{Text: "leaves no room for what is added: " + strings.Join(full, ", ")}
}

// limitRange returns the effect of the write of a LimitRange.
func limitRange(o *Object) *report.Effect {
	if o.After == nil || o.Before == nil || object.Equal(o.Before["spec"], o.After["spec"]) {
		return nil
	}
	return &report.Effect{Text: "applies to what is created from now on, not to pods that run"}
}
