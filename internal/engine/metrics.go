package engine

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Autoscalers have their metrics at different places in version 1 and version 2 of their API. During an apply the API server converts the
// object to each version at which somebody wrote, and back, which changes the metrics (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go; structured-merge-diff v6.4.2 merge/update.go).

// orderMetrics puts the metrics of an autoscaler that the deployer last applied at version 1 into the order that they have on the way back
// from there: the server looks at that version for what Helm no longer names, and the target of the CPU comes last
// (Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler and back).
func (w *Written) orderMetrics(ref object.Ref, deployer string, live map[string]any) {
	isDeployers := func(e owners.Entry) bool {
		return e.Manager == deployer && e.Operation == "Apply" && e.Version == "autoscaling/v1"
	}
	if ref.Group != "autoscaling" || ref.Kind != "HorizontalPodAutoscaler" || !slices.ContainsFunc(owners.Entries(live, nil), isDeployers) {
		return
	}
	metrics, _ := object.Child(w.Result, "spec")["metrics"].([]any)
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

// keepMetrics puts back the metrics of an autoscaler that an apply drops. On the way from version 1, the conversion sets the default metric
// if there is none, so the metrics count as still there, and stay as they are (addBackOwnedItems, addBackDanglingItems).
func (w *Written) keepMetrics(ref object.Ref, live map[string]any) {
	path := metricsPath(ref)
	was, had := path.Lookup(live)
	if _, has := path.Lookup(w.Result); path == nil || !had || has {
		return
	}
	switch {
	case isWrittenAtBoth(live):
		w.Kept = path
		object.Child(w.Result, "spec")[path[1].Name] = object.Copy(was)
	case ref.Version == "v1":
		w.Uncertainties = append(w.Uncertainties, Uncertainty{
			Reason: "it stays once the controller of autoscalers has written its status, at autoscaling/v2", Affects: Writing, Matches: path.Equal,
		})
	}
}

// metricsPath returns the place at which a version of an autoscaler has the metrics that Helm may drop; nil for other kinds.
func metricsPath(ref object.Ref) object.Path {
	spec := object.Path{}.Field("spec")
	switch ref.GVK().String() {
	case "autoscaling/v1, Kind=HorizontalPodAutoscaler":
		return spec.Field("targetCPUUtilizationPercentage")
	case "autoscaling/v2, Kind=HorizontalPodAutoscaler":
		return spec.Field("metrics")
	}
	return nil
}

// isWrittenAtBoth reports whether managers wrote an autoscaler at both versions of its API, the one at which it was read and the other.
// The controller of autoscalers writes the status at version 2.
func isWrittenAtBoth(live map[string]any) bool {
	return slices.ContainsFunc(owners.Entries(live, nil), func(e owners.Entry) bool {
		return e.Version != live["apiVersion"] && (e.Version == "autoscaling/v1" || e.Version == "autoscaling/v2")
	})
}
