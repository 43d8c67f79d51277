package engine

import (
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// keepMetrics puts back the metrics of an autoscaler that an apply drops. To see what others own, the API server converts the object to
// each version at which somebody wrote, and back. The conversion from version 1 creates the default metric if there is none, so the
// metrics count as present, and stay as they are (structured-merge-diff v6.4.2 merge/update.go addBackOwnedItems, addBackDanglingItems;
// kubernetes v1.36.3 pkg/apis/autoscaling/v1/conversion.go).
func (w *Written) keepMetrics(ref object.Ref, live map[string]any) {
	path := owners.MetricsAt(ref)
	was, had := path.Lookup(live)
	if _, has := path.Lookup(w.Result); path == nil || !had || has {
		return
	}
	switch {
	case owners.IsWrittenAtBoth(live):
		w.Kept = path
		object.Child(w.Result, "spec")[path[1].Name] = object.Copy(was)
	case ref.Version == "v1":
		w.Uncertainties = append(w.Uncertainties, Uncertainty{
			Reason: "it stays once the controller of autoscalers has written its status, at autoscaling/v2", Affects: Writing, Matches: path.Equal,
		})
	}
}
