package apiserver

import (
	"slices"
	"sync"
)

// Immutables is the table of what the API server lets nobody change, from k8s.io/kubernetes v1.36.3 (pkg/apis/*/validation).
// Older servers allow less: 1.31 refuses a StatefulSet's revisionHistoryLimit, and all before 1.36 a suspended Job's resources.
// Kinds that are not here take every change of a valid object: CronJob, HorizontalPodAutoscaler, Ingress, Lease, LimitRange,
// NetworkPolicy, PodDisruptionBudget, PodTemplate, ReplicationController, roles, ServiceAccount, webhook configurations and
// others. What a CustomResourceDefinition makes immutable is in immutable_custom.go.
var Immutables = sync.OnceValue(func() []immutability {
	return slices.Concat(
		immutableWorkloads(), immutableJobs(), immutablePods(), immutableServices(), immutableStorage(), immutableRest(),
	)
})

func immutableWorkloads() []immutability {
	return []immutability{
		{Kind: "Deployment.apps", paths: []string{"spec.selector"}, source: "ValidateDeploymentUpdate"},
		{Kind: "ReplicaSet.apps", paths: []string{"spec.selector"}, source: "ValidateReplicaSetUpdate"},
		{Kind: "DaemonSet.apps", paths: []string{"spec.selector"}, source: "ValidateDaemonSetSpecUpdate"},
		{
			Kind: "StatefulSet.apps", paths: []string{"spec"}, source: "ValidateStatefulSetUpdate",
			except: []string{
				"spec.replicas", "spec.ordinals", "spec.template", "spec.updateStrategy", "spec.revisionHistoryLimit",
				"spec.persistentVolumeClaimRetentionPolicy", "spec.minReadySeconds",
			},
		},
		{Kind: "ControllerRevision.apps", paths: []string{"data"}, source: "ValidateControllerRevisionUpdate"},
	}
}

func immutableJobs() []immutability {
	return []immutability{
		{
			Kind: "Job.batch", source: "ValidateJobSpecUpdate",
			paths: []string{
				"spec.selector", "spec.completionMode", "spec.podFailurePolicy", "spec.backoffLimitPerIndex", "spec.managedBy",
				"spec.successPolicy",
			},
		},
		{
			Kind: "Job.batch", paths: []string{"spec.completions"}, source: "validateCompletions",
			unless: map[string]judgement{"spec.completions": scalesIndexedJob},
		},
		{Kind: "Job.batch", paths: []string{"spec.template"}, when: jobRuns, source: "validatePodTemplateUpdate"},
		{
			Kind: "Job.batch", paths: []string{"spec.template.spec"}, when: jobWaits, source: "validatePodTemplateUpdate",
			except: []string{
				"spec.template.spec.nodeSelector", "spec.template.spec.tolerations", "spec.template.spec.affinity.nodeAffinity",
				"spec.template.spec.schedulingGates", "spec.template.spec.containers[].resources",
				"spec.template.spec.initContainers[].resources",
			},
		},
	}
}

func immutablePods() []immutability {
	return []immutability{
		{Kind: "Pod", paths: []string{"spec.containers"}, when: otherContainers, source: "ValidateContainerUpdates"},
		{Kind: "Pod", paths: []string{"spec.initContainers"}, when: otherInitContainers, source: "ValidateContainerUpdates"},
		{Kind: "Pod", paths: []string{"spec.activeDeadlineSeconds"}, when: lengthensDeadline, source: "ValidatePodUpdate"},
		{
			Kind: "Pod", paths: []string{"spec"}, when: looksFurther, source: "ValidatePodUpdate",
			except: []string{"spec.containers[].image", "spec.initContainers[].image"},
			unless: map[string]judgement{
				"spec.activeDeadlineSeconds":         shortens,
				"spec.tolerations":                   onlyTolerates,
				"spec.schedulingGates":               onlyOpens,
				"spec.terminationGracePeriodSeconds": mendsGrace,
				// What exactly may change of a Pod that is held by gates is left to the server.
				"spec.nodeSelector":          heldByGates,
				"spec.affinity.nodeAffinity": heldByGates,
			},
		},
	}
}

func immutableServices() []immutability {
	return []immutability{
		{Kind: "Service", paths: []string{"spec.clusterIP"}, when: keepsAddress, source: "validateUpgradeDowngradeClusterIPs"},
		{
			Kind: "Service", paths: []string{"spec.clusterIPs"}, when: keepsAddress, source: "validateUpgradeDowngradeClusterIPs",
			unless: map[string]judgement{"spec.clusterIPs": keepsFirst},
		},
		{
			Kind: "Service", paths: []string{"spec.ipFamilies"}, when: keepsFamilies, source: "validateUpgradeDowngradeIPFamilies",
			unless: map[string]judgement{"spec.ipFamilies": keepsFirst},
		},
		{
			Kind: "Service", paths: []string{"spec.loadBalancerClass"}, when: staysLoadBalancer,
			source: "validateLoadBalancerClassField",
		},
		{
			Kind: "Service", paths: []string{"spec.healthCheckNodePort"}, when: staysChecked,
			source: "validateServiceExternalTrafficFieldsUpdate",
		},
	}
}

