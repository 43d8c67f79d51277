package threeway

import (
	"fmt"
	"slices"
)

// podReasons tells of what the API server refuses in the spec of a pod, as far as a hand's edit and Helm's own values beside it come
// to that (kubernetes v1.36.3 pkg/apis/core/validation ValidatePodSpec). Base is where the object has the spec.
func podReasons(base Path, object map[string]any) []string {
	at, _ := base.Lookup(object)
	spec, _ := at.(map[string]any)
	pod := podCheck{base: base, spec: spec, volumes: volumeNames(spec, object), names: names{}, hostPorts: names{}}
	for _, list := range []string{"containers", "initContainers"} {
		eachNamed(spec[list], base.Field(list), func(container map[string]any, at Path) { pod.container(container, at, list) })
	}
	if policy := spec["restartPolicy"]; policy != nil && policy != "Never" && child(child(jobOf(object), "spec"), "podFailurePolicy") != nil {
		pod.refuse(base.Field("restartPolicy"), "must be Never where there is a podFailurePolicy")
	}
	return pod.reasons
}

// jobOf is a Job, or the one that a CronJob makes.
func jobOf(object map[string]any) map[string]any {
	if template := child(child(object, "spec"), "jobTemplate"); template != nil {
		return template
	}
	return object
}

// volumeNames are those that containers can mount.
func volumeNames(spec, object map[string]any) names {
	out := names{}
	for _, volume := range items(spec, "volumes") {
		out.meet(volume["name"])
	}
	for _, claim := range items(child(object, "spec"), "volumeClaimTemplates") {
		out.meet(child(claim, "metadata")["name"])
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
	base    Path
	spec    map[string]any
	volumes names
	// names and hostPorts are those that were met.
	names, hostPorts names
	reasons          []string
}

func (p *podCheck) refuse(at Path, why string) { p.reasons = append(p.reasons, at.String()+" "+why) }

func (p *podCheck) container(c map[string]any, at Path, list string) {
	if p.names.meet(c["name"]) {
		p.refuse(at, "has the name of another container")
	}
	if isZero(c["image"]) {
		p.refuse(at.Field("image"), "is missing")
	}
	p.ports(c, at, list)
	for _, mount := range items(c, "volumeMounts") {
		path := at.Field("volumeMounts").Item([]ListKey{{Name: "mountPath", Value: mount["mountPath"]}})
		if !p.volumes.has(mount["name"]) {
			p.refuse(path, fmt.Sprintf("mounts the volume %v, which is not there", mount["name"]))
		}
		if !isZero(mount["subPath"]) && !isZero(mount["subPathExpr"]) {
			p.refuse(path, "cannot have both subPath and subPathExpr")
		}
	}
	p.resources(c, at)
	security := child(c, "securityContext")
	added, _ := child(security, "capabilities")["add"].([]any)
	if security["allowPrivilegeEscalation"] == false && (security["privileged"] == true || slices.Contains(added, any("CAP_SYS_ADMIN"))) {
		p.refuse(at.Field("securityContext"), "cannot have allowPrivilegeEscalation false for a container that is privileged or has CAP_SYS_ADMIN")
	}
}

// ports: validateContainerPorts, AccumulateUniqueHostPorts, validateHostNetwork.
func (p *podCheck) ports(c map[string]any, at Path, list string) {
	met := names{}
	for _, port := range items(c, "ports") {
		path := at.Field("ports").Item([]ListKey{{Name: "containerPort", Value: port["containerPort"]}, {Name: "protocol", Value: port["protocol"]}})
		if met.meet(port["name"]) {
			p.refuse(path, "has the name of another port")
		}
		if isZero(port["hostPort"]) || list != "containers" {
			continue
		}
		if p.hostPorts.meet(fmt.Sprint(port["protocol"], "/", port["hostIP"], "/", port["hostPort"])) {
			p.refuse(path, "has the hostPort of another port")
		}
		if p.spec["hostNetwork"] == true && !Equal(port["hostPort"], port["containerPort"]) {
			p.refuse(path, "must have its own number as hostPort when hostNetwork is true")
		}
	}
}

// resources: ValidateContainerResourceRequirements.
func (p *podCheck) resources(c map[string]any, at Path) {
	limits := child(child(c, "resources"), "limits")
	requests := child(child(c, "resources"), "requests")
	for _, name := range sortedKeys(requests) {
		request, _ := requests[name].(string)
		if limit, ok := limits[name].(string); ok && less(limit, request) {
			p.refuse(at.Field("resources").Field("requests").Field(name), "must be less than or equal to its limit")
		}
	}
}

// podSpecOf is where an object of a kind has the spec of its pods; nil where it makes none.
func podSpecOf(key Key) Path {
	template := Path{}.Field("spec").Field("template").Field("spec")
	switch key.GroupKind().String() {
	case "Pod":
		return Path{}.Field("spec")
	case "Deployment.apps", "ReplicaSet.apps", "DaemonSet.apps", "StatefulSet.apps", "Job.batch", "ReplicationController":
		return template
	case "CronJob.batch":
		return append(Path{}.Field("spec").Field("jobTemplate"), template...)
	}
	return nil
}

// eachNamed visits the items of a list that is keyed by name.
func eachNamed(list any, at Path, visit func(item map[string]any, at Path)) {
	items, _ := list.([]any)
	for _, v := range items {
		if item, ok := v.(map[string]any); ok {
			visit(item, at.Item([]ListKey{{Name: "name", Value: item["name"]}}))
		}
	}
}
