package apiserver

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// podReasons tells of what the API server refuses in the spec of a pod, as far as a hand's edit and Helm's own values beside it come
// to that (kubernetes v1.36.3 pkg/apis/core/validation ValidatePodSpec). Base is where the object has the spec.
func podReasons(base object.Path, obj map[string]any) []string {
	at, _ := base.Lookup(obj)
	spec, _ := at.(map[string]any)
	pod := podCheck{base: base, spec: spec, volumes: volumeNames(spec, obj), names: names{}, hostPorts: names{}}
	for _, list := range []string{"containers", "initContainers"} {
		eachNamed(spec[list], base.Field(list), func(container map[string]any, at object.Path) { pod.container(container, at, list) })
	}
	if policy := spec["restartPolicy"]; policy != nil && policy != "Never" && object.Child(object.Child(jobOf(obj), "spec"), "podFailurePolicy") != nil {
		pod.refuse(base.Field("restartPolicy"), "must be Never where there is a podFailurePolicy")
	}
	return pod.reasons
}

// jobOf is a Job, or the one that a CronJob makes.
func jobOf(obj map[string]any) map[string]any {
	if template := object.Child(object.Child(obj, "spec"), "jobTemplate"); template != nil {
		return template
	}
	return obj
}

// volumeNames are those that containers can mount.
func volumeNames(spec, obj map[string]any) names {
	out := names{}
	for _, volume := range kinds.Items(spec, "volumes") {
		out.meet(volume["name"])
	}
	for _, claim := range kinds.Items(object.Child(obj, "spec"), "volumeClaimTemplates") {
		out.meet(object.Child(claim, "metadata")["name"])
	}
	return out
}

// names are texts that were met. What is no text, or empty, is never met.
type names map[string]bool

// meet tells whether a name was met before.
func (n names) meet(v any) bool {
	name, _ := v.(string)
	met := n[name]
	if name != "" {
		n[name] = true
	}
	return met
}

func (n names) has(v any) bool {
	name, ok := v.(string)
	return ok && n[name]
}

// podCheck goes through the containers of one pod.
type podCheck struct {
	base    object.Path
	spec    map[string]any
	volumes names
	// names and hostPorts are those that were met.
	names, hostPorts names
	reasons          []string
}

func (p *podCheck) refuse(at object.Path, why string) {
	p.reasons = append(p.reasons, at.String()+" "+why)
}

func (p *podCheck) container(c map[string]any, at object.Path, list string) {
	if p.names.meet(c["name"]) {
		p.refuse(at, "has the name of another container")
	}
	if object.IsZero(c["image"]) {
		p.refuse(at.Field("image"), "is missing")
	}
	p.ports(c, at, list)
	for _, mount := range kinds.Items(c, "volumeMounts") {
		path := at.Field("volumeMounts").Item([]object.ListKey{{Name: "mountPath", Value: mount["mountPath"]}})
		if !p.volumes.has(mount["name"]) {
			p.refuse(path, fmt.Sprintf("mounts the volume %v, which is not there", mount["name"]))
		}
		if !object.IsZero(mount["subPath"]) && !object.IsZero(mount["subPathExpr"]) {
			p.refuse(path, "cannot have both subPath and subPathExpr")
		}
	}
	p.resources(c, at)
	security := object.Child(c, "securityContext")
	added, _ := object.Child(security, "capabilities")["add"].([]any)
	if security["allowPrivilegeEscalation"] == false && (security["privileged"] == true || slices.Contains(added, any("CAP_SYS_ADMIN"))) {
		p.refuse(at.Field("securityContext"), "cannot have allowPrivilegeEscalation false for a container that is privileged or has CAP_SYS_ADMIN")
	}
}

// ports: validateContainerPorts, AccumulateUniqueHostPorts, validateHostNetwork.
func (p *podCheck) ports(c map[string]any, at object.Path, list string) {
	met := names{}
	for _, port := range kinds.Items(c, "ports") {
		path := at.Field("ports").Item([]object.ListKey{{Name: "containerPort", Value: port["containerPort"]}, {Name: "protocol", Value: port["protocol"]}})
		if met.meet(port["name"]) {
			p.refuse(path, "has the name of another port")
		}
		if object.IsZero(port["hostPort"]) || list != "containers" {
			continue
		}
		if p.hostPorts.meet(fmt.Sprint(port["protocol"], "/", port["hostIP"], "/", port["hostPort"])) {
			p.refuse(path, "has the hostPort of another port")
		}
		if p.spec["hostNetwork"] == true && !object.Equal(port["hostPort"], port["containerPort"]) {
			p.refuse(path, "must have its own number as hostPort when hostNetwork is true")
		}
	}
}

// resources: ValidateContainerResourceRequirements.
func (p *podCheck) resources(c map[string]any, at object.Path) {
	limits := object.Child(object.Child(c, "resources"), "limits")
	requests := object.Child(object.Child(c, "resources"), "requests")
	for _, name := range object.SortedKeys(requests) {
		request, _ := requests[name].(string)
		if limit, ok := limits[name].(string); ok && less(limit, request) {
			p.refuse(at.Field("resources").Field("requests").Field(name), "must be less than or equal to its limit")
		}
	}
}

// podSpecOf is where an object of a kind has the spec of its pods; nil where it makes none.
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

// eachNamed visits the items of a list that is keyed by name.
func eachNamed(list any, at object.Path, visit func(item map[string]any, at object.Path)) {
	items, _ := list.([]any)
	for _, v := range items {
		if item, ok := v.(map[string]any); ok {
			visit(item, at.Item([]object.ListKey{{Name: "name", Value: item["name"]}}))
		}
	}
}
