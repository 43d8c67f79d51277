package threeway

import (
	"slices"
	"strings"
	"sync"
)

// siblingRules are the defaults that copy or depend on a sibling, by Go type without its version. Each is named after the
// function of k8s.io/kubernetes v1.36.3 pkg/apis/GROUP/VERSION/defaults.go that it follows, and sees the normal form of one
// value of its type before the table does.
var siblingRules = sync.OnceValue(func() map[string]func(map[string]any) {
	return map[string]func(map[string]any){
		"core.Container":             defaultContainer,
		"core.EphemeralContainer":    defaultContainer,
		"core.ImageVolumeSource":     defaultImageVolume,
		"core.Pod":                   defaultPod,
		"core.ServiceSpec":           defaultService,
		"core.Volume":                defaultVolume,
		"core.LimitRangeItem":        defaultLimitRangeItem,
		"core.ReplicationController": defaultReplicationController,
		"apps.DeploymentStrategy":    defaultDeploymentStrategy,
		"apps.StatefulSetUpdateStrategy": func(m map[string]any) {
			defaultRollingUpdate(m, map[string]any{"partition": int64(0)})
		},
		"apps.DaemonSetUpdateStrategy": func(m map[string]any) {
			defaultRollingUpdate(m, map[string]any{"maxUnavailable": int64(1), "maxSurge": int64(0)})
		},
		"apps.StatefulSetSpec":                        defaultClaimTemplates,
		"batch.Job":                                   defaultJobLabels,
		"batch.JobSpec":                               defaultJob,
		"networking.NetworkPolicySpec":                defaultPolicyTypes,
		"autoscaling.HorizontalPodAutoscalerSpec":     defaultAutoscaler,
		"autoscaling.HorizontalPodAutoscalerBehavior": defaultScalingRules,
		"rbac.Subject":                                defaultSubject,
		"apiextensions.CustomResourceDefinitionNames": defaultNames,
	}
})

// unversioned takes the version out of a type's name: "apps/v1.Deployment" is "apps.Deployment".
func unversioned(typeName string) string {
	group, rest, ok := strings.Cut(typeName, "/")
	if !ok {
		return typeName
	}
	_, name, _ := strings.Cut(rest, ".")
	return group + "." + name
}

// defaultContainer: SetDefaults_Container. A tag of latest, given or implied, means Always.
func defaultContainer(m map[string]any) {
	image, _ := m["image"].(string)
	setDefault(m, "imagePullPolicy", pullPolicy(image))
}

// defaultImageVolume: SetDefaults_Volume, for a volume made of an image.
func defaultImageVolume(m map[string]any) {
	reference, _ := m["reference"].(string)
	setDefault(m, "pullPolicy", pullPolicy(reference))
}

func pullPolicy(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	last := name[strings.LastIndex(name, "/")+1:]
	_, tag, tagged := strings.Cut(last, ":")
	if tag == "latest" || !tagged && digest == "" && name != "" {
		return "Always"
	}
	return "IfNotPresent"
}

// defaultPod: SetDefaults_Pod. Only a Pod itself gets these, not a template.
func defaultPod(m map[string]any) {
	spec := child(m, "spec")
	if spec == nil {
		return
	}
	setDefault(spec, "enableServiceLinks", true)
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range items(spec, list) {
			requestLimits(child(c, "resources"))
			if spec["hostNetwork"] == true {
				mapHostPorts(c)
			}
		}
	}
}

// requestLimits requests what is limited, where nothing is requested.
func requestLimits(resources map[string]any) {
	limits := child(resources, "limits")
	if len(limits) == 0 {
		return
	}
	setDefault(resources, "requests", map[string]any{})
	requests := child(resources, "requests")
	for name, value := range limits {
		setDefault(requests, name, value)
	}
}

func mapHostPorts(container map[string]any) {
	for _, port := range items(container, "ports") {
		setDefault(port, "hostPort", port["containerPort"])
	}
}

// defaultService: SetDefaults_Service.
func defaultService(m map[string]any) {
	setDefault(m, "type", "ClusterIP")
	for _, port := range items(m, "ports") {
		if isZero(port["targetPort"]) {
			port["targetPort"] = port["port"]
		}
	}
	if m["sessionAffinity"] == "ClientIP" {
		setDefault(m, "sessionAffinityConfig", map[string]any{})
		config := child(m, "sessionAffinityConfig")
		setDefault(config, "clientIP", map[string]any{})
		setDefault(child(config, "clientIP"), "timeoutSeconds", int64(10800))
	} else {
		delete(m, "sessionAffinityConfig")
	}
	kind := m["type"]
	outside := kind == "NodePort" || kind == "LoadBalancer"
	if outside || kind == "ClusterIP" && !isZero(m["externalIPs"]) {
		setDefault(m, "externalTrafficPolicy", "Cluster")
	}
	if outside || kind == "ClusterIP" {
		setDefault(m, "internalTrafficPolicy", "Cluster")
	}
	if kind == "LoadBalancer" {
		setDefault(m, "allocateLoadBalancerNodePorts", true)
	}
}

// defaultVolume: SetDefaults_Volume. A volume without a source is an empty directory.
func defaultVolume(m map[string]any) {
	for k := range m {
		if k != "name" {
			return
		}
	}
	m["emptyDir"] = map[string]any{}
}

