package threeway

import "strings"

// podReason tells of a pod that has two members of a union, which the API server refuses (kubernetes v1.36.3 pkg/apis/core/validation
// validateHandler, ValidateEnv, validateVolumeSource). An upgrade comes to it by a hand that moved from one member to another: the patch
// puts its own back beside it.
func podReason(key Key, object map[string]any) string {
	base := podSpecOf(key)
	if base == nil {
		return ""
	}
	spec, _ := lookup(object, base)
	var found []string
	note := func(path Path, what string) { found = append(found, path.String()+" cannot have "+what) }
	for _, list := range []string{"initContainers", "containers"} {
		eachNamed(fieldOf(spec, list), base.Field(list), func(container map[string]any, at Path) {
			for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
				if members(child(container, probe), "exec", "httpGet", "tcpSocket", "grpc") > 1 {
					note(at.Field(probe), "more than one handler")
				}
			}
			for _, hook := range []string{"postStart", "preStop"} {
				if members(child(child(container, "lifecycle"), hook), "exec", "httpGet", "tcpSocket", "sleep") > 1 {
					note(at.Field("lifecycle").Field(hook), "more than one handler")
				}
			}
			eachNamed(container["env"], at.Field("env"), func(env map[string]any, at Path) {
				if !isZero(env["value"]) && env["valueFrom"] != nil {
					note(at, "both value and valueFrom")
				}
			})
		})
	}
	eachNamed(fieldOf(spec, "volumes"), base.Field("volumes"), func(volume map[string]any, at Path) {
		if len(volume) > 2 { // its name, and one source
			note(at, "more than one source")
		}
	})
	return strings.Join(found, ", ")
}

// podSpecOf is where an object of a kind has the spec of its pods; nil where it makes none.
func podSpecOf(key Key) Path {
	template := Path{}.Field("spec").Field("template").Field("spec")
	switch kindOf(key) {
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

// members counts which of some fields a map has.
func members(m map[string]any, names ...string) int {
	n := 0
	for _, name := range names {
		if has(m, name) {
			n++
		}
	}
	return n
}
