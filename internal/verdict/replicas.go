package verdict

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// IsReplicas reports whether the path is where workloads have their replicas, which an autoscaler may set.
func IsReplicas(path object.Path) bool {
	return len(path) == 2 && path[0].Form == object.FieldStep && path[0].Name == "spec" && path[1].Form == object.FieldStep && path[1].Name == "replicas"
}

// isSwitchedOff reports whether the replicas are 0 under an autoscaler that does not scale to 0. It is disabled then, and will not bring
// them back (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler). So they are drift where old has others,
// also where no manifest names them because they are left to the autoscaler.
func (w *Walker) isSwitchedOff(path object.Path, n States) bool {
	return w.Autoscaler.Name != "" && !w.Autoscaler.ToZero && isZeroReplicas(path, n.Live)
}

func isZeroReplicas(path object.Path, live kinds.State) bool {
	return IsReplicas(path) && live.Present && object.Equal(live.Value, int64(0))
}

// MaySwitchOff reports whether the finding does not count, and would if an autoscaler that does not scale to 0 scaled the object:
// classifyWithoutRules takes such replicas for managed ones.
func (f Finding) MaySwitchOff() bool {
	counts := f.Managed || f.Cause == report.CauseChange || f.Silenced()
	return !counts && IsReplicas(f.Path) && object.Equal(f.Live, int64(0)) && !object.IsZero(f.Old)
}

// isScaled reports whether the place may be edited although it has no owner: the API server forgets who wrote the replicas when they are
// scaled to 0, or for a second time (tried on 1.36.3; apimachinery v0.36.3 managedfields ScaleHandler). What custom resources have there
// may be the default of a webhook.
func (w *Walker) isScaled(path object.Path, owners []report.Owner) bool {
	return !w.Custom && IsReplicas(path) && len(owners) == 0
}

// withScaledOld returns old with the replicas that an autoscaler has set, if the operation takes that autoscaler away. They are no drift,
// and what the operation makes of them is its own change, which no autoscaler undoes.
func (w *Walker) withScaledOld(path object.Path, n States) kinds.State {
	if w.Autoscaler.Leaves && IsReplicas(path) && n.Live.Present && !w.isSwitchedOff(path, n) {
		n.Old.Value, n.Old.Present = n.Live.Value, true
	}
	return n.Old
}

// noteReplicas explains replicas that an autoscaler set which leaves, and replicas that are 0: the autoscaler did not set them, and the API
// server records no owner.
func (w *Walker) noteReplicas(e *entry, n States) {
	if w.Autoscaler.Leaves && IsReplicas(e.Path) && e.Cause == report.CauseChange {
		e.Notes.Add(report.NoteAutoscaler, w.Autoscaler.Name+" has set the replicas, and no longer scales this object after "+w.Command)
	}
	if !isZeroReplicas(e.Path, n.Live) || e.Cause == report.CauseChange {
		return
	}
	if w.isSwitchedOff(e.Path, n) {
		e.Notes.Add(report.NoteAutoscaler, w.Autoscaler.Name+" does not scale to 0, and Kubernetes disables an autoscaler whose target has 0 replicas")
	}
	if len(e.Owners) == 0 && w.Owners.IsRecorded() {
		e.Unrecorded = true
		e.Notes.Add(report.NoteUnrecorded, "the API server does not record who scales to 0")
	}
}

// autoscalerNote names the autoscaler that sets the replicas, and explains what the operation does to them.
func (w *Walker) autoscalerNote(f Finding) string {
	note := w.Autoscaler.Name + " sets the replicas"
	switch {
	case f.Verdict == report.Ignore || f.Verdict == report.Conflict:
		return note
	case !w.Autoscaler.ToZero && object.Equal(f.Desired, int64(0)):
		return note + "; " + w.Command + " sets them to 0, which disables it"
	}
	return note + "; " + w.Command + " resets them until it scales again"
}
