package threeway

import (
	"math"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// defaultUpdateStrategy: SetDefaults_Deployment, SetDefaults_DaemonSet. The table has the numbers.
func defaultUpdateStrategy(m map[string]any) {
	setDefault(m, "type", "RollingUpdate")
	if m["type"] == "RollingUpdate" {
		setDefault(m, "rollingUpdate", map[string]any{})
	}
}

// defaultStatefulSetUpdateStrategy: SetDefaults_StatefulSet. Only where no type is given is there a rolling update by default.
func defaultStatefulSetUpdateStrategy(m map[string]any) {
	if _, ok := m["type"]; !ok {
		defaultUpdateStrategy(m)
	}
}

// defaultPartition: SetDefaults_StatefulSet of apps/v1beta1.
func defaultPartition(m map[string]any) {
	if m["type"] == "RollingUpdate" {
		setDefault(object.Child(m, "rollingUpdate"), "partition", int64(0))
	}
}

// defaultOldDaemonSetStrategy: SetDefaults_DaemonSet of extensions/v1beta1, which does not roll unless it is told to.
func defaultOldDaemonSetStrategy(m map[string]any) {
	if m["type"] == "RollingUpdate" {
		update := ensured(m, "rollingUpdate")
		setDefault(update, "maxUnavailable", int64(1))
		setDefault(update, "maxSurge", int64(0))
	}
}

// defaultClaimTemplates: no defaulting function, but the conversion of a StatefulSet writes the items' type into them,
// whatever a manifest says.
func defaultClaimTemplates(m map[string]any) {
	for _, claim := range items(m, "volumeClaimTemplates") {
		claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
	}
}

// defaultLabelsAndSelector: workloads of apps/v1beta1 and extensions/v1beta1 take both from the template.
func defaultLabelsAndSelector(m map[string]any) {
	if labels := templateLabels(m); len(labels) > 0 {
		setDefault(object.Child(m, "spec"), "selector", map[string]any{"matchLabels": labels})
		setDefault(ensured(m, "metadata"), "labels", labels)
	}
}

// defaultJob: SetDefaults_Job. The Job that a CronJob describes gets none of it.
func defaultJob(m map[string]any) {
	if labels := templateLabels(m); len(labels) > 0 {
		setDefault(ensured(m, "metadata"), "labels", labels)
	}
	spec := ensured(m, "spec")
	if _, ok := spec["parallelism"]; !ok {
		setDefault(spec, "completions", int64(1))
	}
	setDefault(spec, "parallelism", int64(1))
	if _, ok := spec["backoffLimitPerIndex"]; ok {
		setDefault(spec, "backoffLimit", int64(math.MaxInt32))
	}
	if _, ok := spec["podFailurePolicy"]; ok {
		setDefault(spec, "podReplacementPolicy", "Failed")
	}
	setDefault(spec, "backoffLimit", int64(6))
	setDefault(spec, "podReplacementPolicy", "TerminatingOrFailed")
	setDefault(spec, "completionMode", "NonIndexed")
	setDefault(spec, "suspend", false)
	setDefault(spec, "manualSelector", false)
}

// defaultPolicyTypes: SetDefaults_NetworkPolicy.
func defaultPolicyTypes(m map[string]any) {
	types := []any{"Ingress"}
	if !object.IsZero(m["egress"]) {
		types = append(types, "Egress")
	}
	setDefault(m, "policyTypes", types)
}

// defaultScalingRules: GenerateHPAScaleUpRules and GenerateHPAScaleDownRules. The table has the rules of a direction that is
// not given at all.
func defaultScalingRules(m map[string]any) {
	percent := map[string]any{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}
	pods := map[string]any{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)}
	setDefault(object.Child(m, "scaleUp"), "stabilizationWindowSeconds", int64(0))
	setDefault(object.Child(m, "scaleUp"), "policies", []any{pods, percent})
	setDefault(object.Child(m, "scaleDown"), "policies", []any{percent})
}

// defaultSubject: SetDefaults_Subject.
func defaultSubject(m map[string]any) {
	if m["kind"] == "User" || m["kind"] == "Group" {
		setDefault(m, "apiGroup", "rbac.authorization.k8s.io")
	}
}

// defaultAlphaSubject: SetDefaults_Subject of rbac/v1alpha1.
func defaultAlphaSubject(m map[string]any) {
	switch m["kind"] {
	case "User", "Group":
		setDefault(m, "apiVersion", "rbac.authorization.k8s.io/v1alpha1")
	case "ServiceAccount":
		setDefault(m, "apiVersion", "v1")
	}
}

// defaultDeviceRequest: SetDefaults_ExactDeviceRequest, SetDefaults_DeviceSubRequest.
func defaultDeviceRequest(m map[string]any) {
	setDefault(m, "allocationMode", "ExactCount")
	if m["allocationMode"] == "ExactCount" {
		setDefault(m, "count", int64(1))
	}
}

// defaultBetaDeviceRequest: SetDefaults_DeviceRequest of resource/v1beta1. Without a class it is a list of alternatives.
func defaultBetaDeviceRequest(m map[string]any) {
	if !object.IsZero(m["deviceClassName"]) {
		defaultDeviceRequest(m)
	}
}

// defaultOldPriorityLevel: SetDefaults_PriorityLevelConfiguration of flowcontrol/v1beta3, where an annotation tells a zero
// that is meant from one that is not given.
func defaultOldPriorityLevel(m map[string]any) {
	if _, ok := object.Child(object.Child(m, "metadata"), "annotations")["flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"]; !ok {
		setDefault(object.Child(object.Child(m, "spec"), "limited"), "nominalConcurrencyShares", int64(30))
	}
}

// defaultCustomResourceDefinition: SetDefaults_CustomResourceDefinitionSpec of apiextensions-apiserver.
func defaultCustomResourceDefinition(m map[string]any) {
	names := object.Child(m, "names")
	if kind, _ := names["kind"].(string); kind != "" {
		setDefault(names, "singular", strings.ToLower(kind))
		setDefault(names, "listKind", kind+"List")
	}
}

// defaultBetaCustomResourceDefinition: the same of v1beta1, where one version may stand outside of the list.
func defaultBetaCustomResourceDefinition(m map[string]any) {
	defaultCustomResourceDefinition(m)
	if version := m["version"]; !object.IsZero(version) {
		setDefault(m, "versions", []any{map[string]any{"name": version, "served": true, "storage": true}})
	}
	if versions := items(m, "versions"); len(versions) > 0 {
		copyDefault(m, "version", versions[0], "name")
	}
	if conversion := object.Child(m, "conversion"); conversion["strategy"] == "Webhook" {
		setDefault(conversion, "conversionReviewVersions", []any{"v1beta1"})
	}
}
