package threeway

import (
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// keepMetrics puts back the metrics of an autoscaler that an apply drops. To see what others own, the API server converts the object to
// each version at which somebody wrote, and back. On the way from version 1 it makes the default metric where there is none, so the metrics
// count as still there, and stay as they are (structured-merge-diff v6.4.2 merge/update.go addBackOwnedItems, addBackDanglingItems;
// kubernetes v1.36.3 pkg/apis/autoscaling/v1/conversion.go).
func (w *written) keepMetrics(ref object.Ref, live map[string]any) {
	path := owners.MetricsAt(ref)
	was, had := path.Lookup(live)
	if _, has := path.Lookup(w.result); path == nil || !had || has {
		return
	}
	switch {
	case owners.IsWrittenAtBoth(live):
		w.kept = path
		object.Child(w.result, "spec")[path[1].Name] = object.Copy(was)
	case ref.Version == "v1":
		w.doubts = append(w.doubts, doubt{
			reason: "it stays once the controller of autoscalers has written its status, at autoscaling/v2",
			about:  func(f Finding) bool { return f.writes() && f.Path.Equal(path) },
		})
	}
}

// noteKept says why metrics stay that the chart drops; kept is nil for most objects.
func (o *ObjectComparison) noteKept(kept object.Path) {
	for i := range o.Findings {
		if f := &o.Findings[i]; kept != nil && f.Verdict == report.Ignore && f.Path.Equal(kept) {
			f.Note = "no longer in the manifest, but the API server keeps it, as the object was written at both versions of its API"
		}
	}
}
