package forecast

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// rollout is what a controller does with the pods of a workload after a write.
type rollout struct {
	// restarts, starts and stops count pods that are replaced, added and taken away.
	restarts, starts, stops int
	// least is the least number of ready pods meanwhile.
	least int
	// batch is how many pods are replaced at the same time; 0 if all are.
	batch int
	// strategy names the strategy if it explains the forecast, such as Recreate or "partition 2".
	strategy string
	// held says what the pods wait for if the template changes and nothing restarts; empty if they do not wait.
	held string
	// also is a clause of its own, in place of a number that is not known.
	also    string
	notes   []string
	inexact string
}

// changesNothing reports whether nothing is to be said about pods.
func (r rollout) changesNothing() bool {
	return r.restarts+r.starts+r.stops == 0 && r.held+r.also == ""
}

// keeps reports whether the workload has pods before and after the write.
func (w workload) keeps() bool { return min(w.before, w.after) > 0 }

// scale returns the part of a roll-out that the number of replicas causes. Ready pods are taken away last.
func (w workload) scale() rollout {
	return rollout{starts: max(0, w.after-w.before), stops: max(0, w.before-w.after), least: min(w.ready, w.after)}
}

// drop makes n of the wanted pods unavailable at the same time. The controllers wait for unavailable pods, so those that are not ready now
// count among the n.
func (r *rollout) drop(w workload, n int) {
	r.least = min(r.least, max(0, w.after-n))
}

// The values of spec.updateStrategy.type and spec.strategy.type that matter.
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

// share returns a number of pods that is an integer or a percentage of all; a default if it is absent.
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

// addReadyNote adds how long the roll-out takes at least because of minReadySeconds.
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

// restarted counts the pods that restart, and says of how many if those are not all.
func (w workload) restarted(r rollout) string {
	if r.strategy != "" && r.strategy != recreate {
		return fmt.Sprintf("%d of %s (%s)", r.restarts, english.Count(min(w.before, w.after), "pod"), r.strategy)
	}
	return english.Count(r.restarts, "pod")
}

// pace says how many pods restart at the same time; empty if there is only one, or if none stays ready.
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
