package kinds

import (
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// defaultResourceList: SetDefaults_ResourceList. It rounds amounts up to thousandths.
func defaultResourceList(m map[string]any) {
	for name, value := range m {
		text, _ := value.(string)
		// Only a normal form with one of these letters can be finer than that: 1u, 1n, 1e-6.
		if !strings.ContainsAny(text, "une") {
			continue
		}
		if q, ok := ParseQuantity(text); ok && !q.RoundUp(resource.Milli) {
			m[name] = q.String()
		}
	}
}

// defaultContainer: SetDefaults_Container.
func defaultContainer(m map[string]any) {
	if !object.Has(m, "imagePullPolicy") {
		image, _ := m["image"].(string)
		m["imagePullPolicy"] = pullPolicy(image)
	}
}

// defaultVolume: SetDefaults_Volume. A volume without a source is an empty directory.
func defaultVolume(m map[string]any) {
	// Every field other than the name is a source.
	for name := range m {
		if name != "name" {
			return
		}
	}
	m["emptyDir"] = map[string]any{}
}

// defaultImageVolume: SetDefaults_Volume, for a volume that is an image.
func defaultImageVolume(m map[string]any) {
	reference, _ := m["reference"].(string)
	SetDefault(m, "pullPolicy", pullPolicy(reference))
}

// imageName matches an image reference as registries define it. The first group is the tag, and the second is the digest.
var imageName = sync.OnceValue(func() *regexp.Regexp {
	const (
		label     = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
		host      = `(?:` + label + `(?:\.` + label + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
		component = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		path      = component + `(?:/` + component + `)*`
		tag       = `[\w][\w.-]{0,127}`
		digest    = `sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}`
	)
	return regexp.MustCompile(`^(?:` + host + `/)?` + path + `(?::(` + tag + `))?(?:@(` + digest + `))?$`)
})

// pullPolicy returns Always for the tag latest, given or implied. A text that is not an image name has no tag.
func pullPolicy(image string) string {
	parts := imageName().FindStringSubmatch(image)
	if parts != nil && (parts[1] == "latest" || parts[1] == "" && parts[2] == "") {
		return "Always"
	}
	return "IfNotPresent"
}

// defaultService: SetDefaults_Service.
func defaultService(m map[string]any) {
	spec := ensureChild(m, "spec")
	SetDefault(spec, "type", "ClusterIP")
	for _, port := range object.Items(spec, "ports") {
		// A zero target port counts as absent.
		if object.IsZero(port["targetPort"]) {
			delete(port, "targetPort")
			CopyDefault(port, "targetPort", port, "port")
		}
	}
	defaultAffinity(spec)
	// The traffic policies exist only for Services that have an address, and the external one only if something outside of the cluster can
	// reach the Service.
	kind := spec["type"]
	outside := kind == "NodePort" || kind == "LoadBalancer"
	if outside || kind == "ClusterIP" && !object.IsZero(spec["externalIPs"]) {
		SetDefault(spec, "externalTrafficPolicy", "Cluster")
	}
	if outside || kind == "ClusterIP" {
		SetDefault(spec, "internalTrafficPolicy", "Cluster")
	}
	if kind == "LoadBalancer" {
		SetDefault(spec, "allocateLoadBalancerNodePorts", true)
	}
}

// defaultAffinity is the part of SetDefaults_Service about session affinity.
func defaultAffinity(service map[string]any) {
	SetDefault(service, "sessionAffinity", "None")
	switch service["sessionAffinity"] {
	case "None":
		delete(service, "sessionAffinityConfig")
	case "ClientIP":
		SetDefault(ensureChild(ensureChild(service, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", int64(10800))
	}
}

// defaultPersistentVolume: SetDefaults_PersistentVolume. The inline volume of a VolumeAttachment does not get these defaults.
func defaultPersistentVolume(m map[string]any) {
	spec := ensureChild(m, "spec")
	SetDefault(spec, "persistentVolumeReclaimPolicy", "Retain")
	SetDefault(spec, "volumeMode", "Filesystem")
}

// defaultLimitRangeItem: SetDefaults_LimitRangeItem. Limits default to maxima, requests to limits, then to minima.
func defaultLimitRangeItem(m map[string]any) {
	// Limits of Pods and of volume claims have no defaults.
	if m["type"] != "Container" {
		return
	}
	for _, step := range [][2]string{{"default", "max"}, {"defaultRequest", "default"}, {"defaultRequest", "min"}} {
		defaultAmounts(m, step[0], object.Child(m, step[1]))
	}
}

// defaultAmounts adds to a resource list the amounts of another one.
func defaultAmounts(m map[string]any, name string, from map[string]any) {
	if len(from) == 0 {
		return
	}
	list := ensureChild(m, name)
	for resource, amount := range from {
		SetDefault(list, resource, amount)
	}
}

// defaultReplicationController: SetDefaults_ReplicationController. The object gets the labels of the template, and they select its pods.
func defaultReplicationController(m map[string]any) {
	if labels := TemplateLabels(m); len(labels) > 0 {
		SetDefault(object.Child(m, "spec"), "selector", labels)
		SetDefault(ensureChild(m, "metadata"), "labels", labels)
	}
}

// TemplateLabels returns the labels of the pods that a workload creates.
func TemplateLabels(m map[string]any) map[string]any {
	return object.Child(object.Child(object.Child(object.Child(m, "spec"), "template"), "metadata"), "labels")
}

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
	// The limit for huge pages is what the containers may use, unless the Pod requests them itself.
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
		// A sidecar runs beside all containers after it.
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
