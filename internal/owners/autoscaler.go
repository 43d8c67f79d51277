package owners

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// AutoscalerMove is a field of an autoscaler that version 2 of its API has at one place and version 1 at another.
type AutoscalerMove struct{ V2, V1 object.Path }

// AutoscalerMoves returns the fields that the conversion between the versions moves (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go).
func AutoscalerMoves() []AutoscalerMove {
	spec := object.Path{}.Field("spec")
	annotations := object.Path{}.Field("metadata").Field("annotations")
	return []AutoscalerMove{
		{spec.Field("metrics"), spec.Field("targetCPUUtilizationPercentage")},
		{spec.Field("metrics"), annotations.Field("autoscaling.alpha.kubernetes.io/metrics")},
		{spec.Field("behavior"), annotations.Field("autoscaling.alpha.kubernetes.io/behavior")},
	}
}

// followMoves lets managers of an autoscaler that wrote at its other version own what they wrote at the place that live has it.
func (o *Ownership) followMoves(live map[string]any) {
	version, _ := live["apiVersion"].(string)
	if live["kind"] != "HorizontalPodAutoscaler" || !strings.HasPrefix(version, "autoscaling/") {
		return
	}
	for i := range o.entries {
		e := &o.entries[i]
		for _, move := range AutoscalerMoves() {
			from, to := move.V2, move.V1
			if version != "autoscaling/v1" {
				from, to = to, from
			}
			if e.Version != version && OwnsWithin(e.Fields, from) {
				e.Fields = e.Fields.Union(fieldpath.NewSet(FieldPath(to)))
			}
		}
	}
}
