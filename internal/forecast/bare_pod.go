package forecast

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// isPod reports whether an object is a Pod. Those of a manifest have no controller.
func (o *Object) isPod() bool { return o.GroupKind() == schema.GroupKind{Kind: "Pod"} }

// barePod returns the effect of the write of a Pod, which is a workload of one; nil if it has none. Nobody replaces such a Pod: if it is
// deleted, it is gone, and an update changes it in place (kubernetes v1.36.3 pkg/apis/core/validation/validation.go ValidatePodUpdate).
func barePod(o *Object) *report.Effect {
	status := object.Child(o.Live, "status")
	e := &report.Effect{}
	if !o.TemplateEdited.IsZero() && !hasEnded(status) && len(restarted(o.Deployed, o.Before, status)) > 0 {
		e.Text, e.RestartedAt = "restarts nothing", &o.TemplateEdited
	}
	runs, gated := o.Before != nil && !hasEnded(status) && !isGated(o.Before), isGated(o.After)
	switch {
	case !o.Action.Writes():
	case runs && o.After == nil:
		e.Text, e.Stops = "stops 1 pod", 1
	case runs:
		o.changesInPlace(e, status)
	case o.Before == nil && gated:
		e.Text = "starts nothing until its scheduling gates are removed"
	case o.After != nil && !gated && !hasEnded(status):
		e.Text, e.Starts = "starts 1 pod", 1
	}
	if e.Text == "" {
		return nil
	}
	if e.Restarts+e.Starts+e.Stops > 0 {
		e.LeastReady, e.Downtime = new(int), runs && isReady(status)
	}
	return e
}

// changesInPlace adds what an update of a Pod that runs means for it. The kubelet restarts a container if its image changes (kubernetes
// v1.36.3 pkg/kubelet/container/helpers.go pickFieldsToHash), and stops the Pod when it has run as long as its deadline allows
// (pkg/kubelet/active_deadline.go pastActiveDeadline).
func (o *Object) changesInPlace(e *report.Effect, status map[string]any) {
	var does []string
	if names := restarted(o.Before, o.After, status); len(names) > 0 {
		e.Restarts = 1
		does = append(does, "restarts "+countOf(len(names), len(images(o.After)))+" in place"+readyMeanwhile(status))
	}
	const field = "activeDeadlineSeconds"
	was, is := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	if seconds := number(is, field, 0); object.Has(is, field) && !object.Equal(was[field], is[field]) {
		e.Stops = 1
		does = append(does, fmt.Sprintf("stops 1 pod when it has run for %d s (activeDeadlineSeconds)", seconds))
	}
	if len(does) > 0 {
		e.Text, e.Inexact = strings.Join(does, ", "), o.Doubt
	}
}

// countOf counts the containers of a Pod that restart.
func countOf(n, all int) string {
	switch {
	case n < all:
		return fmt.Sprintf("%d of its %d containers", n, all)
	case n == 1:
		return "its container"
	}
	return "its " + english.Count(n, "container")
}

// readyMeanwhile says that a Pod is not ready while a container restarts.
func readyMeanwhile(status map[string]any) string {
	if isReady(status) {
		return ": it is not ready meanwhile"
	}
	return "; it is not ready now"
}

// restarted returns the containers of a Pod that restart because their image changes: also one whose policy would not restart it, but not
// one that has ended by such a policy. An init container that is no sidecar does not run again (kubernetes v1.36.3
// pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions, kuberuntime_container.go computeInitContainerActions).
func restarted(before, after, status map[string]any) []string {
	was, is := images(before), images(after)
	var out []string
	for _, name := range object.SortedKeys(was) {
		if image, stays := is[name]; stays && image != was[name] && !isOver(after, status, name) {
			out = append(out, name)
		}
	}
	return out
}

// images returns the images of the containers of a Pod that run as long as it does: its containers and sidecars, by their names.
func images(m map[string]any) map[string]any {
	out, spec := map[string]any{}, object.Child(m, "spec")
	for _, c := range longRunning(spec) {
		if name, ok := c["name"].(string); ok {
			out[name] = c["image"]
		}
	}
	return out
}

// keepsContainers reports whether some containers of a Pod keep running while others restart.
func (o *Object) keepsContainers() bool {
	return len(restarted(o.Before, o.After, object.Child(o.Live, "status"))) < len(images(o.After))
}

// isOver reports whether a container of a Pod has ended and its policy does not start it again.
func isOver(m, status map[string]any, name string) bool {
	if policy := object.Child(m, "spec")["restartPolicy"]; policy == nil || policy == "Always" {
		return false
	}
	for _, c := range object.Items(status, "containerStatuses") {
		if c["name"] == name {
			return object.Has(object.Child(c, "state"), "terminated")
		}
	}
	return false
}

// isGated reports whether scheduling gates keep a Pod from being scheduled.
func isGated(m map[string]any) bool {
	return len(object.Items(object.Child(m, "spec"), "schedulingGates")) > 0
}
