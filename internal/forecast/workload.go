package forecast

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// workload is an object whose controller keeps pods of a template.
type workload struct {
	*Object
	// before and after are the wanted numbers of pods, and ready is how many are ready now.
	before, after, ready int
	// restarts reports whether the pod template changes, so that the controller replaces pods.
	restarts bool
}

// workloadOf returns the workload that an object is. The second result is false if it is none.
func workloadOf(o *Object) (workload, bool) {
	if o.Group != "apps" || o.Kind != "Deployment" {
		return workload{}, false
	}
	w := workload{Object: o, before: replicas(o.Before), after: replicas(o.After)}
	w.ready = number(object.Child(o.Live, "status"), "readyReplicas", 0)
	w.restarts = o.Before != nil && o.After != nil && !object.Equal(template(o.Before), template(o.After))
	return w, true
}

// template returns the pod template of a normal form.
func template(m map[string]any) map[string]any {
	return object.Child(object.Child(m, "spec"), "template")
}

// replicas returns how many pods a normal form wants; 0 if there is no object.
func replicas(m map[string]any) int {
	if m == nil {
		return 0
	}
	return number(object.Child(m, "spec"), "replicas", 1)
}

// number returns an integer field, or a default if it is absent.
func number(m map[string]any, name string, otherwise int) int {
	switch n := m[name].(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return otherwise
}

// workload returns the effect of the write of a workload; nil if none of its pods changes.
func (in Input) workload(w workload) *report.Effect {
	e := &report.Effect{}
	if !w.TemplateEdited.IsZero() {
		e.RestartedAt = &w.TemplateEdited
	}
	if !w.Action.Writes() || !w.restarts && w.before == w.after {
		if e.RestartedAt == nil {
			return nil
		}
		e.Text = "restarts no pod"
		return e
	}
	if w.restarts {
		e.Restarts = min(w.before, w.after)
	}
	e.Starts, e.Stops = max(0, w.after-w.before), max(0, w.before-w.after)
	least := min(w.ready, w.after)
	e.LeastReady = &least
	e.Text = fmt.Sprintf("restarts %s", counted(e.Restarts, "pod"))
	return e
}
