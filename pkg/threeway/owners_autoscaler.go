package threeway

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// autoscalerMoves says where version 1 of an autoscaler has what version 2 has in these fields (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go).
func autoscalerMoves() []struct{ at2, at1 object.Path } {
	spec := object.Path{}.Field("spec")
	shown := object.Path{}.Field("metadata").Field("annotations")
	return []struct{ at2, at1 object.Path }{
		{spec.Field("metrics"), spec.Field("targetCPUUtilizationPercentage")},
		{spec.Field("metrics"), shown.Field("autoscaling.alpha.kubernetes.io/metrics")},
		{spec.Field("behavior"), shown.Field("autoscaling.alpha.kubernetes.io/behavior")},
	}
}

// followMoves gives managers of an autoscaler what they wrote at its other version, where the version that was read has it.
func (o *ownership) followMoves(live map[string]any) {
	version, _ := live["apiVersion"].(string)
	if live["kind"] != "HorizontalPodAutoscaler" || !strings.HasPrefix(version, "autoscaling/") {
		return
	}
	for i := range o.entries {
		e := &o.entries[i]
		for _, move := range autoscalerMoves() {
			from, to := move.at2, move.at1
			if version != "autoscaling/v1" {
				from, to = to, from
			}
			if e.version != version && ownsWithin(e.fields, fieldPath(from)) {
				e.fields = e.fields.Union(fieldpath.NewSet(fieldPath(to)))
			}
		}
	}
}

// orderAsVersion1 puts the metrics of an autoscaler that Helm last applied at version 1 into the order that they have on the way back
// from there: the server looks at that version for what Helm no longer names, and the target of the CPU comes last (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler and back).
func orderAsVersion1(key object.Key, deployer string, live, result map[string]any) {
	isDeployers := func(e ownerEntry) bool {
		return e.Manager == deployer && e.Operation == "Apply" && e.version == "autoscaling/v1"
	}
	metrics, _ := object.Child(result, "spec")["metrics"].([]any)
	if key.GroupKind().String() != "HorizontalPodAutoscaler.autoscaling" || len(metrics) < 2 ||
		!slices.ContainsFunc(ownershipOf(live, nil).entries, isDeployers) {
		return
	}
	slices.SortStableFunc(metrics, func(a, b any) int { return cmp.Compare(lastAtVersion1(a), lastAtVersion1(b)) })
}

// lastAtVersion1 is 1 for a metric that version 1 has in a field of its own, and 0 for the others.
func lastAtVersion1(metric any) int {
	m, _ := metric.(map[string]any)
	resource := object.Child(m, "resource")
	if m["type"] == "Resource" && resource["name"] == "cpu" && object.Child(resource, "target")["averageUtilization"] != nil {
		return 1
	}
	return 0
}