// defaultLimitRangeItem: SetDefaults_LimitRangeItem. Limits come from maxima, requests from limits, then from minima.
func defaultLimitRangeItem(m map[string]any) {
	if m["type"] != "Container" {
		return
	}
	for _, from := range [][2]string{{"max", "default"}, {"default", "defaultRequest"}, {"min", "defaultRequest"}} {
		for name, value := range child(m, from[0]) {
			setDefault(m, from[1], map[string]any{})
			setDefault(child(m, from[1]), name, value)
		}
	}
}

// defaultReplicationController: SetDefaults_ReplicationController. Labels of the template name the pods and the object.
func defaultReplicationController(m map[string]any) {
	spec := child(m, "spec")
	labels := child(child(child(spec, "template"), "metadata"), "labels")
	if len(labels) == 0 {
		return
	}
	setDefault(spec, "selector", labels)
	labelObject(m, labels)
}

func labelObject(m, labels map[string]any) {
	setDefault(m, "metadata", map[string]any{})
	setDefault(child(m, "metadata"), "labels", labels)
}

// defaultDeploymentStrategy: SetDefaults_Deployment.
func defaultDeploymentStrategy(m map[string]any) {
	defaultRollingUpdate(m, map[string]any{"maxUnavailable": "25%", "maxSurge": "25%"})
}

func defaultRollingUpdate(m, values map[string]any) {
	setDefault(m, "type", "RollingUpdate")
	if m["type"] != "RollingUpdate" {
		return
	}
	setDefault(m, "rollingUpdate", map[string]any{})
	for name, value := range values {
		setDefault(child(m, "rollingUpdate"), name, value)
	}
}

// defaultClaimTemplates: no defaulting function, but the conversion of a StatefulSet writes the items' type into them.
func defaultClaimTemplates(m map[string]any) {
	for _, claim := range items(m, "volumeClaimTemplates") {
		setDefault(claim, "apiVersion", "v1")
		setDefault(claim, "kind", "PersistentVolumeClaim")
	}
}

// defaultJobLabels: SetDefaults_Job.
func defaultJobLabels(m map[string]any) {
	labels := child(child(child(child(m, "spec"), "template"), "metadata"), "labels")
	if len(labels) > 0 {
		labelObject(m, labels)
	}
}

// defaultJob: SetDefaults_Job.
func defaultJob(m map[string]any) {
	_, completions := m["completions"]
	_, parallelism := m["parallelism"]
	if !completions && !parallelism {
		m["completions"] = int64(1)
	}
	setDefault(m, "parallelism", int64(1))
	if _, perIndex := m["backoffLimitPerIndex"]; perIndex {
		setDefault(m, "backoffLimit", int64(1<<31-1))
	} else {
		setDefault(m, "backoffLimit", int64(6))
	}
	if _, policy := m["podFailurePolicy"]; policy {
		setDefault(m, "podReplacementPolicy", "Failed")
	} else {
		setDefault(m, "podReplacementPolicy", "TerminatingOrFailed")
	}
}

// defaultPolicyTypes: SetDefaults_NetworkPolicy.
func defaultPolicyTypes(m map[string]any) {
	types := []any{"Ingress"}
	if len(items(m, "egress")) > 0 {
		types = append(types, "Egress")
	}
	setDefault(m, "policyTypes", types)
}

// defaultAutoscaler: SetDefaults_HorizontalPodAutoscaler of autoscaling/v2. Version 1 has no metrics and says so by its fields.
func defaultAutoscaler(m map[string]any) {
	setDefault(m, "minReplicas", int64(1))
}

// defaultScalingRules: GenerateHPAScaleUpRules and GenerateHPAScaleDownRules.
func defaultScalingRules(m map[string]any) {
	percent := map[string]any{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}
	pods := map[string]any{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)}
	for _, side := range []string{"scaleUp", "scaleDown"} {
		setDefault(m, side, map[string]any{})
		rules := child(m, side)
		setDefault(rules, "selectPolicy", "Max")
		if side == "scaleUp" {
			setDefault(rules, "stabilizationWindowSeconds", int64(0))
			setDefault(rules, "policies", []any{pods, percent})
		} else {
			setDefault(rules, "policies", []any{percent})
		}
	}
}

// defaultSubject: SetDefaults_Subject.
func defaultSubject(m map[string]any) {
	if kind := m["kind"]; kind == "User" || kind == "Group" {
		setDefault(m, "apiGroup", "rbac.authorization.k8s.io")
	}
}

// defaultNames: SetDefaults_CustomResourceDefinitionSpec of apiextensions-apiserver.
func defaultNames(m map[string]any) {
	kind, _ := m["kind"].(string)
	setDefault(m, "singular", strings.ToLower(kind))
	if kind != "" {
		setDefault(m, "listKind", kind+"List")
	}
}

// child gives a field that is a map, nil where it is not.
func child(m map[string]any, name string) map[string]any {
	c, _ := m[name].(map[string]any)
	return c
}

// items gives the entries of a list that are maps.
func items(m map[string]any, name string) []map[string]any {
	list, _ := m[name].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, v := range list {
		if item, ok := v.(map[string]any); ok {
			out = append(out, item)
		}
	}
	return slices.Clip(out)
}
