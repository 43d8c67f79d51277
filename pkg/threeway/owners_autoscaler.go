package threeway

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// autoscalerMoves says where version 1 of an autoscaler has what version 2 has in these fields (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go).
func autoscalerMoves() []struct{ at2, at1 Path } {
	spec := Path{}.Field("spec")
	shown := Path{}.Field("metadata").Field("annotations")
	return []struct{ at2, at1 Path }{
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
