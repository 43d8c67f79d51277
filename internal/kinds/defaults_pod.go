package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// defaultPod: SetDefaults_Pod. Only a Pod itself gets these defaults, not a template.
func defaultPod(m map[string]any) {
	spec := ensureChild(m, "spec")
	SetDefault(spec, "enableServiceLinks", true)
	containers := append(object.Items(spec, "containers"), object.Items(spec, "initContainers")...)
	for _, c := range containers {
		resources := object.Child(c, "resources")
		defaultAmounts(resources, "requests", object.Child(resources, "limits"))
	}
	defaultPodResources(spec)
	// On the host's network, each port of a container is a port of the host.
	if spec["hostNetwork"] != true {
		return
	}
	for _, c := range containers {
		for _, port := range object.Items(c, "ports") {
			CopyDefault(port, "hostPort", port, "containerPort")
		}
	}
}

// defaultPodResources: defaultHugePagePodLimits and defaultPodRequests, for a Pod with resources of its own.
func defaultPodResources(spec map[string]any) {
	resources := object.Child(spec, "resources")
	if object.IsZero(resources["limits"]) && object.IsZero(resources["requests"]) {
		return
	}
	// Huge pages are limited to what the containers may use, unless the Pod requests them itself.
	for name, amount := range podAmounts(spec, "limits") {
		_, requested := object.Child(resources, "requests")[name]
		if strings.HasPrefix(name, "hugepages-") && !requested {
			SetDefault(ensureChild(resources, "limits"), name, amount.String())
		}
	}
	limits := object.Child(resources, "limits")
	if len(limits) == 0 {
		return
	}
	// Requests default to the sum of the containers' requests, and then to the Pod's own limits.
	for name, amount := range podAmounts(spec, "requests") {
		if name == "cpu" || name == "memory" {
			SetDefault(ensureChild(resources, "requests"), name, amount.String())
		}
	}
	for name, amount := range limits {
		if name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-") {
			SetDefault(ensureChild(resources, "requests"), name, amount)
		}
	}
}

// amounts are the quantities of a resource list by resource name.
type amounts map[string]resource.Quantity

// podAmounts: AggregateContainerRequests and AggregateContainerLimits. A Pod needs the sum of its containers and sidecars, which are init
// containers that never end, or the peak of its init containers: each runs alone with the sidecars before it.
func podAmounts(spec map[string]any, list string) amounts {
	sum, sidecars, peak := amounts{}, amounts{}, amounts{}
	for _, c := range object.Items(spec, "containers") {
		sum.add(amountsOf(c, list))
	}
	for _, c := range object.Items(spec, "initContainers") {
		own := amountsOf(c, list)
		// A sidecar runs beside all that come after it.
		if c["restartPolicy"] == "Always" {
			sum.add(own)
			sidecars.add(own)
			peak.raise(sidecars)
			continue
		}
		own.add(sidecars)
		peak.raise(own)
	}
	sum.raise(peak)
	return sum
}

// amountsOf returns the requests or the limits of a container.
func amountsOf(container map[string]any, list string) amounts {
	out := amounts{}
	for name, value := range object.Child(object.Child(container, "resources"), list) {
		text, _ := value.(string)
		if q, ok := ParseQuantity(text); ok {
			out[name] = q
		}
	}
	return out
}

// add adds the quantities of another resource list.
func (a amounts) add(more amounts) {
	for name, q := range more {
		sum, ok := a[name]
		if ok {
			sum.Add(q)
		} else {
			sum = q.DeepCopy()
		}
		a[name] = sum
	}
}

// raise sets every quantity to the greater of both.
func (a amounts) raise(other amounts) {
	for name, q := range other {
		if old, ok := a[name]; !ok || q.Cmp(old) > 0 {
			a[name] = q.DeepCopy()
		}
	}
}
