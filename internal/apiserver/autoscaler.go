package apiserver

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// OrderMetrics puts the metrics of an autoscaler that Helm applied at version 1 into the order that they have after an apply: to find what
// Helm no longer names, the server converts the object to version 1 and back, and the target of the CPU comes last then (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler and back).
func OrderMetrics(autoscaler map[string]any) {
	metrics, _ := object.Child(autoscaler, "spec")["metrics"].([]any)
	slices.SortStableFunc(metrics, func(a, b any) int { return cmp.Compare(version1Order(a), version1Order(b)) })
}

// version1Order returns 1 for the metric that version 1 has in a field of its own, and 0 for the others.
func version1Order(metric any) int {
	m, _ := metric.(map[string]any)
	resource := object.Child(m, "resource")
	if m["type"] == "Resource" && resource["name"] == "cpu" && object.Child(resource, "target")["averageUtilization"] != nil {
		return 1
	}
	return 0
}
