package verdict

import (
	"slices"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// AllocatedFields holds the lines of the table (below) that apply to one object.
type AllocatedFields = object.FieldTree[*Allocation]

// AllocatedFor picks the lines of the table for one object. Their conditions must hold in each of its states that is not nil.
func AllocatedFor(key object.Key, states ...map[string]any) *AllocatedFields {
	tree := &AllocatedFields{}
	kind := key.GroupKind().String()
	table := Allocations()
	for i := range table {
		line := &table[i]
		if (line.Kind == "*" || line.Kind == kind) && line.when.holds(states...) {
			tree.Set(strings.ReplaceAll(line.Path, "{name}", key.Name), line)
		}
	}
	return tree
}

// holds reports whether a condition holds in each of the states that are not nil.
func (c condition) holds(states ...map[string]any) bool {
	return c == nil || !slices.ContainsFunc(states, func(state map[string]any) bool { return state != nil && !c(state) })
}

// fills reports whether the server or the controller may have filled in the value. An absent value may still be filled in.
func (a *Allocation) fills(live kinds.State) bool {
	return !live.Present || a.fits == nil || a.fits(live.Value)
}

// isSet reports whether a value of a manifest counts.
func (a *Allocation) isSet(written any) bool {
	return !object.IsZero(written) || a.emptyCounts && written != nil
}

// overrides reports whether, in each of the states, a controller overwrites the manifest's value.
func (a *Allocation) overrides(states ...map[string]any) bool {
	return a.OverridesManifest != nil && a.OverridesManifest.holds(states...)
}

// Allocation is one line of the table of fields that the server or a controller fills in after Helm wrote the object.
type Allocation struct {
	// Kind is "Kind" or "Kind.group", or "*" for every kind.
	Kind string
	// Path is a path of an object.FieldTree. {name} stands for the object's name.
	Path string
	// when is a condition on the object. The place is filled in only while it holds; nil means always.
	when condition
	// OverridesManifest is a condition. While it holds, a controller overwrites the manifest's own value by design, so that the value does
	// not count. It must hold in what Helm deployed, in live, and after the write: if somebody else asked for the controller, the release
	// did not want its value, and if the write no longer asks for it, it stops. Nil means never.
	OverridesManifest condition
	// fits reports whether a value is one that the server or the controller would fill in; nil means any.
	fits func(value any) bool
	// Edited is set if a person among the owners proves an edit: the API server allocates without an owner, so the person has changed the
	// value or created the object with it. It is not set for the annotations that kubectl writes, because they always belong to a person.
	Edited bool
	// emptyCounts is set if an empty text in a manifest counts as a value, so that nothing is filled in.
	emptyCounts bool
	// lost is set if the value does not survive --force, which replaces the object without it: the value does not come back, or comes back
	// with other content.
	lost   bool
	Reason string
}

// condition reports whether a line of the table applies to an object. It depends only on fields that a manifest sets.
type condition func(obj map[string]any) bool

// Allocations is the table. A field in it is taken from live unless a manifest gives it a value, which for most is one that is not empty.
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

		{Kind: "Service", Path: "spec.clusterIP", fits: isAddress, Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.clusterIPs", Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.ipFamilies", Edited: true, Reason: "chosen by the API server from the cluster's networks"},
		{Kind: "Service", Path: "spec.ipFamilyPolicy", Edited: true, Reason: "chosen by the API server from the cluster's networks"},
		{Kind: "Service", Path: "spec.healthCheckNodePort", Edited: true, Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.ports[].nodePort", Edited: true, Reason: "allocated by the API server"},
		{Kind: "Service", Path: "spec.loadBalancerClass", Edited: true, Reason: "a cloud's admission sets it, and nobody can change it"},
		{Kind: "Service", Path: "metadata.finalizers/service.kubernetes.io/load-balancer-cleanup", Reason: "the service controller holds load balancers by it"},

		{Kind: "PersistentVolumeClaim", Path: "spec.volumeName", Edited: true, Reason: "the volume that the controller bound"},
		{Kind: "PersistentVolumeClaim", Path: "spec.storageClassName", Edited: true, emptyCounts: true, Reason: "the cluster's default class, set by admission; nobody can change it"},
		{Kind: "PersistentVolumeClaim", Path: "spec.dataSourceRef", Edited: true, Reason: "the API server copies dataSource"},
		{Kind: "PersistentVolumeClaim", Path: "spec.dataSource", Edited: true, Reason: "the API server copies dataSourceRef"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.finalizers/kubernetes.io/pvc-protection", Reason: "admission protects claims in use by it"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.annotations/pv.kubernetes.io/*", Edited: true, Reason: "binding of the volume"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.annotations/volume.kubernetes.io/*", Edited: true, Reason: "provisioning of the volume"},
		{Kind: "PersistentVolumeClaim", Path: "metadata.annotations/volume.beta.kubernetes.io/*", Edited: true, Reason: "provisioning of the volume"},
		{Kind: "PersistentVolume", Path: "spec.claimRef", Edited: true, lost: true, Reason: "the claim that the controller bound"},
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
		{Kind: "HorizontalPodAutoscaler.autoscaling", Path: "spec.targetCPUUtilizationPercentage", fits: isDefaultTarget, Reason: "version 2's default metric, read at version 1"},

		{Kind: "ClusterRole.rbac.authorization.k8s.io", Path: "rules", when: isAggregated, OverridesManifest: isAggregated, Reason: "the aggregation controller fills the rules"},
		{Kind: mutating, Path: webhook, OverridesManifest: hasInjector, Edited: true, lost: true, Reason: "an injector fills it"},
		{Kind: validating, Path: webhook, OverridesManifest: hasInjector, Edited: true, lost: true, Reason: "an injector fills it"},
		{Kind: definition, Path: conversion, OverridesManifest: hasInjector, Edited: true, lost: true, Reason: "an injector fills it"},
		{Kind: definition, Path: "metadata.finalizers/customresourcecleanup.apiextensions.k8s.io", Reason: "the server removes custom resources by it"},
		{Kind: "APIService.apiregistration.k8s.io", Path: "spec.caBundle", OverridesManifest: hasInjector, Edited: true, lost: true, Reason: "an injector fills it"},
		{Kind: "APIService.apiregistration.k8s.io", Path: "metadata.labels/kube-aggregator.kubernetes.io/automanaged", Reason: "the aggregator's bookkeeping"},

		{Kind: "Namespace", Path: "spec.finalizers", Reason: "set by the API server"},
		{Kind: "Namespace", Path: "metadata.labels/kubernetes.io/metadata.name", Reason: "set by the API server"},
		{Kind: "Namespace", Path: "metadata.annotations/openshift.io/sa.scc.*", Edited: true, Reason: "OpenShift gives every namespace its ranges"},
		{Kind: "ServiceAccount", Path: "secrets/{name}-token-*", Edited: true, lost: true, Reason: "the token controller's"},
		{Kind: "ServiceAccount", Path: "secrets/{name}-dockercfg-*", Edited: true, lost: true, Reason: "OpenShift's registry login"},
		{Kind: "Secret", Path: "data/token", when: isAccountToken, Edited: true, lost: true, Reason: "the token controller's"},
		{Kind: "Secret", Path: "data/ca.crt", when: isAccountToken, Reason: "the token controller's"},
		{Kind: "Secret", Path: "data/namespace", when: isAccountToken, Reason: "the token controller's"},
		{Kind: "Secret", Path: "metadata.annotations/kubernetes.io/service-account.uid", when: isAccountToken, Edited: true, Reason: "the token controller's"},
		{Kind: "Secret", Path: "metadata.labels/kubernetes.io/legacy-token-*", when: isAccountToken, Reason: "the API server notes when the token was used"},

		{Kind: "Pod", Path: "spec.nodeName", Reason: "chosen by the scheduler"},
		{Kind: "Pod", Path: "spec.priority", Reason: "resolved by admission from the class"},
		{Kind: "Pod", Path: "spec.preemptionPolicy", Reason: "resolved by admission from the class"},
		{Kind: "Pod", Path: "spec.serviceAccountName", fits: isDefaultAccount, Reason: "set by admission"},
		{Kind: "Pod", Path: "spec.imagePullSecrets", Edited: true, Reason: "admission copies the service account's; nobody can change them"},
		{Kind: "Pod", Path: "spec.volumes/kube-api-access-*", fits: isTokenVolume, Reason: "admission mounts the service account's token"},
		{Kind: "Pod", Path: "spec.containers[].volumeMounts//var/run/secrets/kubernetes.io/serviceaccount", fits: isTokenMount, Reason: "admission mounts the service account's token"},
		{Kind: "Pod", Path: "spec.initContainers[].volumeMounts//var/run/secrets/kubernetes.io/serviceaccount", fits: isTokenMount, Reason: "admission mounts the service account's token"},
	}
})

// isAggregated reports whether a ClusterRole collects the rules of other ClusterRoles.
func isAggregated(obj map[string]any) bool { return object.Child(obj, "aggregationRule") != nil }

// isAccountToken reports whether a Secret is filled with the token of a service account.
func isAccountToken(obj map[string]any) bool {
	return obj["type"] == "kubernetes.io/service-account-token"
}

// hasInjector reports whether an annotation asks a controller to fill in a CA.
func hasInjector(obj map[string]any) bool {
	for name, value := range object.Child(object.Child(obj, "metadata"), "annotations") {
		asks := strings.HasPrefix(name, "cert-manager.io/inject-") || strings.HasSuffix(name, "/inject-cabundle") ||
			strings.HasSuffix(name, "/inject-ca-bundle")
		if asks && value != "" && value != "false" {
			return true
		}
	}
	return false
}

// isAddress reports whether a Service's address is one that the API server allocates. It never makes a Service headless.
func isAddress(value any) bool { return value != "None" }

// isDefaultTarget reports whether an autoscaler's target is the API's default for an autoscaler without metrics.
func isDefaultTarget(value any) bool { return object.Equal(value, int64(80)) }

// isDefaultAccount reports whether a Pod's account is the one that admission chooses (kubernetes v1.36.3
// plugin/pkg/admission/serviceaccount/admission.go Admit).
func isDefaultAccount(value any) bool { return value == "default" }

// isTokenVolume reports whether a Pod's volume is made of projections, as admission makes the one with the account's token (kubernetes
// v1.36.3 plugin/pkg/admission/serviceaccount/admission.go TokenVolumeSource).
func isTokenVolume(value any) bool {
	volume, _ := value.(map[string]any)
	return object.Child(volume, "projected") != nil
}

// isTokenMount reports whether a container mounts the volume that admission makes.
func isTokenMount(value any) bool {
	mount, _ := value.(map[string]any)
	name, _ := mount["name"].(string)
	return strings.HasPrefix(name, "kube-api-access-")
}
