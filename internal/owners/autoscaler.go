package owners

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Move is a field that stands at one place at version 2 of an API and at another one at version 1.
type Move struct{ At2, At1 object.Path }

// AutoscalerMoves says where version 1 of an autoscaler has what version 2 has in these fields (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go).
func AutoscalerMoves() []Move {
	spec := object.Path{}.Field("spec")
	shown := object.Path{}.Field("metadata").Field("annotations")
	return []Move{
		{spec.Field("metrics"), spec.Field("targetCPUUtilizationPercentage")},
		{spec.Field("metrics"), shown.Field("autoscaling.alpha.kubernetes.io/metrics")},
		{spec.Field("behavior"), shown.Field("autoscaling.alpha.kubernetes.io/behavior")},
	}
}

// followMoves gives managers of an autoscaler what they wrote at its other version, where the version that was read has it.
func (o *Ownership) followMoves(live map[string]any) {
	version, _ := live["apiVersion"].(string)
	if live["kind"] != "HorizontalPodAutoscaler" || !strings.HasPrefix(version, "autoscaling/") {
		return
	}
	for i := range o.entries {
		e := &o.entries[i]
		for _, move := range AutoscalerMoves() {
			from, to := move.At2, move.At1
			if version != "autoscaling/v1" {
				from, to = to, from
			}
			if e.Version != version && OwnsWithin(e.Fields, from) {
				e.Fields = e.Fields.Union(fieldpath.NewSet(FieldPath(to)))
			}
		}
	}
}

// MetricsAt is where a version of an autoscaler has the metrics that Helm may drop; nil for other kinds.
func MetricsAt(ref object.Ref) object.Path {
	spec := object.Path{}.Field("spec")
	switch ref.GVK().String() {
	case "autoscaling/v1, Kind=HorizontalPodAutoscaler":
		return spec.Field("targetCPUUtilizationPercentage")
	case "autoscaling/v2, Kind=HorizontalPodAutoscaler":
		return spec.Field("metrics")
	}
	return nil
}

// IsWrittenAtBoth reports whether managers wrote an autoscaler at both versions of its API, the one at which it was read and the other.
// The controller of autoscalers writes the status at version 2.
func IsWrittenAtBoth(live map[string]any) bool {
	return slices.ContainsFunc(Entries(live, nil), func(e Entry) bool {
		return e.Version != live["apiVersion"] && (e.Version == "autoscaling/v1" || e.Version == "autoscaling/v2")
	})
}

// OrderAsVersion1 puts the metrics of an autoscaler that Helm last applied at version 1 into the order that they have on the way back
// from there: the server looks at that version for what Helm no longer names, and the target of the CPU comes last (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler and back).
func OrderAsVersion1(key object.Key, deployer string, live, result map[string]any) {
	isDeployers := func(e Entry) bool {
		return e.Manager == deployer && e.Operation == "Apply" && e.Version == "autoscaling/v1"
	}
	metrics, _ := object.Child(result, "spec")["metrics"].([]any)
	if key.GroupKind().String() != "HorizontalPodAutoscaler.autoscaling" || len(metrics) < 2 ||
		!slices.ContainsFunc(Entries(live, nil), isDeployers) {
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