func immutableStorage() []immutability {
	return []immutability{
		{
			Kind: "PersistentVolumeClaim", source: "ValidatePersistentVolumeClaimUpdate",
			paths: []string{"spec", "metadata.annotations/volume.beta.kubernetes.io/storage-class"},
			unless: map[string]judgement{
				"spec.volumeName":                 firstSet,
				"spec.storageClassName":           firstSet,
				"spec.resources.requests.storage": boundClaimGrows,
				"spec.volumeAttributesClassName":  boundClaimMoves,
			},
		},
		{
			Kind: "PersistentVolume", paths: []string{"spec"}, source: "ValidatePersistentVolumeUpdate",
			except: []string{
				"spec.accessModes", "spec.capacity", "spec.claimRef", "spec.mountOptions", "spec.persistentVolumeReclaimPolicy",
				"spec.storageClassName",
			},
			unless: map[string]judgement{
				"spec.csi.controllerExpandSecretRef": firstSet,
				"spec.nodeAffinity":                  firstSet,
				"spec.volumeAttributesClassName":     stays,
			},
		},
		{
			Kind: "StorageClass.storage.k8s.io", source: "ValidateStorageClassUpdate",
			paths: []string{"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"},
		},
		{
			Kind: "VolumeAttributesClass.storage.k8s.io", source: "ValidateVolumeAttributesClassUpdate",
			paths: []string{"driverName", "parameters"},
		},
		{Kind: "VolumeAttachment.storage.k8s.io", paths: []string{"spec"}, source: "ValidateVolumeAttachmentUpdate"},
		{
			Kind: "CSIDriver.storage.k8s.io", source: "ValidateCSIDriverUpdate",
			paths: []string{"spec.attachRequired", "spec.volumeLifecycleModes"},
		},
		{
			Kind: "CSIStorageCapacity.storage.k8s.io", source: "ValidateCSIStorageCapacityUpdate",
			paths: []string{"nodeTopology", "storageClassName"},
		},
	}
}

func immutableRest() []immutability {
	return []immutability{
		{Kind: "Secret", paths: []string{"type"}, source: "ValidateSecretUpdate"},
		{Kind: "Secret", paths: []string{"data", "immutable"}, when: sealed, source: "ValidateSecretUpdate"},
		{Kind: "ConfigMap", paths: []string{"data", "binaryData", "immutable"}, when: sealed, source: "ValidateConfigMapUpdate"},
		{
			Kind: "ResourceQuota", paths: []string{"spec.scopes"}, source: "ValidateResourceQuotaUpdate",
			unless: map[string]judgement{"spec.scopes": sameSet},
		},
		{Kind: "RoleBinding.rbac.authorization.k8s.io", paths: []string{"roleRef"}, source: "ValidateRoleBindingUpdate"},
		{Kind: "ClusterRoleBinding.rbac.authorization.k8s.io", paths: []string{"roleRef"}, source: "ValidateClusterRoleBindingUpdate"},
		{Kind: "PriorityClass.scheduling.k8s.io", paths: []string{"value", "preemptionPolicy"}, source: "ValidatePriorityClassUpdate"},
		{Kind: "RuntimeClass.node.k8s.io", paths: []string{"handler"}, source: "ValidateRuntimeClassUpdate"},
		{Kind: "IngressClass.networking.k8s.io", paths: []string{"spec.controller"}, source: "validateIngressClassSpecUpdate"},
		{Kind: "IPAddress.networking.k8s.io", paths: []string{"spec.parentRef"}, source: "ValidateIPAddressUpdate"},
		{
			Kind: "ServiceCIDR.networking.k8s.io", paths: []string{"spec.cidrs"}, source: "ValidateServiceCIDRUpdate",
			unless: map[string]judgement{"spec.cidrs": addsSecond},
		},
		{Kind: "EndpointSlice.discovery.k8s.io", paths: []string{"addressType"}, source: "ValidateEndpointSliceUpdate"},
		{Kind: "ResourceClaim.resource.k8s.io", paths: []string{"spec"}, source: "ValidateResourceClaimUpdate"},
		{Kind: "ResourceClaimTemplate.resource.k8s.io", paths: []string{"spec"}, source: "ValidateResourceClaimTemplateUpdate"},
		{
			Kind: "ResourceSlice.resource.k8s.io", source: "validateResourceSliceSpec",
			paths: []string{"spec.driver", "spec.nodeName", "spec.pool.name"},
		},
		{
			Kind: "CustomResourceDefinition.apiextensions.k8s.io", source: "ValidateCustomResourceDefinitionSpecUpdate",
			paths: []string{"spec.group", "spec.names.plural"},
		},
		{
			Kind: "CustomResourceDefinition.apiextensions.k8s.io", source: "ValidateCustomResourceDefinitionSpecUpdate",
			paths: []string{"spec.scope", "spec.names.kind"}, when: established,
		},
	}
}
