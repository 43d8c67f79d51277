package forecast

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// rollout is what a controller does with the pods of a workload after a write.
type rollout struct {
	// restarts, starts and stops count pods that are replaced, added and removed.
	restarts, starts, stops int
	// least is the least number of ready pods meanwhile.
	least int
	// batch is how many pods are replaced at the same time. 0 means all.
	batch int
	// strategy names the strategy if it explains the forecast, such as Recreate or "partition 2".
	strategy string
	// held says what the pods wait for if the template changes and nothing restarts. It is empty if they do not wait.
	held string
	// also is a clause instead of a number that is not known.
	also    string
	notes   []string
	inexact string
}

// scale returns the part of a roll-out that the number of replicas causes. Ready pods are removed last.
func (w workload) scale() rollout {
	return rollout{starts: max(0, w.after-w.before), stops: max(0, w.before-w.after), least: min(w.ready, w.after)}
}

// drop makes n of the wanted pods unavailable at the same time. Those that are not ready now are among them: the controllers wait for them.
func (r *rollout) drop(w workload, n int) {
	r.least = min(r.least, max(0, w.after-n))
}

// These are the values of spec.updateStrategy.type and spec.strategy.type that matter.
const (
	onDelete = "OnDelete"
	recreate = "Recreate"
)

// strategy returns the strategy of a normal form: spec.strategy of a Deployment, spec.updateStrategy of the others.
func strategy(m map[string]any) map[string]any {
	spec := object.Child(m, "spec")
	if object.Has(spec, "strategy") {
		return object.Child(spec, "strategy")
	}
	return object.Child(spec, "updateStrategy")
}

// strategyType returns the type of the strategy of a normal form.
func strategyType(m map[string]any) string {
	out, _ := strategy(m)["type"].(string)
	return out
}

// share returns a number of pods, which may be an integer or a percentage of all, or a default if it is absent.
func share(v any, all int, up bool, otherwise intstr.IntOrString) int {
	parsed := otherwise
	switch v := v.(type) {
	case int64:
		parsed = intstr.FromInt32(int32(v))
	case float64:
		parsed = intstr.FromInt32(int32(v))
	case string:
		parsed = intstr.FromString(v)
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&parsed, all, up)
	if err != nil {
		return 0 // the API server refuses such a value
	}
	return n
}

// addReadyNote adds how long the roll-out takes at least, because of minReadySeconds.
func (r *rollout) addReadyNote(w workload) {
	seconds := number(object.Child(w.After, "spec"), "minReadySeconds", 0)
	if seconds == 0 || r.restarts == 0 {
		return
	}
	steps := 1
	if r.batch > 0 {
		steps = (r.restarts + r.batch - 1) / r.batch
	}
	note := fmt.Sprintf("a new pod counts after it was ready for %d s, so this takes at least %d s", seconds, seconds*steps)
	r.notes = append(r.notes, note)
}

// phrase returns a roll-out in one phrase.
func (w workload) phrase(r rollout) string {
	var does []string
	if r.restarts > 0 {
		does = append(does, "restarts "+w.restarted(r)+r.pace())
	}
	if r.starts > 0 {
		does = append(does, "starts "+english.Count(r.starts, "pod"))
	}
	if r.stops > 0 {
		does = append(does, "stops "+english.Count(r.stops, "pod"))
	}
	if r.held != "" {
		does = append(does, "restarts nothing "+r.held)
	}
	if r.also != "" {
		does = append(does, r.also)
	}
	return strings.Join(does, ", ") + w.readiness(r)
}

// restarted counts the pods that restart. If these are not all pods, it adds the number of all.
func (w workload) restarted(r rollout) string {
	if r.strategy != "" && r.strategy != recreate {
		return fmt.Sprintf("%d of %s (%s)", r.restarts, english.Count(min(w.before, w.after), "pod"), r.strategy)
	}
	return english.Count(r.restarts, "pod")
}

// pace says how many pods restart at the same time. It is empty if there is only one, or if none stays ready.
func (r rollout) pace() string {
	switch {
	case r.restarts < 2 || r.batch == 0:
		return ""
	case r.batch == 1:
		return " one at a time"
	case r.batch >= r.restarts:
		return " at once"
	}
	return fmt.Sprintf(" up to %d at a time", r.batch)
}

// readiness says how many pods stay ready.
func (w workload) readiness(r rollout) string {
	reason := ""
	if r.strategy == recreate {
		reason = " (Recreate)"
	}
	switch {
	case r.restarts == 0:
		return ""
	case !w.reported:
		return reason
	case w.ready == 0:
		return reason + "; none is ready now"
	case r.least == 0:
		return ": none is ready meanwhile" + reason
	case r.least == 1:
		return ", 1 stays ready"
	}
	return fmt.Sprintf(", %d stay ready", r.least)
}

// deployment follows the Deployment controller (kubernetes v1.36.3 pkg/controller/deployment). The controller first scales the ReplicaSet
// that has the pods, and then replaces it by one with the new template. While it is paused, it only scales.
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

// paused returns the roll-out of a Deployment that is paused after the write. If it is created paused, it has no ReplicaSet to scale.
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
		// An earlier roll-out has left out the pods with the lowest ordinals.
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

// untilDeleted says what pods with the strategy OnDelete wait for.
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
	return count(object.Child(object.Child(m, "spec"), "ordinals"), "start", 0)
}

// partition returns the number of pods of a StatefulSet that keep their template.
func partition(m map[string]any) int {
	return number(object.Child(strategy(m), "rollingUpdate"), "partition", 0)
}

// statefulUnavailable returns how many pods of a StatefulSet may be unavailable: one, unless the cluster has the feature
// MaxUnavailableStatefulSet, which is off by default in v1.36. Only with that feature live has the field, by default 1; percentages are
// rounded down (pkg/controller/statefulset/stateful_set_utils.go getStatefulSetMaxUnavailable).
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

// daemonBounds returns how many nodes may have two pods of a DaemonSet, and how many may have no available pod; both are
// rounded up (pkg/controller/daemon/util UnavailableCount, SurgeCount; update.go updatedDesiredNodeCounts).
func (w workload) daemonBounds() (surge, unavailable int) {
	rolling := object.Child(strategy(w.After), "rollingUpdate")
	surge = share(rolling["maxSurge"], w.after, true, intstr.FromInt32(0))
	unavailable = share(rolling["maxUnavailable"], w.after, true, intstr.FromInt32(1))
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// movesNodes reports whether a DaemonSet may run on other nodes after the write.
func (w workload) movesNodes() bool {
	was, is := object.Child(template(w.Before), "spec"), object.Child(template(w.After), "spec")
	fields := []string{"nodeSelector", "affinity", "tolerations", "nodeName"}
	return slices.ContainsFunc(fields, func(field string) bool { return !object.Equal(was[field], is[field]) })
}

// replicaSet follows the ReplicaSet and ReplicationController controllers (kubernetes v1.36.3 pkg/controller/replicaset/replica_set.go
// manageReplicas), which only count pods. A pod keeps the template that it was made from.
func (w workload) replicaSet() rollout {
	r := w.scale()
	if w.changes && min(w.before, w.after) > 0 {
		r.held = "until somebody deletes the pods (" + w.Kind + ")"
	}
	if w.Before != nil && !object.Equal(object.Child(w.Before, "spec")["selector"], object.Child(w.After, "spec")["selector"]) {
		r.inexact = "the selector changes, so it may leave pods behind"
	}
	return r
}
