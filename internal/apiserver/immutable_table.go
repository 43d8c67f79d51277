package apiserver

import (
	"slices"
	"sync"
)

// immutables is the table of immutable fields, from k8s.io/kubernetes v1.36.3 (pkg/apis/*/validation). Older servers allow less: 1.31
// refuses a change of a StatefulSet's revisionHistoryLimit, and all before 1.36 refuse one of a suspended Job's resources. Kinds that are
// not in the table accept every change of a valid object: CronJob, HorizontalPodAutoscaler, Ingress, Lease, LimitRange, NetworkPolicy,
// PodDisruptionBudget, PodTemplate, ReplicationController, roles, ServiceAccount, webhook configurations and others. What a
// CustomResourceDefinition makes immutable is in immutable_custom.go.
var immutables = sync.OnceValue(func() []immutability {
	return slices.Concat(
		immutableWorkloads(), immutableJobs(), immutablePods(), immutableServices(), immutableStorage(), immutableRest(),
	)
})

// immutableWorkloads are the controllers of pods: selectors, and of StatefulSets all but a few fields (pkg/apis/apps/validation).
func immutableWorkloads() []immutability {
	return []immutability{
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
	}
}

// immutableJobs depend on whether the Job is suspended: then more of its template may change (pkg/apis/batch/validation).
func immutableJobs() []immutability {
	return []immutability{
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
	}
}

// immutablePods are those of Pods that no controller owns. Almost nothing may change (pkg/apis/core/validation).
func immutablePods() []immutability {
	return []immutability{
		{kind: "Pod", paths: []string{"spec.containers"}, when: containersAddedOrRemoved, source: "ValidateContainerUpdates"},
		{kind: "Pod", paths: []string{"spec.initContainers"}, when: initContainersAddedOrRemoved, source: "ValidateContainerUpdates"},
		{kind: "Pod", paths: []string{"spec.activeDeadlineSeconds"}, when: deadlineRaised, source: "ValidatePodUpdate"},
		{
			kind: "Pod", paths: []string{"spec"}, when: restCompared, source: "ValidatePodUpdate",
			except: []string{"spec.containers[].image", "spec.initContainers[].image"},
			unless: map[string]exception{
				"spec.activeDeadlineSeconds":         deadlineSetOrLowered,
				"spec.tolerations":                   tolerationsAdded,
				"spec.schedulingGates":               gatesRemoved,
				"spec.terminationGracePeriodSeconds": gracePeriodFixed,
				// Which change the API server accepts in a Pod with scheduling gates is left to the server.
				"spec.nodeSelector":          hasSchedulingGates,
				"spec.affinity.nodeAffinity": hasSchedulingGates,
			},
		},
	}
}

// immutableServices are addresses and what belongs to a load balancer (pkg/apis/core/validation).
func immutableServices() []immutability {
	return []immutability{
		{kind: "Service", paths: []string{"spec.clusterIP"}, when: clusterIPKept, source: "validateUpgradeDowngradeClusterIPs"},
		{
			kind: "Service", paths: []string{"spec.clusterIPs"}, when: clusterIPKept, source: "validateUpgradeDowngradeClusterIPs",
			unless: map[string]exception{"spec.clusterIPs": secondAddedOrRemoved},
		},
		{
			kind: "Service", paths: []string{"spec.ipFamilies"}, when: ipFamiliesKept, source: "validateUpgradeDowngradeIPFamilies",
			unless: map[string]exception{"spec.ipFamilies": secondAddedOrRemoved},
		},
		{
			kind: "Service", paths: []string{"spec.loadBalancerClass"}, when: loadBalancerKept,
			source: "validateLoadBalancerClassField",
		},
		{
			kind: "Service", paths: []string{"spec.healthCheckNodePort"}, when: healthCheckKept,
			source: "validateServiceExternalTrafficFieldsUpdate",
		},
	}
}

// immutableStorage are claims, volumes and classes. A claim may grow once it is bound (pkg/apis/core and storage/validation).
func immutableStorage() []immutability {
	return []immutability{
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
	}
}

// immutableRest are data that was sealed, references of bindings, and fields that name what an object is.
func immutableRest() []immutability {
	return []immutability{
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
}
