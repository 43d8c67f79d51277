package apiserver

import (
	"slices"
	"sync"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// immutables is the table of immutable fields, from k8s.io/kubernetes v1.36.3 (pkg/apis/*/validation). Older servers allow less: 1.31
// refuses a change of a StatefulSet's revisionHistoryLimit, and all before 1.36 refuse a change of a suspended Job's resources. Kinds
// that are not in the table accept every change of a valid object: CronJob, HorizontalPodAutoscaler, Ingress, Lease, LimitRange,
// NetworkPolicy, PodDisruptionBudget, PodTemplate, ReplicationController, roles, ServiceAccount, webhook configurations and others. What
// a CustomResourceDefinition makes immutable is in immutable.go.
var immutables = sync.OnceValue(func() []*immutability {
	return []*immutability{
		// The controllers of pods: their selectors, and all but a few fields of StatefulSets (pkg/apis/apps/validation).
		{kind: "Deployment.apps", paths: []string{"spec.selector"}, source: "ValidateDeploymentUpdate"},
		{kind: "ReplicaSet.apps", paths: []string{"spec.selector"}, source: "ValidateReplicaSetUpdate"},
		{kind: "DaemonSet.apps", paths: []string{"spec.selector"}, source: "ValidateDaemonSetSpecUpdate"},
		{
			kind: "StatefulSet.apps", paths: []string{"spec"}, source: "ValidateStatefulSetUpdate",
			except: []string{
				"spec.replicas", "spec.ordinals", "spec.template", "spec.updateStrategy", "spec.revisionHistoryLimit",
				"spec.persistentVolumeClaimRetentionPolicy", "spec.minReadySeconds",
			},
		},
		{kind: "ControllerRevision.apps", paths: []string{"data"}, source: "ValidateControllerRevisionUpdate"},

		// Jobs. While a Job is suspended, more of its template may change (pkg/apis/batch/validation).
		{
			kind: "Job.batch", source: "ValidateJobSpecUpdate",
			paths: []string{
				"spec.selector", "spec.completionMode", "spec.podFailurePolicy", "spec.backoffLimitPerIndex", "spec.managedBy",
				"spec.successPolicy",
			},
		},
		{
			kind: "Job.batch", paths: []string{"spec.completions"}, source: "validateCompletions",
			unless: map[string]exception{"spec.completions": scalesIndexedJob},
		},
		{kind: "Job.batch", paths: []string{"spec.template"}, when: jobNotSuspended, source: "validatePodTemplateUpdate"},
		{
			kind: "Job.batch", paths: []string{"spec.template.spec"}, when: jobSuspended, source: "validatePodTemplateUpdate",
			except: []string{
				"spec.template.spec.nodeSelector", "spec.template.spec.tolerations", "spec.template.spec.affinity.nodeAffinity",
				"spec.template.spec.schedulingGates", "spec.template.spec.containers[].resources",
				"spec.template.spec.initContainers[].resources",
			},
		},

		// Pods without a controller. Almost nothing may change (pkg/apis/core/validation).
		{kind: "Pod", paths: []string{"spec.containers"}, when: stopsAt("containers"), source: "ValidateContainerUpdates"},
		{kind: "Pod", paths: []string{"spec.initContainers"}, when: stopsAt("initContainers"), source: "ValidateContainerUpdates"},
		{kind: "Pod", paths: []string{"spec.activeDeadlineSeconds"}, when: stopsAt("activeDeadlineSeconds"), source: "ValidatePodUpdate"},
		{
			kind: "Pod", paths: []string{"spec"}, when: stopsAt("the rest"), source: "ValidatePodUpdate",
			except: []string{"spec.containers[].image", "spec.initContainers[].image"},
			unless: map[string]exception{
				"spec.activeDeadlineSeconds":         deadlineSetOrLowered,
				"spec.tolerations":                   tolerationsAdded,
				"spec.schedulingGates":               gatesRemoved,
				"spec.terminationGracePeriodSeconds": gracePeriodFixed,
				// This package leaves changes of a Pod with scheduling gates to the API server.
				"spec.nodeSelector":          hasSchedulingGates,
				"spec.affinity.nodeAffinity": hasSchedulingGates,
			},
		},

		// Addresses, and fields of load balancers (pkg/apis/core/validation).
		{kind: "Service", paths: []string{"spec.clusterIP"}, when: clusterIPKept, source: "validateUpgradeDowngradeClusterIPs"},
		{
			kind: "Service", paths: []string{"spec.clusterIPs"}, when: clusterIPKept, source: "validateUpgradeDowngradeClusterIPs",
			unless: map[string]exception{"spec.clusterIPs": secondAddedOrRemoved},
		},
		{
			kind: "Service", paths: []string{"spec.ipFamilies"}, when: ipFamiliesKept, source: "validateUpgradeDowngradeIPFamilies",
			unless: map[string]exception{"spec.ipFamilies": secondAddedOrRemoved},
		},
		{kind: "Service", paths: []string{"spec.loadBalancerClass"}, when: loadBalancerKept, source: "validateLoadBalancerClassField"},
		{
			kind: "Service", paths: []string{"spec.healthCheckNodePort"}, when: healthCheckKept,
			source: "validateServiceExternalTrafficFieldsUpdate",
		},

		// Claims, volumes and classes. A bound claim may grow (pkg/apis/core and storage/validation).
		{
			kind: "PersistentVolumeClaim", source: "ValidatePersistentVolumeClaimUpdate",
			paths: []string{"spec", "metadata.annotations/volume.beta.kubernetes.io/storage-class"},
			unless: map[string]exception{
				"spec.volumeName":                 firstSet,
				"spec.storageClassName":           firstSet,
				"spec.resources.requests.storage": boundClaimGrows,
				"spec.volumeAttributesClassName":  boundClaimChangesClass,
			},
		},
		{
			kind: "PersistentVolume", paths: []string{"spec"}, source: "ValidatePersistentVolumeUpdate",
			except: []string{
				"spec.accessModes", "spec.capacity", "spec.claimRef", "spec.mountOptions", "spec.persistentVolumeReclaimPolicy",
				"spec.storageClassName",
			},
			unless: map[string]exception{
				"spec.csi.controllerExpandSecretRef": firstSet,
				"spec.nodeAffinity":                  firstSet,
				"spec.volumeAttributesClassName":     notRemoved,
			},
		},
		{
			kind: "StorageClass.storage.k8s.io", source: "ValidateStorageClassUpdate",
			paths: []string{"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"},
		},
		{
			kind: "VolumeAttributesClass.storage.k8s.io", source: "ValidateVolumeAttributesClassUpdate",
			paths: []string{"driverName", "parameters"},
		},
		{kind: "VolumeAttachment.storage.k8s.io", paths: []string{"spec"}, source: "ValidateVolumeAttachmentUpdate"},
		{
			kind: "CSIDriver.storage.k8s.io", source: "ValidateCSIDriverUpdate",
			paths: []string{"spec.attachRequired", "spec.volumeLifecycleModes"},
		},
		{
			kind: "CSIStorageCapacity.storage.k8s.io", source: "ValidateCSIStorageCapacityUpdate",
			paths: []string{"nodeTopology", "storageClassName"},
		},

		// Sealed data, references of bindings, and fields that say what an object is.
		{kind: "Secret", paths: []string{"type"}, source: "ValidateSecretUpdate"},
		{kind: "Secret", paths: []string{"data", "immutable"}, when: markedImmutable, source: "ValidateSecretUpdate"},
		{kind: "ConfigMap", paths: []string{"data", "binaryData", "immutable"}, when: markedImmutable, source: "ValidateConfigMapUpdate"},
		{
			kind: "ResourceQuota", paths: []string{"spec.scopes"}, source: "ValidateResourceQuotaUpdate",
			unless: map[string]exception{"spec.scopes": reordered},
		},
		{kind: "RoleBinding.rbac.authorization.k8s.io", paths: []string{"roleRef"}, source: "ValidateRoleBindingUpdate"},
		{kind: "ClusterRoleBinding.rbac.authorization.k8s.io", paths: []string{"roleRef"}, source: "ValidateClusterRoleBindingUpdate"},
		{kind: "PriorityClass.scheduling.k8s.io", paths: []string{"value", "preemptionPolicy"}, source: "ValidatePriorityClassUpdate"},
		{kind: "RuntimeClass.node.k8s.io", paths: []string{"handler"}, source: "ValidateRuntimeClassUpdate"},
		{kind: "IngressClass.networking.k8s.io", paths: []string{"spec.controller"}, source: "validateIngressClassSpecUpdate"},
		{kind: "IPAddress.networking.k8s.io", paths: []string{"spec.parentRef"}, source: "ValidateIPAddressUpdate"},
		{
			kind: "ServiceCIDR.networking.k8s.io", paths: []string{"spec.cidrs"}, source: "ValidateServiceCIDRUpdate",
			unless: map[string]exception{"spec.cidrs": secondAdded},
		},
		{kind: "EndpointSlice.discovery.k8s.io", paths: []string{"addressType"}, source: "ValidateEndpointSliceUpdate"},
		{kind: "ResourceClaim.resource.k8s.io", paths: []string{"spec"}, source: "ValidateResourceClaimUpdate"},
		{kind: "ResourceClaimTemplate.resource.k8s.io", paths: []string{"spec"}, source: "ValidateResourceClaimTemplateUpdate"},
		{
			kind: "ResourceSlice.resource.k8s.io", source: "validateResourceSliceSpec",
			paths: []string{"spec.driver", "spec.nodeName", "spec.pool.name"},
		},
		{
			kind: "CustomResourceDefinition.apiextensions.k8s.io", source: "ValidateCustomResourceDefinitionSpecUpdate",
			paths: []string{"spec.group", "spec.names.plural"},
		},
		{
			kind: "CustomResourceDefinition.apiextensions.k8s.io", source: "ValidateCustomResourceDefinitionSpecUpdate",
			paths: []string{"spec.scope", "spec.names.kind"}, when: established,
		},
	}
})

// This file has the conditions and exceptions of the table of immutable fields. Each does what the function of Kubernetes does that
// the table names as its source.

// firstSet accepts a value for a field that had none.
func firstSet(_ change, was, _ any) bool { return was == nil }

// notRemoved accepts every change but a removal.
func notRemoved(_ change, _, is any) bool { return is != nil }

// reordered accepts another order of a list.
func reordered(_ change, was, is any) bool {
	return object.ContainsAll(was, is) && object.ContainsAll(is, was)
}

// secondAddedOrRemoved accepts a change that adds or removes a second address or family, and leaves the first as it is.
func secondAddedOrRemoved(_ change, was, is any) bool {
	before, _ := was.([]any)
	after, _ := is.([]any)
	return len(before) != len(after) && len(after) > 0 && (len(before) == 0 || object.Equal(before[0], after[0]))
}

// secondAdded accepts a second item in a list of one.
func secondAdded(_ change, was, is any) bool {
	before, _ := was.([]any)
	after, _ := is.([]any)
	return len(before) == 1 && len(after) == 2 && object.Equal(before[0], after[0])
}

// markedImmutable reports whether a Secret or ConfigMap says that it is immutable.
func markedImmutable(c change) bool { return c.was["immutable"] == true }

// established reports whether the API server serves the kind of a CustomResourceDefinition.
func established(c change) bool { return hasCondition(c.live, "Established") }

// hasCondition reports whether a condition of an object's status is true.
func hasCondition(live map[string]any, kind string) bool {
	return slices.ContainsFunc(object.Items(object.Child(live, "status"), "conditions"), func(condition map[string]any) bool {
		return condition["type"] == kind && condition["status"] == "True"
	})
}

// Jobs.

// scalesIndexedJob accepts as many completions of an indexed Job as it has parallel pods.
func scalesIndexedJob(c change, _, is any) bool {
	spec := object.Child(c.is, "spec")
	return spec["completionMode"] == "Indexed" && is != nil && object.Equal(is, spec["parallelism"])
}

// jobSuspended reports whether a Job is suspended and has no pods (kubernetes v1.36.3 pkg/registry/batch/job/strategy.go
// shouldAllowMutablePodTemplate).
func jobSuspended(c change) bool {
	status := object.Child(c.live, "status")
	idle := status["startTime"] == nil || hasCondition(c.live, "Suspended")
	return object.Child(c.was, "spec")["suspend"] == true && idle && integer(status["active"]) == 0
}

// jobNotSuspended reports whether a Job may have pods, so that its template is fixed.
func jobNotSuspended(c change) bool { return !jobSuspended(c) }

// Pods.

// stopsAt is the condition that the API server finds the first difference in the spec of a Pod at a place. It first compares the number of
// containers, then the deadline, then the rest of the spec, and it stops at the first difference.
func stopsAt(place string) func(change) bool {
	return func(c change) bool {
		was, is := object.Child(c.was, "spec")["activeDeadlineSeconds"], object.Child(c.is, "spec")["activeDeadlineSeconds"]
		first := "the rest"
		switch {
		case lengthChanges(c, "containers"):
			first = "containers"
		case lengthChanges(c, "initContainers"):
			first = "initContainers"
		case was != nil && integer(was) < integer(is):
			first = "activeDeadlineSeconds"
		}
		return first == place
	}
}

// lengthChanges reports whether a list of the spec gets another length.
func lengthChanges(c change, list string) bool {
	return len(object.Items(object.Child(c.was, "spec"), list)) != len(object.Items(object.Child(c.is, "spec"), list))
}

// deadlineSetOrLowered accepts a first deadline, or an earlier one.
func deadlineSetOrLowered(_ change, was, is any) bool {
	return is != nil && (was == nil || integer(is) <= integer(was))
}

// gracePeriodFixed accepts 1 in place of a negative period.
func gracePeriodFixed(_ change, was, is any) bool { return integer(was) < 0 && integer(is) == 1 }

// tolerationsAdded accepts tolerations that are added, or that change only their seconds.
func tolerationsAdded(_ change, was, is any) bool {
	return object.ContainsAll(withoutSeconds(is), withoutSeconds(was))
}

// withoutSeconds returns a copy of tolerations without their seconds.
func withoutSeconds(tolerations any) any {
	list, _ := object.Copy(tolerations).([]any)
	for _, v := range list {
		if t, ok := v.(map[string]any); ok {
			delete(t, "tolerationSeconds")
		}
	}
	return list
}

// gatesRemoved accepts scheduling gates that are removed, if none is added.
func gatesRemoved(_ change, was, is any) bool { return object.ContainsAll(was, is) }

// hasSchedulingGates accepts every change of a Pod that scheduling gates keep from being scheduled.
func hasSchedulingGates(c change, _, _ any) bool {
	return object.Child(c.was, "spec")["schedulingGates"] != nil
}

// Services.

// clusterIPKept reports whether a Service is of a type with an address before and after, and is not headless both times.
func clusterIPKept(c change) bool {
	was, is := ServiceOf(c.was), ServiceOf(c.is)
	return was.HasAddress() && is.HasAddress() && !(was.headless() && is.headless())
}

// ipFamiliesKept reports whether a Service has an address before and after, and is never headless.
func ipFamiliesKept(c change) bool {
	was, is := ServiceOf(c.was), ServiceOf(c.is)
	return was.HasAddress() && is.HasAddress() && !was.headless() && !is.headless()
}

// loadBalancerKept reports whether a Service is a load balancer before and after.
func loadBalancerKept(c change) bool {
	return ServiceOf(c.was)["type"] == "LoadBalancer" && ServiceOf(c.is)["type"] == "LoadBalancer"
}

// healthCheckKept reports whether a Service has a port for health checks before and after.
func healthCheckKept(c change) bool {
	return ServiceOf(c.was).hasHealthCheck() && ServiceOf(c.is).hasHealthCheck()
}

// Claims.

// bound reports whether a claim has its volume.
func bound(c change) bool { return object.Child(c.live, "status")["phase"] == "Bound" }

// boundClaimGrows accepts a larger request of a bound claim, or at least one larger than its capacity. Only the server knows whether
// the storage class allows it.
func boundClaimGrows(c change, was, is any) bool {
	before, _ := was.(string)
	after, _ := is.(string)
	capacity, _ := object.Child(object.Child(c.live, "status"), "capacity")["storage"].(string)
	return bound(c) && (!less(after, before) || less(capacity, after))
}

// boundClaimChangesClass accepts another class of volume attributes for a bound claim. A claim cannot lose its class.
func boundClaimChangesClass(c change, _, is any) bool {
	current := object.Child(c.live, "status")["currentVolumeAttributesClassName"]
	return bound(c) && (current == nil || !object.IsZero(is))
}

// less reports whether a is a smaller quantity than b. It returns false if one of them is not a quantity.
func less(a, b string) bool {
	x, ok := kinds.ParseQuantity(a)
	y, also := kinds.ParseQuantity(b)
	return ok && also && x.Cmp(y) < 0
}

// integer returns v if it is an integer, else 0.
func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}
