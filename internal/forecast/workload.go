package forecast

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// workload is an object whose controller keeps pods of a template.
type workload struct {
	*Object
	// before and after are the wanted numbers of pods. For a DaemonSet, they are numbers of nodes.
	before, after int
	// pods is the number of pods that the controller reports, outdated is how many of them do not have the live template, and ready is
	// how many are ready. reported is false if the controller has reported nothing.
	pods, outdated, ready int
	reported              bool
	// changes reports whether the controller sees a change of the pod template, and returns whether it becomes the deployed one again.
	changes, returns bool
}

// workloadOf returns an object as a workload. The second result is false if it is not one.
func workloadOf(o *Object) (workload, bool) {
	if !isWorkload(o.GroupKind()) {
		return workload{}, false
	}
	w := workload{Object: o, before: replicas(o.Before), after: replicas(o.After)}
	w.readStatus(object.Child(o.Live, "status"))
	if o.Kind == "DaemonSet" {
		w.before, w.after = onlyIf(o.Before, w.before), onlyIf(o.After, w.before)
	}
	w.changes = o.Before != nil && o.After != nil && w.comparesUnequal(template(o.Before), template(o.After))
	w.returns = w.changes && o.Deployed != nil && !w.comparesUnequal(template(o.Deployed), template(o.After))
	return w, true
}

// replaced returns how many of the pods that the workload keeps have another template than after the write. If an edit of the template is
// undone before it was rolled out to all pods, the others still have the deployed template.
func (w workload) replaced() int {
	kept := min(w.before, w.after)
	switch {
	case !w.changes:
		return 0
	case w.returns && w.reported:
		return min(kept, w.pods-w.outdated)
	}
	return kept
}

// isWorkload reports whether the controller of a kind keeps pods of a template.
func isWorkload(kind schema.GroupKind) bool {
	switch kind.String() {
	case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "ReplicationController":
		return true
	}
	return false
}

// readStatus reads what the controller reports.
func (w *workload) readStatus(status map[string]any) {
	w.reported = object.Has(status, "observedGeneration")
	if w.Kind == "DaemonSet" {
		w.before = number(status, "desiredNumberScheduled", 0)
		w.pods, w.ready = number(status, "currentNumberScheduled", 0), number(status, "numberReady", 0)
		w.outdated = max(0, w.pods-number(status, "updatedNumberScheduled", 0))
		return
	}
	w.pods, w.ready = number(status, "replicas", 0), number(status, "readyReplicas", 0)
	if w.Kind == "Deployment" || w.Kind == "StatefulSet" {
		w.outdated = max(0, w.pods-number(status, "updatedReplicas", 0))
	}
}

// workload returns the effect of the write of a workload, or nil if none of its pods changes and there is nothing else to say.
func (in Input) workload(w workload) *report.Effect {
	e := &report.Effect{Text: "restarts nothing"}
	if w.hasRestarted() {
		e.RestartedAt = &w.TemplateEdited
	}
	var r rollout
	if w.Action.Writes() {
		r = in.rollOut(w)
	}
	if r.restarts+r.starts+r.stops == 0 && r.held+r.also == "" {
		if e.RestartedAt == nil {
			return nil
		}
		return e
	}
	e.Text, e.Notes, e.Inexact = w.phrase(r), r.notes, w.doubt(r)
	e.Restarts, e.Starts, e.Stops = r.restarts, r.starts, r.stops
	if r.restarts+r.starts+r.stops > 0 && (w.reported || w.Before == nil) {
		e.LeastReady = &r.least
		e.Downtime = w.ready > 0 && r.least == 0
	}
	return e
}

// rollOut returns what the controller does after the write. It does nothing for an object that is being deleted (kubernetes v1.36.3
// pkg/controller/deployment/deployment_controller.go syncDeployment, pkg/controller/statefulset/stateful_set_control.go updateStatefulSet).
// The pods stop when the object goes, and the write may be what removes it.
func (in Input) rollOut(w workload) rollout {
	isBeingDeleted := object.Child(w.Live, "metadata")["deletionTimestamp"] != nil
	switch {
	case w.After == nil && !isBeingDeleted, object.EndsDeletion(w.Live, w.After):
		return rollout{stops: max(w.pods, w.before)}
	case isBeingDeleted:
		return rollout{}
	}
	r := w.controller()(w)
	scaler, scaled := in.Autoscaled[w.Key]
	scaled = scaled && !scaler.Leaves && !scaler.Paused
	// An autoscaler that has not set the count to 0 does not set it to 0 again. Most are disabled at 0, so they do not raise it either
	// (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler: ScalingDisabled).
	switch {
	case !w.rescales():
	case scaled && w.after == 0 && !scaler.FromZero && scaler.ToZero:
		r.inexact = "Kubernetes before 1.36 lets " + scaler.Name + " start them again"
	case scaled && w.after == 0 && !scaler.FromZero:
	case scaled && (w.before > 0 || scaler.ToZero):
		r = w.scaledBack(r, scaler)
	case !scaled && in.AutoscalersUnseen:
		r.inexact = autoscalersUnseen
	}
	return r
}

