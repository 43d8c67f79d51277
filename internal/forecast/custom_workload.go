package forecast

import (
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// customWorkload returns the effect of the write of a custom resource that has pod templates, such as a Rollout of Argo or a CloneSet of
// OpenKruise; nil if it leaves them as they are. Only the controller of the kind knows which pods it keeps of a template, and how it
// replaces them.
func customWorkload(o *Object) *report.Effect {
	if !o.isUnknown() {
		return nil
	}
	e := &report.Effect{Inexact: "only the controller of this kind knows"}
	switch {
	case o.After == nil:
		e.Text = "its pods may stop"
	case object.Equal(podTemplates(o.Before["spec"]), podTemplates(o.After["spec"])):
		e.Text = "scales to 0, and its pods may stop"
	default:
		e.Text = "its pods may restart, and be down meanwhile"
	}
	return e
}

// isUnknown reports whether an object is a custom resource with pod templates whose pods the write may restart or stop: the templates
// change, no replicas are left, or the object is deleted.
func (o *Object) isUnknown() bool {
	if !o.Action.Writes() || o.runsPods() || o.Before == nil {
		return false
	}
	before := podTemplates(o.Before["spec"])
	if len(before) == 0 {
		return false
	}
	return o.After == nil || !object.Equal(before, podTemplates(o.After["spec"])) || replicas(o.Before) > 0 && replicas(o.After) == 0
}

// podTemplates returns the pod templates in a value, at whatever place a custom resource has them: maps whose spec has containers.
func podTemplates(v any) []any {
	var out []any
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, podTemplates(item)...)
		}
	case map[string]any:
		if len(object.Items(object.Child(v, "spec"), "containers")) > 0 {
			return []any{v}
		}
		for _, name := range object.SortedKeys(v) {
			out = append(out, podTemplates(v[name])...)
		}
	}
	return out
}
