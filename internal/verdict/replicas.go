package verdict

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Replicas are set by people, by charts and by autoscalers, and the API server forgets some of the writers. This file says when they are
// drift.

// IsReplicas reports whether the path is the replicas of a workload. An autoscaler may set them.
func IsReplicas(path object.Path) bool {
	return path.Equal(object.Path{{Name: "spec"}, {Name: "replicas"}})
}

// isSwitchedOff reports whether the replicas are 0 under an autoscaler that has not set them to 0. The autoscaler is then disabled, and
// will not raise them again (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler). So they are drift where
// old has other replicas, even if no manifest names them because the autoscaler sets them.
func (w *objectWalk) isSwitchedOff(path object.Path, n States) bool {
	return w.autoscaler.Name != "" && !w.autoscaler.ToZero && isZeroReplicas(path, n.Live)
}

// switchesOff reports whether the operation sets the replicas to 0 under an autoscaler that this disables (horizontal.go
// reconcileAutoscaler: ScalingDisabled), so that nothing raises them again. Until an operation does so, the autoscaler sets them.
func (w *objectWalk) switchesOff(path object.Path, n States) bool {
	disables := w.autoscaler.Name != "" && !w.autoscaler.FromZero && w.Operation != report.OperationDrift
	return disables && isZeroReplicas(path, n.Result) && !isZeroReplicas(path, n.Live)
}

func isZeroReplicas(path object.Path, live kinds.State) bool {
	return IsReplicas(path) && live.Present && object.Equal(live.Value, int64(0))
}

// MaySwitchOff reports whether the finding does not count, but would if the object had an autoscaler that does not scale to 0:
// classifyWithoutRules treats such replicas as managed.
func (f Finding) MaySwitchOff() bool {
	counts := f.Managed || f.Cause == report.CauseChange || f.Silenced()
	return !counts && IsReplicas(f.Path) && object.Equal(f.Live, int64(0)) && !object.IsZero(f.Old)
}

// isScaled reports whether somebody may have edited the place although it has no owner: the API server forgets who wrote the replicas
// when they are scaled to 0, or for a second time (tried on 1.36.3; apimachinery v0.36.3 managedfields ScaleHandler). It excludes custom
// resources, where a webhook may have set the value.
func (w *objectWalk) isScaled(path object.Path, owners []report.Owner) bool {
	return !w.Shape.Custom && IsReplicas(path) && len(owners) == 0
}

// withScaledOld returns old with the replicas that an autoscaler has set, if the operation removes or disables that autoscaler. They are
// not drift. A new value is a change by the operation, and no autoscaler undoes it.
func (w *objectWalk) withScaledOld(path object.Path, n States) kinds.State {
	if (w.autoscaler.Leaves || w.switchesOff(path, n)) && IsReplicas(path) && n.Live.Present && !w.isSwitchedOff(path, n) {
		n.Old.Value, n.Old.Present = n.Live.Value, true
	}
	return n.Old
}

// noteReplicas explains replicas that an autoscaler set before the operation removes or disables it, and replicas that are 0: the
// autoscaler did not set them, and the API server records no owner. One that raises them by itself (FromZero) needs no note.
func (w *objectWalk) noteReplicas(e *entry, n States) {
	scaledDown := isZeroReplicas(e.Path, n.Live) && e.Cause != report.CauseChange
	switch {
	case w.autoscaler.Leaves && IsReplicas(e.Path) && e.Cause == report.CauseChange:
		e.Notes.Add(w.autoscaler.Name + " has set the replicas, and does not set them after " + w.command)
	case w.switchesOff(e.Path, n):
		e.Notes.Add(w.autoscalerNote(e.Finding))
	case scaledDown && w.isSwitchedOff(e.Path, n) && !w.autoscaler.FromZero:
		e.Notes.Add(w.autoscaler.Name + " has not scaled to 0 itself, and Kubernetes disables an autoscaler whose target has 0 replicas")
	}
	if scaledDown && len(e.Owners) == 0 && w.owners.IsRecorded() {
		e.Unrecorded = true
		e.Notes.Add("the API server does not record who scales to 0")
	}
}

// autoscalerNote names the autoscaler that sets the replicas, and explains what the operation does to them.
func (w *objectWalk) autoscalerNote(f Finding) string {
	note := w.autoscaler.Name + " sets the replicas"
	switch {
	case !f.Writes():
		return note
	case object.Equal(f.Desired, int64(0)) && w.autoscaler.ToZero && !w.autoscaler.FromZero:
		return note + "; " + w.command + " sets them to 0, which disables it on Kubernetes 1.36 and later"
	case object.Equal(f.Desired, int64(0)) && !w.autoscaler.FromZero:
		return note + "; " + w.command + " sets them to 0, which disables it"
	}
	return note + "; " + w.command + " resets them until it scales again"
}
