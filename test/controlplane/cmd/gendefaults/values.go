package main

// The generator picks from these values if defaulting looks at them. All other
// fields may have any value.

// enumValues returns the values of a string type by its name without the package.
// All versions of a group have the same values.
func enumValues(typeName string) []string {
	switch typeName {
	case "DeploymentStrategyType":
		return []string{"RollingUpdate", "Recreate"}
	case "DaemonSetUpdateStrategyType", "StatefulSetUpdateStrategyType":
		return []string{"RollingUpdate", "OnDelete"}
	case "ServiceType":
		return []string{"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}
	case "ServiceAffinity":
		return []string{"None", "ClientIP"}
	case "PullPolicy":
		return []string{"Always", "IfNotPresent", "Never"}
	case "RestartPolicy", "ContainerRestartPolicy":
		return []string{"Always", "OnFailure", "Never"}
	case "ResourceName":
		return []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu"}
	case "LimitType":
		return []string{"Container", "Pod", "PersistentVolumeClaim"}
	case "PolicyType":
		return []string{"Ingress", "Egress"}
	case "Protocol":
		return []string{"TCP", "UDP", "SCTP"}
	case "DeviceAllocationMode":
		return []string{"ExactCount", "All"}
	case "MetricSourceType":
		return []string{"Resource", "Pods", "Object", "External", "ContainerResource"}
	case "MetricTargetType":
		return []string{"Utilization", "Value", "AverageValue"}
	case "PathType":
		return []string{"Exact", "Prefix", "ImplementationSpecific"}
	case "ConditionStatus":
		return []string{"True", "False", "Unknown"}
	case "CompletionMode":
		return []string{"NonIndexed", "Indexed"}
	case "PriorityLevelEnablement":
		return []string{"Limited", "Exempt"}
	case "ConversionStrategyType":
		return []string{"None", "Webhook"}
	case "KeyUsage":
		return []string{"digital signature", "key encipherment", "client auth"}
	}
	return []string{"alpha", "beta"}
}

// textValues returns the values of a plain string by the field's JSON name.
func textValues(field string) []string {
	switch field {
	case "image", "reference":
		return []string{
			"nginx", "nginx:latest", "nginx:1.27", "registry.example.com:5000/team/web", "registry.example.com:5000/team/web:latest",
			"nginx@sha256:e4720093a3c1381245b53a5a51b417963b3c4472d3f47fc301930a4f3b17666a",
			"nginx:latest@sha256:e4720093a3c1381245b53a5a51b417963b3c4472d3f47fc301930a4f3b17666a",
			"localhost:5000", "[::1]:5000/team/web_app", "Team/web",
			// These are not valid image names, so they have no tag.
			"Nginx", "registry.example.com/Team/web:latest", "nginx:", "nginx:latest@sha256:e472", "/nginx",
		}
	case "annotations":
		return []string{"note", "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"}
	case "kind":
		return []string{"User", "Group", "ServiceAccount", "Widget"}
	}
	return []string{"one", "two", "three"}
}

func quantityValues() []string {
	return []string{"1", "100m", "250m", "64Mi", "1Gi", "2", "1500u", "1e-6"}
}

// isUnion reports whether at most one field of the type may be filled.
func isUnion(typeName string) bool {
	switch typeName {
	case "VolumeSource", "PersistentVolumeSource", "EnvVarSource", "VolumeProjection",
		"ProbeHandler", "LifecycleHandler", "Handler":
		return true
	}
	return false
}
