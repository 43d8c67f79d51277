package forecast

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// charges returns what one pod costs a ResourceQuota, under the names that quotas have for it.
func charges(spec corev1.PodSpec) corev1.ResourceList {
	out := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1"), "count/pods": resource.MustParse("1")}
	for name, q := range podSum(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }) {
		out["requests."+name] = q
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			out[name] = q
		}
	}
	for name, q := range podSum(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }) {
		out["limits."+name] = q
	}
	return out
}

// podSum returns what a pod needs at the most: its containers and sidecars together, or an init container with the sidecars that started
// before it.
func podSum(spec corev1.PodSpec, of func(corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum, peak := corev1.ResourceList{}, corev1.ResourceList{}
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(sum, of(c.Resources), 1)
			raise(peak, sum)
			continue
		}
		with := sum.DeepCopy()
		add(with, of(c.Resources), 1)
		raise(peak, with)
	}
	for _, c := range spec.Containers {
		add(sum, of(c.Resources), 1)
	}
	raise(sum, peak)
	if spec.Resources != nil {
		for name, q := range of(*spec.Resources) {
			sum[name] = q
		}
	}
	add(sum, spec.Overhead, 1)
	return sum
}

// add adds n times an amount of each resource to a list.
func add(to, amounts corev1.ResourceList, n int64) {
	for name, q := range amounts {
		total := to[name].DeepCopy()
		q = q.DeepCopy()
		q.Mul(n)
		total.Add(q)
		to[name] = total
	}
}

// raise sets each resource of a list to the greater of both amounts.
func raise(to, amounts corev1.ResourceList) {
	for name, q := range amounts {
		if old, found := to[name]; !found || old.Cmp(q) < 0 {
			to[name] = q.DeepCopy()
		}
	}
}

// withDefaults returns a pod with the requests and limits that LimitRanges add to its containers.
func withDefaults(spec corev1.PodSpec, ranges []corev1.LimitRange) corev1.PodSpec {
	spec = *spec.DeepCopy()
	for i := range spec.InitContainers {
		addDefaults(&spec.InitContainers[i].Resources, ranges)
	}
	for i := range spec.Containers {
		addDefaults(&spec.Containers[i].Resources, ranges)
	}
	return spec
}

// addDefaults adds the API's default, by which a limit is the request too, and those of LimitRanges.
func addDefaults(r *corev1.ResourceRequirements, ranges []corev1.LimitRange) {
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	if r.Limits == nil {
		r.Limits = corev1.ResourceList{}
	}
	fill(r.Requests, r.Limits)
	for _, limits := range ranges {
		for _, item := range limits.Spec.Limits {
			if item.Type == corev1.LimitTypeContainer {
				fill(r.Limits, item.Default)
				fill(r.Requests, item.DefaultRequest)
			}
		}
	}
}

// fill adds the resources that a list lacks.
func fill(to, amounts corev1.ResourceList) {
	for name, q := range amounts {
		if _, found := to[name]; !found {
			to[name] = q.DeepCopy()
		}
	}
}

// refusedBy returns why a LimitRange refuses a pod; empty if it does not.
func refusedBy(limits corev1.LimitRange, spec corev1.PodSpec) string {
	for _, item := range limits.Spec.Limits {
		switch item.Type {
		case corev1.LimitTypeContainer:
			for _, c := range append(append([]corev1.Container{}, spec.Containers...), spec.InitContainers...) {
				if why := outOfRange(item, c.Resources.Requests, c.Resources.Limits); why != "" {
					return "container " + c.Name + ": " + why
				}
			}
		case corev1.LimitTypePod:
			requests := podSum(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
			limits := podSum(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
			if why := outOfRange(item, requests, limits); why != "" {
				return "the pod: " + why
			}
		case corev1.LimitTypePersistentVolumeClaim:
		}
	}
	return ""
}

// outOfRange returns how requests and limits break a bound; empty if they do not.
func outOfRange(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) string {
	for _, name := range object.SortedKeys(byText(item.Min)) {
		least := item.Min[corev1.ResourceName(name)]
		request, found := requests[corev1.ResourceName(name)]
		if !found || request.Cmp(least) < 0 {
			return fmt.Sprintf("requests %s of %s, at least %s is allowed", amount(request, found), name, least.String())
		}
	}
	for _, name := range object.SortedKeys(byText(item.Max)) {
		most := item.Max[corev1.ResourceName(name)]
		limit, found := limits[corev1.ResourceName(name)]
		if !found || limit.Cmp(most) > 0 {
			return fmt.Sprintf("limits %s to %s, at most %s is allowed", name, amount(limit, found), most.String())
		}
	}
	for _, name := range object.SortedKeys(byText(item.MaxLimitRequestRatio)) {
		ratio := item.MaxLimitRequestRatio[corev1.ResourceName(name)]
		request, limit := requests[corev1.ResourceName(name)], limits[corev1.ResourceName(name)]
		if request.IsZero() || limit.IsZero() || limit.AsApproximateFloat64()/request.AsApproximateFloat64() > ratio.AsApproximateFloat64() {
			return fmt.Sprintf("limits %s to more than %s times what it requests", name, ratio.String())
		}
	}
	return ""
}

// byText returns the resources of a list by their names.
func byText(list corev1.ResourceList) map[string]resource.Quantity {
	out := map[string]resource.Quantity{}
	for name, q := range list {
		out[string(name)] = q
	}
	return out
}

// amount returns a quantity as texts show it.
func amount(q resource.Quantity, found bool) string {
	if !found {
		return "nothing"
	}
	return q.String()
}
