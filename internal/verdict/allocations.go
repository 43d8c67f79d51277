package verdict

import (
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Allocation is one line of the table of fields that the server or a controller fills in after Helm wrote the object.
type Allocation struct {
	// Kind is "Kind" or "Kind.group"; "*" is every kind.
	Kind string
	// Path is a path of an object.FieldTree, in which {name} is the object's name.
	Path string
	// when names a condition; nil means always.
	when condition
	// OverridesManifest is set if a controller overwrites the manifest's own value by design, so that the value does not count.
	OverridesManifest bool
	// Edited is set if an owner who is a person proves an edit: the API server allocates without an owner, so the owner has changed the
	// value or created the object with it. The annotations that kubectl writes belong to a person and prove nothing.
	Edited bool
	// lost is set if the value does not come back by itself, or not unchanged, after --force has replaced the object without it.
	lost   bool
	Reason string
}

// condition reports whether a line of the table applies to a live object.
type condition func(live map[string]any) bool

// Allocations is the table. A field in it is taken from live unless a manifest gives it a non-empty value.
var Allocations = sync.OnceValue(func() []Allocation {
	const (
		mutating   = "MutatingWebhookConfiguration.admissionregistration.k8s.io"
		validating = "ValidatingWebhookConfiguration.admissionregistration.k8s.io"
		definition = "CustomResourceDefinition.apiextensions.k8s.io"
		webhook    = "webhooks[].clientConfig.caBundle"
		conversion = "spec.conversion.webhook.clientConfig.caBundle"
	)
	return []Allocation{
		{Kind: "*", Path: "metadata.annotations/kubectl.kubernetes.io/last-applied-configuration", lost: true, Reason: "kubectl apply's memory"},
		{Kind: "*", Path: "metadata.annotations/kubectl.kubernetes.io/restartedAt", lost: true, Reason: "kubectl rollout restart"},
		{Kind: "*", Path: "spec.template.metadata.annotations/kubectl.kubernetes.io/restartedAt", lost: true, Reason: "kubectl rollout restart"},

		{Kind: "Service", Path: "spec.clusterIP", Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.clusterIPs", Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.ipFamilies", Reason: "chosen by the API server from the cluster's networks"},
		{Kind: "Service", Path: "spec.ipFamilyPolicy", Edited: true, Reason: "chosen by the API server from the cluster's networks"},
		{Kind: "Service", Path: "spec.healthCheckNodePort", Edited: true, Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.ports[].nodePort", Edited: true, Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.loadBalancerClass", Edited: true, Reason: "a cloud's admission sets it, and nobody can change it"},
		{Kind: "Service", Path: "metadata.finalizers/service.kubernetes.io/load-balancer-cleanup", Reason: "the service controller holds load balancers by it"},

		{Kind: "PersistentVolumeClaim", Path: "spec.volumeName", Reason: "the volume that the controller bound"},
		{Kind: "PersistentVolumeClaim", Path: "spec.storageClassName", Reason: "the cluster's default class, set by admission; nobody can change it"},
		{Kind: "PersistentVolumeClaim", Path: "spec.dataSourceRef", Reason: "the API server copies dataSource"},
		{Kind: "PersistentVolumeClaim", Path: "spec.dataSource", Reason: "the API server copies dataSourceRef"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.finalizers/kubernetes.io/pvc-protection", Reason: "admission protects claims in use by it"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.annotations/pv.kubernetes.io/*", Edited: true, Reason: "binding of the volume"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.annotations/volume.kubernetes.io/*", Edited: true, Reason: "provisioning of the volume"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.annotations/volume.beta.kubernetes.io/*", Edited: true, Reason: "provisioning of the volume"},
		{Kind: "PersistentVolume", Path: "spec.claimRef", lost: true, Reason: "the claim that the controller bound"},
		{Kind: "PersistentVolume", Path: "metadata.finalizers/kubernetes.io/pv-protection", Reason: "admission protects volumes in use by it"},
		{Kind: "PersistentVolume", Path: "metadata.annotations/pv.kubernetes.io/*", Edited: true, lost: true, Reason: "binding of the volume"},

		{Kind: "Job.batch", Path: "spec.selector", Reason: "made by the API server from the Job's uid"},
		{Kind: "Job.batch", Path: "metadata.annotations/batch.kubernetes.io/*", Edited: true, Reason: "the job controller's bookkeeping"},
		{Kind: "Job.batch", Path: "spec.template.metadata.labels/controller-uid", Reason: "the Job's uid, set by the API server"},
		{Kind: "Job.batch", Path: "spec.template.metadata.labels/job-name", Reason: "the Job's name, set by the API server"},
		{Kind: "Job.batch", Path: "spec.template.metadata.labels/batch.kubernetes.io/*", Reason: "the Job's uid and name, set by the API server"},
		{Kind: "Job.batch", Path: "metadata.labels/controller-uid", Reason: "labels default to the template's"},
		{Kind: "Job.batch", Path: "metadata.labels/job-name", Reason: "labels default to the template's"},
		{Kind: "Job.batch", Path: "metadata.labels/batch.kubernetes.io/*", Reason: "labels default to the template's"},
		{Kind: "Deployment.apps", Path: "metadata.annotations/deployment.kubernetes.io/revision", Edited: true, Reason: "the deployment controller counts rollouts"},
		{Kind: "DaemonSet.apps", Path: "metadata.annotations/deprecated.daemonset.template.generation", Reason: "the API server counts templates"},
		{Kind: "HorizontalPodAutoscaler.autoscaling", Path: "metadata.annotations/autoscaling.alpha.kubernetes.io/conditions", Edited: true, Reason: "status, as version 1 has it"},
		{Kind: "HorizontalPodAutoscaler.autoscaling", Path: "metadata.annotations/autoscaling.alpha.kubernetes.io/current-metrics", Edited: true, Reason: "status, as version 1 has it"},
		{Kind: "HorizontalPodAutoscaler.autoscaling", Path: "spec.targetCPUUtilizationPercentage", when: hasDefaultTarget, Reason: "version 2's default metric, read at version 1"},

		{Kind: "ClusterRole.rbac.authorization.k8s.io", Path: "rules", when: isAggregated, OverridesManifest: true, Reason: "the aggregation controller fills the rules"},
		{Kind: mutating, Path: webhook, lost: true, Reason: "an injector fills it"},
		{Kind: mutating, Path: webhook, when: hasInjector, OverridesManifest: true, Reason: "an injector named by an annotation fills it"},
		{Kind: validating, Path: webhook, lost: true, Reason: "an injector fills it"},
		{Kind: validating, Path: webhook, when: hasInjector, OverridesManifest: true, Reason: "an injector named by an annotation fills it"},
		{Kind: definition, Path: conversion, lost: true, Reason: "an injector fills it"},
		{Kind: definition, Path: conversion, when: hasInjector, OverridesManifest: true, Reason: "an injector named by an annotation fills it"},
		{Kind: definition, Path: "metadata.finalizers/customresourcecleanup.apiextensions.k8s.io", Reason: "the server removes custom resources by it"},
		{Kind: "APIService.apiregistration.k8s.io", Path: "spec.caBundle", lost: true, Reason: "an injector fills it"},
		{Kind: "APIService.apiregistration.k8s.io", Path: "spec.caBundle", when: hasInjector, OverridesManifest: true, Reason: "an injector named by an annotation fills it"},
		{Kind: "APIService.apiregistration.k8s.io", Path: "metadata.labels/kube-aggregator.kubernetes.io/automanaged", Reason: "the aggregator's bookkeeping"},

		{Kind: "Namespace", Path: "spec.finalizers", Reason: "set by the API server"},
		{Kind: "Namespace", Path: "metadata.labels/kubernetes.io/metadata.name", Reason: "set by the API server"},
		{Kind: "Namespace", Path: "metadata.annotations/openshift.io/sa.scc.*", Edited: true, Reason: "OpenShift gives every namespace its ranges"},
		{Kind: "ServiceAccount", Path: "secrets/{name}-token-*", lost: true, Reason: "the token controller's"},
		{Kind: "ServiceAccount", Path: "secrets/{name}-dockercfg-*", lost: true, Reason: "OpenShift's registry login"},
		{Kind: "Secret", Path: "data/token", when: isAccountToken, lost: true, Reason: "the token controller's"},
		{Kind: "Secret", Path: "data/ca.crt", when: isAccountToken, Reason: "the token controller's"},
		{Kind: "Secret", Path: "data/namespace", when: isAccountToken, Reason: "the token controller's"},
		{Kind: "Secret", Path: "metadata.annotations/kubernetes.io/service-account.uid", when: isAccountToken, Edited: true, Reason: "the token controller's"},
		{Kind: "Secret", Path: "metadata.labels/kubernetes.io/legacy-token-*", when: isAccountToken, Reason: "the API server notes when the token was used"},

		{Kind: "Pod", Path: "spec.nodeName", Reason: "chosen by the scheduler"},
		{Kind: "Pod", Path: "spec.priority", Reason: "resolved by admission from the class"},
		{Kind: "Pod", Path: "spec.preemptionPolicy", Reason: "resolved by admission from the class"},
		{Kind: "Pod", Path: "spec.serviceAccountName", Reason: "set by admission"},
		{Kind: "Pod", Path: "spec.imagePullSecrets", Reason: "admission copies the service account's; nobody can change them"},
		{Kind: "Pod", Path: "spec.volumes/kube-api-access-*", Reason: "admission mounts the service account's token"},
		{Kind: "Pod", Path: "spec.containers[].volumeMounts//var/run/secrets/kubernetes.io/serviceaccount", Reason: "admission mounts the service account's token"},
		{Kind: "Pod", Path: "spec.initContainers[].volumeMounts//var/run/secrets/kubernetes.io/serviceaccount", Reason: "admission mounts the service account's token"},
	}
})

// isAggregated reports whether a ClusterRole collects the rules of others.
func isAggregated(live map[string]any) bool { return object.Child(live, "aggregationRule") != nil }

// hasDefaultTarget reports whether an autoscaler has the target that the API sets on one without metrics.
func hasDefaultTarget(live map[string]any) bool {
	return object.Equal(object.Child(live, "spec")["targetCPUUtilizationPercentage"], int64(80))
}

// isAccountToken reports whether a Secret is filled with the token of a service account.
func isAccountToken(live map[string]any) bool {
	return live["type"] == "kubernetes.io/service-account-token"
}

// hasInjector reports whether an annotation asks a controller to fill in a CA.
func hasInjector(live map[string]any) bool {
	for name := range object.Child(object.Child(live, "metadata"), "annotations") {
		if strings.HasPrefix(name, "cert-manager.io/inject-") || strings.HasSuffix(name, "/inject-cabundle") ||
			strings.HasSuffix(name, "/inject-ca-bundle") {
			return true
		}
	}
	return false
}
