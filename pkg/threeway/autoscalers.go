package threeway

import (
	"maps"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// markLeaving returns the autoscalers of the objects of a release. Those that the operation takes away are marked: it deletes them, or lets
// them scale another object. Their replicas are no drift, but nothing sets them after the operation.
func markLeaving(in Input) map[object.Key]object.Autoscaler {
	if in.Operation == report.OperationDrift || len(in.Autoscaled) == 0 {
		return in.Autoscaled
	}
	out := maps.Clone(in.Autoscaled)
	for target, scaler := range out {
		old := scalerIn(in.OldObjects, scaler, target)
		if old == nil {
			continue // of somebody else
		}
		if desired := scalerIn(in.DesiredObjects, scaler, target); desired != nil {
			scaler.Leaves = !scales(desired.Content, target)
		} else {
			scaler.Leaves = !isKept(in.Live[old.Ref].Object)
		}
		out[target] = scaler
	}
	return out
}

// scalerIn returns the autoscaler of a manifest; nil if the manifest lacks it.
func scalerIn(objects []object.Object, scaler object.Autoscaler, target object.Key) *object.Object {
	for i := range objects {
		if o := &objects[i]; o.Kind+" "+o.Name == scaler.Name && o.Namespace == target.Namespace {
			return o
		}
	}
	return nil
}

// scales reports whether an autoscaler names a target. One that names no kind scales a Deployment.
func scales(scaler map[string]any, target object.Key) bool {
	ref := object.Child(object.Child(scaler, "spec"), "scaleTargetRef")
	kind, _ := ref["kind"].(string)
	return ref["name"] == target.Name && (kind == "" || strings.EqualFold(kind, target.Kind))
}

// isKept reports whether Helm leaves a live object that the manifest no longer has.
func isKept(live map[string]any) bool {
	return object.Child(object.Child(live, "metadata"), "annotations")["helm.sh/resource-policy"] == "keep"
}
