package forecast

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// deployment follows the Deployment controller (kubernetes v1.36.3 pkg/controller/deployment). It first scales the ReplicaSet that has the
// pods, and then replaces that by one with the new template. While it is paused, it only scales.
func (w workload) deployment() rollout {
	spec := object.Child(w.After, "spec")
	if spec["paused"] == true {
		return w.paused()
	}
	r := w.scale()
	switch {
	case w.changes:
		r.restarts = w.replaced()
	case object.Child(w.Before, "spec")["paused"] == true:
		r.restarts = min(w.outdated, w.after)
	}
	if r.restarts == 0 {
		return r
	}
	if strategyType(w.After) == recreate {
		r.strategy, r.least = recreate, 0
	} else {
		surge, unavailable := w.deploymentBounds()
		r.batch = surge + unavailable
		r.drop(w, unavailable)
	}
	r.addReadyNote(w)
	r.addDeadlineNote(spec)
	return r
}

// paused returns what becomes of a Deployment that is paused after the write. One that is created so has no ReplicaSet to scale.
func (w workload) paused() rollout {
	const until = "until the roll-out is resumed (paused)"
	if w.Before == nil {
		return rollout{also: "starts nothing " + until}
	}
	r := w.scale()
	if w.replaced() > 0 {
		r.held = until
	}
	return r
}

// deploymentBounds returns how many pods a rolling update may add and how many may be unavailable (pkg/controller/deployment/util
// ResolveFenceposts, MaxUnavailable). Surge is rounded up, unavailable down, and if both are 0, one pod may be unavailable.
func (w workload) deploymentBounds() (surge, unavailable int) {
	rolling := object.Child(strategy(w.After), "rollingUpdate")
	quarter := intstr.FromString("25%")
	surge = share(rolling["maxSurge"], w.after, true, quarter)
	unavailable = share(rolling["maxUnavailable"], w.after, false, quarter)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, w.after)
}

// addDeadlineNote adds when the controller reports that the roll-out has failed, unless that is the default.
func (r *rollout) addDeadlineNote(spec map[string]any) {
	const standard = 600
	if seconds := number(spec, "progressDeadlineSeconds", standard); seconds != standard && seconds < 1<<31-1 {
		r.notes = append(r.notes, fmt.Sprintf("after %d s without progress the roll-out counts as failed", seconds))
	}
}

// statefulSet follows the StatefulSet controller (kubernetes v1.36.3 pkg/controller/statefulset/stateful_set_control.go
// updateStatefulSet). It scales first, and then replaces pods from the highest ordinal down to the partition.
func (w workload) statefulSet() rollout {
	r, kept := w.statefulScale()
	held := partition(w.After)
	switch {
	case strategyType(w.After) == onDelete && w.replaced() > 0:
		r.held = untilDeleted
	case strategyType(w.After) == onDelete:
	case w.changes && kept > 0:
		least := held
		if w.returns {
			least = max(held, w.outdated) // the pods of the lowest ordinals still have the deployed template
		}
		if r.restarts += max(0, kept-least); held > 0 {
			r.strategy = fmt.Sprintf("partition %d", held)
		}
		if kept <= held && !w.returns {
			r.held = fmt.Sprintf("(partition %d)", held)
		}
	case !w.changes && (strategyType(w.Before) == onDelete || held < partition(w.Before)):
		// The pods of the lowest ordinals are those that an earlier roll-out has left out.
		if r.restarts += max(0, min(w.outdated, w.after)-held); r.restarts > 0 {
			r.strategy = fmt.Sprintf("partition %d", held)
		}
	}
	if r.restarts == 0 {
		return r
	}
	r.batch = w.statefulUnavailable()
	r.drop(w, min(r.batch, r.restarts))
	if w.ready < w.before && object.Child(w.After, "spec")["podManagementPolicy"] != "Parallel" {
		r.notes = append(r.notes, "the roll-out waits until every pod is ready")
	}
	r.addReadyNote(w)
	return r
}

// untilDeleted is what pods of the strategy OnDelete wait for.
const untilDeleted = "until somebody deletes the pods (OnDelete)"