// autoscalersUnseen says that an autoscaler may set the number of pods back.
const autoscalersUnseen = "autoscalers could not be read"

// rescales reports whether the write changes the number of replicas of an object that stays. An autoscaler may set it back.
func (o *Object) rescales() bool {
	return scales(o.Key) && o.Before != nil && o.After != nil && replicas(o.Before) != replicas(o.After)
}

// controller returns the rules of the controller of the kind.
func (w workload) controller() func(workload) rollout {
	switch w.Kind {
	case "Deployment":
		return workload.deployment
	case "StatefulSet":
		return workload.statefulSet
	case "DaemonSet":
		return workload.daemonSet
	}
	return workload.replicaSet
}

// scaledBack returns a roll-out that ends with an autoscaler setting the count back: new pods replace those that the write removes.
func (w workload) scaledBack(r rollout, scaler object.Autoscaler) rollout {
	r.restarts += r.stops
	r.starts, r.stops = 0, 0
	r.notes = append(r.notes, fmt.Sprintf("the write sets the count to %d, and %s sets it back", w.after, scaler.Name))
	r.inexact = "the autoscaler decides how many pods there will be"
	return r
}

// hasRestarted reports whether the edit of the live pod template has restarted pods. A ReplicaSet and OnDelete restart none; otherwise the
// controller reports how many pods have the live template.
func (w workload) hasRestarted() bool {
	if w.TemplateEdited.IsZero() || w.pods <= w.outdated {
		return false
	}
	if w.Deployed != nil && !w.comparesUnequal(template(w.Deployed), template(w.Before)) {
		return false // the edit changed only the spelling
	}
	switch w.Kind {
	case "Deployment":
		return true
	case "StatefulSet", "DaemonSet":
		return strategyType(w.Before) != onDelete
	}
	return false
}

// doubt returns why the forecast is not exact, or "" if it is.
func (w workload) doubt(r rollout) string {
	switch {
	case w.Before == nil || w.After == nil:
		return r.inexact
	case w.Doubt != "":
		return w.Doubt
	case !w.reported:
		return "the controller has not reported on its pods"
	case number(object.Child(w.Live, "metadata"), "generation", 0) > number(object.Child(w.Live, "status"), "observedGeneration", 0):
		return "the controller has not seen the live object yet"
	case w.outdated > 0 && w.isRolling():
		return "a roll-out is under way"
	case w.outdated > 0 && w.changes && !w.returns:
		return english.Count(w.outdated, "pod") + " of another template than the live one"
	case w.pods != w.before:
		return fmt.Sprintf("it has %d of %s now", w.pods, english.Count(w.before, "pod"))
	case w.ready < w.before:
		return fmt.Sprintf("%d of %s ready now", w.ready, english.Count(w.before, "pod"))
	}
	return r.inexact
}

// isRolling reports whether the controller replaces outdated pods of the live object by itself.
func (w workload) isRolling() bool {
	spec := object.Child(w.Before, "spec")
	switch w.Kind {
	case "Deployment":
		return spec["paused"] != true
	case "StatefulSet":
		return strategyType(w.Before) != onDelete && partition(w.Before) == 0
	case "DaemonSet":
		return strategyType(w.Before) != onDelete
	}
	return false
}

// onlyIf returns n if there is an object, or else 0.
func onlyIf(m map[string]any, n int) int {
	if m == nil {
		return 0
	}
	return n
}

// comparesUnequal reports whether the controller sees two pod templates as different. Both are normal forms, so that spelling and
// defaults do not matter.
//
// The Deployment controller, and the API server for a DaemonSet, compare decoded templates, where 1Gi equals 1073741824. A StatefulSet has
// a revision per encoded template, and the encoding keeps the unit of a quantity.
func (w workload) comparesUnequal(before, after map[string]any) bool {
	if w.Kind == "Deployment" {
		before, after = withoutHash(before), withoutHash(after)
	}
	if object.Equal(before, after) {
		return false
	}
	if w.Kind != "Deployment" && w.Kind != "DaemonSet" {
		return true
	}
	a, decoded := typed[corev1.PodTemplateSpec](before)
	b, alsoDecoded := typed[corev1.PodTemplateSpec](after)
	return !decoded || !alsoDecoded || !equality.Semantic.DeepEqual(a, b)
}

// withoutHash returns a pod template without the label that distinguishes the ReplicaSets of a Deployment, which the controller ignores.
func withoutHash(m map[string]any) map[string]any {
	const label = "pod-template-hash"
	metadata := object.Child(m, "metadata")
	if !object.Has(object.Child(metadata, "labels"), label) {
		return m
	}
	out, meta, labels := maps.Clone(m), maps.Clone(metadata), maps.Clone(object.Child(metadata, "labels"))
	delete(labels, label)
	if meta["labels"] = labels; len(labels) == 0 {
		delete(meta, "labels")
	}
	out["metadata"] = meta
	return out
}
