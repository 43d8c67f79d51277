package threeway

import (
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// allocation is one line of the table of fields that the server or a controller fills in after Helm wrote the object.
type allocation struct {
	// kind is "Kind" or "Kind.group"; "*" is every kind.
	kind string
	// path is a path of an object.FieldTree, in which {name} is the object's name.
	path string
	// when names a condition; nil means always.
	when condition
	// even tells that a manifest's own value does not count: a controller overwrites it by design.
	even bool
	// edited is set where a person's ownership makes an edit of it: whoever owns the place has changed its value or made the object with
	// it, for the API server allocates without an owner. kubectl's own annotations are a person's and say nothing.
	edited bool
	// lost tells that it does not come back by itself, or not as it was, after --force has replaced the object without it.
	lost   bool
	reason string
}

// condition is what must hold of the live object for a line of the table to apply.
type condition func(live map[string]any) bool

// allocations is the table. A field in it is taken from live unless a manifest gives it a non-empty value.
var allocations = sync.OnceValue(func() []allocation {
	const (
		mutating   = "MutatingWebhookConfiguration.admissionregistration.k8s.io"
		validating = "ValidatingWebhookConfiguration.admissionregistration.k8s.io"
		definition = "CustomResourceDefinition.apiextensions.k8s.io"
		webhook    = "webhooks[].clientConfig.caBundle"
		conversion = "spec.conversion.webhook.clientConfig.caBundle"
	)
	return []allocation{
		{kind: "*", path: "metadata.annotations/kubectl.kubernetes.io/last-applied-configuration", lost: true, reason: "kubectl apply's memory"},
		{kind: "*", path: "metadata.annotations/kubectl.kubernetes.io/restartedAt", lost: true, reason: "kubectl rollout restart"},
		{kind: "*", path: "spec.template.metadata.annotations/kubectl.kubernetes.io/restartedAt", lost: true, reason: "kubectl rollout restart"},

		{kind: "Service", path: "spec.clusterIP", reason: "allocated by the API server"},
		{kind: "Service", path: "spec.clusterIPs", reason: "allocated by the API server"},
		{kind: "Service", path: "spec.ipFamilies", reason: "chosen by the API server from the cluster's networks"},
		{kind: "Service", path: "spec.ipFamilyPolicy", edited: true, reason: "chosen by the API server from the cluster's networks"},
		{kind: "Service", path: "spec.healthCheckNodePort", edited: true, reason: "allocated by the API server"},
		{kind: "Service", path: "spec.ports[].nodePort", edited: true, reason: "allocated by the API server"},
		{kind: "Service", path: "spec.loadBalancerClass", edited: true, reason: "a cloud's admission sets it, and nobody can change it"},
		{kind: "Service", path: "metadata.finalizers/service.kubernetes.io/load-balancer-cleanup", reason: "the service controller holds load balancers by it"},

		{kind: "PersistentVolumeClaim", path: "spec.volumeName", reason: "the volume that the controller bound"},
		{kind: "PersistentVolumeClaim", path: "spec.storageClassName", reason: "the cluster's default class, set by admission; nobody can change it"},
		{kind: "PersistentVolumeClaim", path: "spec.dataSourceRef", reason: "the API server copies dataSource"},
		{kind: "PersistentVolumeClaim", path: "spec.dataSource", reason: "the API server copies dataSourceRef"},
		{kind: "PersistentVolumeClaim", path: "metadata.finalizers/kubernetes.io/pvc-protection", reason: "admission protects claims in use by it"},
		{kind: "PersistentVolumeClaim", path: "metadata.annotations/pv.kubernetes.io/*", edited: true, reason: "binding of the volume"},
		{kind: "PersistentVolumeClaim", path: "metadata.annotations/volume.kubernetes.io/*", edited: true, reason: "provisioning of the volume"},
		{kind: "PersistentVolumeClaim", path: "metadata.annotations/volume.beta.kubernetes.io/*", edited: true, reason: "provisioning of the volume"},
		{kind: "PersistentVolume", path: "spec.claimRef", lost: true, reason: "the claim that the controller bound"},
		{kind: "PersistentVolume", path: "metadata.finalizers/kubernetes.io/pv-protection", reason: "admission protects volumes in use by it"},
		{kind: "PersistentVolume", path: "metadata.annotations/pv.kubernetes.io/*", edited: true, lost: true, reason: "binding of the volume"},

		{kind: "Job.batch", path: "spec.selector", reason: "made by the API server from the Job's uid"},
		{kind: "Job.batch", path: "metadata.annotations/batch.kubernetes.io/*", edited: true, reason: "the job controller's bookkeeping"},
		{kind: "Job.batch", path: "spec.template.metadata.labels/controller-uid", reason: "the Job's uid, set by the API server"},
		{kind: "Job.batch", path: "spec.template.metadata.labels/job-name", reason: "the Job's name, set by the API server"},
		{kind: "Job.batch", path: "spec.template.metadata.labels/batch.kubernetes.io/*", reason: "the Job's uid and name, set by the API server"},
		{kind: "Job.batch", path: "metadata.labels/controller-uid", reason: "labels default to the template's"},
		{kind: "Job.batch", path: "metadata.labels/job-name", reason: "labels default to the template's"},
		{kind: "Job.batch", path: "metadata.labels/batch.kubernetes.io/*", reason: "labels default to the template's"},
		{kind: "Deployment.apps", path: "metadata.annotations/deployment.kubernetes.io/revision", edited: true, reason: "the deployment controller counts rollouts"},
		{kind: "DaemonSet.apps", path: "metadata.annotations/deprecated.daemonset.template.generation", edited: true, reason: "the API server counts templates"},
		{kind: "HorizontalPodAutoscaler.autoscaling", path: "metadata.annotations/autoscaling.alpha.kubernetes.io/conditions", edited: true, reason: "status, as version 1 has it"},
		{kind: "HorizontalPodAutoscaler.autoscaling", path: "metadata.annotations/autoscaling.alpha.kubernetes.io/current-metrics", edited: true, reason: "status, as version 1 has it"},
		{kind: "HorizontalPodAutoscaler.autoscaling", path: "spec.targetCPUUtilizationPercentage", when: defaultTarget, reason: "version 2's default metric, read at version 1"},

		{kind: "ClusterRole.rbac.authorization.k8s.io", path: "rules", when: aggregated, even: true, reason: "the aggregation controller fills the rules"},
		{kind: mutating, path: webhook, lost: true, reason: "an injector fills it"},
		{kind: mutating, path: webhook, when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: validating, path: webhook, lost: true, reason: "an injector fills it"},
		{kind: validating, path: webhook, when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: definition, path: conversion, lost: true, reason: "an injector fills it"},
		{kind: definition, path: conversion, when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: definition, path: "metadata.finalizers/customresourcecleanup.apiextensions.k8s.io", reason: "the server removes custom resources by it"},
		{kind: "APIService.apiregistration.k8s.io", path: "spec.caBundle", lost: true, reason: "an injector fills it"},
		{kind: "APIService.apiregistration.k8s.io", path: "spec.caBundle", when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: "APIService.apiregistration.k8s.io", path: "metadata.labels/kube-aggregator.kubernetes.io/automanaged", reason: "the aggregator's bookkeeping"},

		{kind: "Namespace", path: "spec.finalizers", reason: "set by the API server"},
		{kind: "Namespace", path: "metadata.labels/kubernetes.io/metadata.name", reason: "set by the API server"},
		{kind: "Namespace", path: "metadata.annotations/openshift.io/sa.scc.*", edited: true, reason: "OpenShift gives every namespace its ranges"},
		{kind: "ServiceAccount", path: "secrets/{name}-token-*", lost: true, reason: "the token controller's"},
		{kind: "ServiceAccount", path: "secrets/{name}-dockercfg-*", lost: true, reason: "OpenShift's registry login"},
		{kind: "Secret", path: "data/token", when: accountToken, lost: true, reason: "the token controller's"},
		{kind: "Secret", path: "data/ca.crt", when: accountToken, reason: "the token controller's"},
		{kind: "Secret", path: "data/namespace", when: accountToken, reason: "the token controller's"},
		{kind: "Secret", path: "metadata.annotations/kubernetes.io/service-account.uid", when: accountToken, edited: true, reason: "the token controller's"},
		{kind: "Secret", path: "metadata.labels/kubernetes.io/legacy-token-*", when: accountToken, reason: "the API server notes when the token was used"},

		{kind: "Pod", path: "spec.nodeName", reason: "chosen by the scheduler"},
		{kind: "Pod", path: "spec.priority", reason: "resolved by admission from the class"},
		{kind: "Pod", path: "spec.preemptionPolicy", reason: "resolved by admission from the class"},
		{kind: "Pod", path: "spec.serviceAccountName", reason: "set by admission"},
		{kind: "Pod", path: "spec.imagePullSecrets", reason: "admission copies the service account's; nobody can change them"},
		{kind: "Pod", path: "spec.volumes/kube-api-access-*", reason: "admission mounts the service account's token"},
		{kind: "Pod", path: "spec.containers[].volumeMounts//var/run/secrets/kubernetes.io/serviceaccount", reason: "admission mounts the service account's token"},
		{kind: "Pod", path: "spec.initContainers[].volumeMounts//var/run/secrets/kubernetes.io/serviceaccount", reason: "admission mounts the service account's token"},
	}
})

// aggregated tells that a ClusterRole collects the rules of others.
func aggregated(live map[string]any) bool { return object.Child(live, "aggregationRule") != nil }

// defaultTarget tells that an autoscaler has the target that the API gives one without metrics.
func defaultTarget(live map[string]any) bool {
	return object.Equal(object.Child(live, "spec")["targetCPUUtilizationPercentage"], int64(80))
}

// accountToken tells that a Secret is filled with the token of a service account.
func accountToken(live map[string]any) bool {
	return live["type"] == "kubernetes.io/service-account-token"
}

// injected tells that an annotation asks a controller to fill in a CA.
func injected(live map[string]any) bool {
	for name := range object.Child(object.Child(live, "metadata"), "annotations") {
		if strings.HasPrefix(name, "cert-manager.io/inject-") || strings.HasSuffix(name, "/inject-cabundle") ||
			strings.HasSuffix(name, "/inject-ca-bundle") {
			return true
		}
	}
	return false
}
