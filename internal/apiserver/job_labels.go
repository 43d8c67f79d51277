package apiserver

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// LostJobLabels returns the reason why the API server refuses a write of a Job that takes the server's own labels from the template. It is
// empty if the template keeps them. That happens if a chart drops the last label or annotation of the template: Helm then removes the
// whole map. Live and result are the texts before and after the write (kubernetes v1.36.3 pkg/apis/batch/validation/validation.go
// validateGeneratedSelector).
func LostJobLabels(key object.Key, live, result map[string]any) string {
	if key.Group != "batch" || key.Kind != "Job" || object.Child(result, "spec")["manualSelector"] == true {
		return ""
	}
	left := kinds.TemplateLabels(result)
	for _, name := range object.SortedKeys(kinds.TemplateLabels(live)) {
		isServers := name == "controller-uid" || name == "job-name" || strings.HasPrefix(name, "batch.kubernetes.io/")
		if isServers && left[name] == nil {
			return "spec.template.metadata.labels may not lose " + name + ", which the API server has set: helm removes the whole map, because " +
				"the chart names none of it any more"
		}
	}
	return ""
}