// statefulScale returns the part of a roll-out that replicas and the first ordinal cause, and the number of pods whose ordinals stay.
func (w workload) statefulScale() (r rollout, kept int) {
	from, to := firstOrdinal(w.Before), firstOrdinal(w.After)
	if w.Before == nil || from == to {
		return w.scale(), min(w.before, w.after)
	}
	kept = max(0, min(from+w.before, to+w.after)-max(from, to))
	gone, added := w.before-kept, w.after-kept
	r = rollout{restarts: min(gone, added), least: min(w.ready, w.after), inexact: "the first ordinal changes"}
	r.starts, r.stops = added-r.restarts, gone-r.restarts
	return r, kept
}

// firstOrdinal returns the ordinal of the first pod of a StatefulSet.
func firstOrdinal(m map[string]any) int {
	return number(object.Child(object.Child(m, "spec"), "ordinals"), "start", 0)
}

// partition returns the number of pods of a StatefulSet that keep their template.
func partition(m map[string]any) int {
	return number(object.Child(strategy(m), "rollingUpdate"), "partition", 0)
}

// statefulUnavailable returns how many pods of a StatefulSet may be unavailable: one, unless the cluster has the feature
// MaxUnavailableStatefulSet, which is off by default in v1.36. Only then live has the field, by default 1; percentages are rounded down
// (pkg/controller/statefulset/stateful_set_utils.go getStatefulSetMaxUnavailable).
func (w workload) statefulUnavailable() int {
	if _, has := object.Child(strategy(w.Live), "rollingUpdate")["maxUnavailable"]; !has {
		return 1
	}
	wanted := object.Child(strategy(w.After), "rollingUpdate")["maxUnavailable"]
	return max(1, share(wanted, w.after, false, intstr.FromInt32(1)))
}

// daemonSet follows the DaemonSet controller (kubernetes v1.36.3 pkg/controller/daemon/update.go rollingUpdate). On each node it deletes
// the old pod before it creates the new one, or with a surge the other way round.
func (w workload) daemonSet() rollout {
	if w.Before == nil {
		return rollout{also: "starts a pod on each node that matches"}
	}
	var r rollout
	switch {
	case strategyType(w.After) == onDelete && w.replaced() > 0:
		return rollout{held: untilDeleted}
	case strategyType(w.After) == onDelete:
		return r
	case w.changes:
		r.restarts = w.replaced()
	case strategyType(w.Before) == onDelete:
		r.restarts = w.outdated
	}
	if r.restarts == 0 {
		return r
	}
	r.least = min(w.ready, w.after)
	surge, unavailable := w.daemonBounds()
	if r.batch = surge; surge == 0 {
		r.batch = unavailable
		r.drop(w, min(unavailable, r.restarts))
	}
	if w.changes && w.movesNodes() {
		r.inexact = "the nodes that match may change"
	}
	r.addReadyNote(w)
	return r
}

// daemonBounds returns on how many nodes a DaemonSet may have two pods and on how many none is available; both are rounded up
// (pkg/controller/daemon/util UnavailableCount, SurgeCount; update.go updatedDesiredNodeCounts).
func (w workload) daemonBounds() (surge, unavailable int) {
	rolling := object.Child(strategy(w.After), "rollingUpdate")
	surge = share(rolling["maxSurge"], w.after, true, intstr.FromInt32(0))
	unavailable = share(rolling["maxUnavailable"], w.after, true, intstr.FromInt32(1))
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// movesNodes reports whether a DaemonSet may match other nodes after the write.
func (w workload) movesNodes() bool {
	was, is := object.Child(template(w.Before), "spec"), object.Child(template(w.After), "spec")
	for _, field := range []string{"nodeSelector", "affinity", "tolerations", "nodeName"} {
		if !object.Equal(was[field], is[field]) {
			return true
		}
	}
	return false
}

// replicaSet follows the ReplicaSet and ReplicationController controllers (kubernetes v1.36.3 pkg/controller/replicaset/replica_set.go
// manageReplicas), which only count pods. A pod keeps the template from which it was made.
func (w workload) replicaSet() rollout {
	r := w.scale()
	if w.changes && w.keeps() {
		r.held = "until somebody deletes the pods (" + w.Kind + ")"
	}
	if w.Before != nil && !object.Equal(object.Child(w.Before, "spec")["selector"], object.Child(w.After, "spec")["selector"]) {
		r.inexact = "the selector changes, so it may leave pods behind"
	}
	return r
}
