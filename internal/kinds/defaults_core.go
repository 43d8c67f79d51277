package kinds

import (
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// defaultResourceList: SetDefaults_ResourceList. Amounts are rounded up to thousandths.
func defaultResourceList(m map[string]any) {
	for name, value := range m {
		text, _ := value.(string)
		// Only a normal form with one of these letters can be finer: 1u, 1n, 1e-6.
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

// imageName matches an image reference as registries define it. Its first group is the tag, its second the digest.
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

// pullPolicy returns Always for the tag latest, given or implied. A text that is no image name has no tag.
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

// defaultPersistentVolume: SetDefaults_PersistentVolume. A volume that a VolumeAttachment describes inline gets none of it.
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

// defaultReplicationController: SetDefaults_ReplicationController. The labels of the template are those of the object, and select its pods.
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
