package apiserver

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// podReasons returns the reasons why the API server refuses the spec of a pod. It knows those that a manual edit beside Helm's own
// values causes (kubernetes v1.36.3 pkg/apis/core/validation ValidatePodSpec). Base is the path of the spec in the object.
func podReasons(base object.Path, obj map[string]any) []string {
	volumes := volumeNames(base, obj)
	var out []string
	eachContainer(base, obj, func(container map[string]any, at object.Path) {
		if object.IsZero(container["image"]) {
			out = append(out, at.Field("image").String()+" is missing")
		}
		out = append(out, portNameReasons(container, at)...)
		for _, mount := range object.Items(container, "volumeMounts") {
			if name, _ := mount["name"].(string); !volumes[name] {
				path := at.Field("volumeMounts").Item([]object.ListKey{{Name: "mountPath", Value: mount["mountPath"]}})
				out = append(out, fmt.Sprintf("%s mounts the volume %v, which does not exist", path, mount["name"]))
			}
		}
		out = append(out, resourceReasons(container, at)...)
	})
	return out
}

// volumeNames returns the names of the volumes that the containers of a pod can mount.
func volumeNames(base object.Path, obj map[string]any) map[string]bool {
	out := map[string]bool{}
	spec, _ := base.Lookup(obj)
	pod, _ := spec.(map[string]any)
	for _, volume := range object.Items(pod, "volumes") {
		name, _ := volume["name"].(string)
		out[name] = true
	}
	for _, claim := range object.Items(object.Child(obj, "spec"), "volumeClaimTemplates") {
		name, _ := object.Child(claim, "metadata")["name"].(string)
		out[name] = true
	}
	delete(out, "") // a volume without a name cannot be mounted
	return out
}

// portNameReasons: validateContainerPorts.
func portNameReasons(container map[string]any, at object.Path) []string {
	var out []string
	seen := map[string]bool{}
	for _, port := range object.Items(container, "ports") {
		name, _ := port["name"].(string)
		if seen[name] && name != "" {
			keys := []object.ListKey{{Name: "containerPort", Value: port["containerPort"]}, {Name: "protocol", Value: port["protocol"]}}
			out = append(out, at.Field("ports").Item(keys).String()+" has the name of another port")
		}
		seen[name] = true
	}
	return out
}

// resourceReasons: ValidateContainerResourceRequirements.
func resourceReasons(container map[string]any, at object.Path) []string {
	var out []string
	limits := object.Child(object.Child(container, "resources"), "limits")
	requests := object.Child(object.Child(container, "resources"), "requests")
	for _, name := range object.SortedKeys(requests) {
		request, _ := requests[name].(string)
		if limit, ok := limits[name].(string); ok && less(limit, request) {
			out = append(out, at.Field("resources").Field("requests").Field(name).String()+" must be less than or equal to its limit")
		}
	}
	return out
}

// podSpecOf returns the path of the pod spec in objects of a kind, or nil if the kind has none.
func podSpecOf(key object.Key) object.Path {
	template := object.Path{}.Field("spec").Field("template").Field("spec")
	switch key.GroupKind().String() {
	case "Pod":
		return object.Path{}.Field("spec")
	case "Deployment.apps", "ReplicaSet.apps", "DaemonSet.apps", "StatefulSet.apps", "Job.batch", "ReplicationController":
		return template
	case "CronJob.batch":
		return append(object.Path{}.Field("spec").Field("jobTemplate"), template...)
	}
	return nil
}

// eachContainer visits the containers of a pod and their paths.
func eachContainer(base object.Path, obj map[string]any, visit func(container map[string]any, at object.Path)) {
	spec, _ := base.Lookup(obj)
	for _, list := range []string{"initContainers", "containers"} {
		eachNamed(object.Field(spec, list), base.Field(list), visit)
	}
}

// eachNamed visits the items of a list that is keyed by name, and their paths.
func eachNamed(list any, at object.Path, visit func(item map[string]any, at object.Path)) {
	items, _ := list.([]any)
	for _, v := range items {
		if item, ok := v.(map[string]any); ok {
			visit(item, at.Item([]object.ListKey{{Name: "name", Value: item["name"]}}))
		}
	}
}

// reasons returns the reasons why the API server refuses a Service (kubernetes v1.36.3 pkg/apis/core/validation validateService). The
// server allocates node ports before it validates anything, so if two ports have the same number, that is its only reason
// (pkg/registry/core/service/storage/alloc.go updateNodePorts).
func (s service) reasons() []string {
	if reason := s.nodePortsReason(); reason != "" && s.hasNodePorts() {
		return []string{reason}
	}
	out := []string{s.typeReason(), s.portsReason(), s.nodePortsReason()}
	return append(slices.DeleteFunc(out, func(reason string) bool { return reason == "" }), s.targetPortReasons()...)
}

// targetPortReasons returns the server's errors for texts that are not names of ports, such as a number in quotes
// (core/validation validateServicePort, ValidatePortNumOrName).
func (s service) targetPortReasons() []string {
	var out []string
	for i, port := range object.Items(s, "ports") {
		name, isName := port["targetPort"].(string)
		if !isName || name == "" {
			continue
		}
		for _, fault := range validation.IsValidPortName(name) {
			out = append(out, fmt.Sprintf("spec.ports[%d].targetPort: Invalid value: %q: %s", i, name, fault))
		}
	}
	return out
}

// typeReason reports a field that the type of the Service forbids. The first occurs if the chart changes the type but keeps a node
// port. The second occurs if the chart changes the type of a headless Service, because the server restores its address. The third
// occurs if somebody made the Service a load balancer.
func (s service) typeReason() string {
	switch {
	case (s["type"] == nil || s["type"] == "ClusterIP") && len(s.nodePorts()) > 0:
		return "spec.ports[].nodePort cannot be used with spec.type ClusterIP"
	case s.hasNodePorts() && s.headless():
		return "spec.clusterIPs None cannot be used by a Service of type NodePort or LoadBalancer"
	case s["type"] != "LoadBalancer" && !object.IsZero(s["loadBalancerSourceRanges"]):
		return "spec.loadBalancerSourceRanges may only be used with spec.type LoadBalancer"
	}
	return ""
}

// portsReason reports ports that exclude each other. They result from an upgrade if somebody edited a port: Helm identifies ports by
// their number, so it adds its own beside the edited one.
func (s service) portsReason() string {
	ports, _ := s["ports"].([]any)
	names, numbers := map[string]bool{}, map[string]bool{}
	for _, item := range ports {
		port, _ := item.(map[string]any)
		name, _ := port["name"].(string)
		number := fmt.Sprint(port["port"], "/", port["protocol"])
		switch {
		case len(ports) > 1 && name == "":
			return "spec.ports[].name is required where there is more than one port"
		case names[name] && len(ports) > 1:
			return "spec.ports[].name must be unique"
		case numbers[number]:
			return "spec.ports[] must be unique in port and protocol"
		}
		names[name], numbers[number] = true, true
	}
	return ""
}

// nodePortsReason reports two ports with one node port: if the chart names the node port, an edited port has it too.
func (s service) nodePortsReason() string {
	seen := map[string]bool{}
	for _, port := range object.Items(s, "ports") {
		id := fmt.Sprint(port["nodePort"], "/", port["protocol"])
		if !object.IsZero(port["nodePort"]) && seen[id] {
			return "spec.ports[].nodePort must be unique"
		}
		seen[id] = true
	}
	return ""
}
