package kinds

import (
	"math"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// defaultUpdateStrategy: SetDefaults_Deployment, SetDefaults_DaemonSet. The numbers of a rolling update are in the table.
func defaultUpdateStrategy(m map[string]any) {
	SetDefault(m, "type", "RollingUpdate")
	if m["type"] == "RollingUpdate" {
		SetDefault(m, "rollingUpdate", map[string]any{})
	}
}

// defaultStatefulSetUpdateStrategy: SetDefaults_StatefulSet. The fields of a rolling update are set only if no type is given.
func defaultStatefulSetUpdateStrategy(m map[string]any) {
	if _, ok := m["type"]; !ok {
		defaultUpdateStrategy(m)
	}
}

// defaultPartition: SetDefaults_StatefulSet of apps/v1beta1.
func defaultPartition(m map[string]any) {
	if m["type"] == "RollingUpdate" {
		SetDefault(object.Child(m, "rollingUpdate"), "partition", int64(0))
	}
}

// defaultOldDaemonSetStrategy: SetDefaults_DaemonSet of extensions/v1beta1. Its default is not a rolling update.
func defaultOldDaemonSetStrategy(m map[string]any) {
	if m["type"] == "RollingUpdate" {
		update := ensureChild(m, "rollingUpdate")
		SetDefault(update, "maxUnavailable", int64(1))
		SetDefault(update, "maxSurge", int64(0))
	}
}

// defaultClaimTemplates follows no defaulting function: the conversion of a StatefulSet writes the type into each claim, whatever a
// manifest says.
func defaultClaimTemplates(m map[string]any) {
	for _, claim := range object.Items(m, "volumeClaimTemplates") {
		claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
	}
}

// defaultLabelsAndSelector: the defaulting functions of workloads of apps/v1beta1 and extensions/v1beta1, which take both from the
// template.
func defaultLabelsAndSelector(m map[string]any) {
	if labels := TemplateLabels(m); len(labels) > 0 {
		SetDefault(object.Child(m, "spec"), "selector", map[string]any{"matchLabels": labels})
		SetDefault(ensureChild(m, "metadata"), "labels", labels)
	}
}

// defaultJob: SetDefaults_Job. The template of a CronJob does not get these defaults.
func defaultJob(m map[string]any) {
	if labels := TemplateLabels(m); len(labels) > 0 {
		SetDefault(ensureChild(m, "metadata"), "labels", labels)
	}
	spec := ensureChild(m, "spec")
	// Only a Job without parallelism is complete after one Pod; otherwise absent completions mean a work queue.
	if _, ok := spec["parallelism"]; !ok {
		SetDefault(spec, "completions", int64(1))
	}
	SetDefault(spec, "parallelism", int64(1))
	// With a limit for each index, the limit for the whole Job is practically none.
	if _, ok := spec["backoffLimitPerIndex"]; ok {
		SetDefault(spec, "backoffLimit", int64(math.MaxInt32))
	}
	if _, ok := spec["podFailurePolicy"]; ok {
		SetDefault(spec, "podReplacementPolicy", "Failed")
	}
	SetDefault(spec, "backoffLimit", int64(6))
	SetDefault(spec, "podReplacementPolicy", "TerminatingOrFailed")
	SetDefault(spec, "completionMode", "NonIndexed")
	SetDefault(spec, "suspend", false)
	SetDefault(spec, "manualSelector", false)
}

// defaultPolicyTypes: SetDefaults_NetworkPolicy.
func defaultPolicyTypes(m map[string]any) {
	types := []any{"Ingress"} // even if the policy has no rules for it
	if !object.IsZero(m["egress"]) {
		types = append(types, "Egress")
	}
	SetDefault(m, "policyTypes", types)
}

// defaultScalingRules: GenerateHPAScaleUpRules and GenerateHPAScaleDownRules. If a direction is absent, its rules come from the table.
func defaultScalingRules(m map[string]any) {
	percent := map[string]any{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}
	pods := map[string]any{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)}
	SetDefault(object.Child(m, "scaleUp"), "stabilizationWindowSeconds", int64(0))
	SetDefault(object.Child(m, "scaleUp"), "policies", []any{pods, percent})
	SetDefault(object.Child(m, "scaleDown"), "policies", []any{percent})
}

// defaultSubject: SetDefaults_Subject.
func defaultSubject(m map[string]any) {
	if m["kind"] == "User" || m["kind"] == "Group" {
		SetDefault(m, "apiGroup", "rbac.authorization.k8s.io")
	}
}

// defaultAlphaSubject: SetDefaults_Subject of rbac/v1alpha1.
func defaultAlphaSubject(m map[string]any) {
	switch m["kind"] {
	case "User", "Group":
		SetDefault(m, "apiVersion", "rbac.authorization.k8s.io/v1alpha1")
	case "ServiceAccount":
		SetDefault(m, "apiVersion", "v1")
	}
}

// defaultDeviceRequest: SetDefaults_ExactDeviceRequest, SetDefaults_DeviceSubRequest.
func defaultDeviceRequest(m map[string]any) {
	SetDefault(m, "allocationMode", "ExactCount")
	if m["allocationMode"] == "ExactCount" {
		SetDefault(m, "count", int64(1))
	}
}

// defaultBetaDeviceRequest: SetDefaults_DeviceRequest of resource/v1beta1. A request without a class is a list of alternatives.
func defaultBetaDeviceRequest(m map[string]any) {
	if !object.IsZero(m["deviceClassName"]) {
		defaultDeviceRequest(m)
	}
}

// defaultOldPriorityLevel: SetDefaults_PriorityLevelConfiguration of flowcontrol/v1beta3, where an annotation says that a zero is meant.
func defaultOldPriorityLevel(m map[string]any) {
	if _, ok := object.Child(object.Child(m, "metadata"), "annotations")["flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"]; !ok {
		SetDefault(object.Child(object.Child(m, "spec"), "limited"), "nominalConcurrencyShares", int64(30))
	}
}

// defaultCustomResourceDefinition: SetDefaults_CustomResourceDefinitionSpec of apiextensions-apiserver.
func defaultCustomResourceDefinition(m map[string]any) {
	names := object.Child(m, "names")
	if kind, _ := names["kind"].(string); kind != "" {
		SetDefault(names, "singular", strings.ToLower(kind))
		SetDefault(names, "listKind", kind+"List")
	}
}

// defaultBetaCustomResourceDefinition: the same of v1beta1, where one version may be outside of the list.
func defaultBetaCustomResourceDefinition(m map[string]any) {
	defaultCustomResourceDefinition(m)
	if version := m["version"]; !object.IsZero(version) {
		SetDefault(m, "versions", []any{map[string]any{"name": version, "served": true, "storage": true}})
	}
	if versions := object.Items(m, "versions"); len(versions) > 0 {
		CopyDefault(m, "version", versions[0], "name")
	}
	if conversion := object.Child(m, "conversion"); conversion["strategy"] == "Webhook" {
		SetDefault(conversion, "conversionReviewVersions", []any{"v1beta1"})
	}
}
