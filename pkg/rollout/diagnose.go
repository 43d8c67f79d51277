package rollout

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxEvents is the number of events that are shown of a problem.
const maxEvents = 5

// problem is why an object does not come up, as diagnose finds it.
type problem struct {
	report.RolloutProblem
	// key is the same for each look at one problem, although the numbers in its message change. It is empty if nothing was found.
	key string
	// weight orders the problems of several pods: the one that says most is shown.
	weight int
	// about are the uids of the objects whose events belong to the problem.
	about []types.UID
	// hasLog reports that the container wrote a log, previous that the instance before the running one did, and restarts is how often it
	// began anew.
	hasLog, previous bool
	restarts         int32
}

// The weights of problems, from what every roll-out has for a moment to what is certain. A problem that weighs little is part of the
// result and not announced before.
const (
	weighsLittle = iota + 1
	weighsEvent
	weighsProbe
	weighsPlace
	weighsContainer
)

// found returns a problem. The message may be empty.
func found(weight int, code, message string) problem {
	p := problem{key: code, weight: weight}
	p.Reason = code
	if message != "" {
		p.Reason += ": " + message
	}
	return p
}

// diagnose returns why an object is not ready. It looks at its current pods first, then at pods that could not be created, at conditions
// of the object, and at last at pods of an earlier template that are in the way.
func diagnose(e evidence) problem {
	current, old, ending := e.podSets()
	p := e.worst(current)
	for _, next := range []func() problem{
		func() problem { return e.notCreated(current) },
		e.unboundClaim,
		e.condition,
		func() problem { return e.inTheWay(old) },
		func() problem { return stillEnding(ending) },
	} {
		if p.weight > weighsLittle {
			break
		}
		if other := next(); other.weight > p.weight {
			p = other
		}
	}
	p.Events = lastEvents(e.eventsOf(append(p.about, e.object.GetUID())...))
	return p
}

// worst returns the problem with the greatest weight among those of some pods.
func (e evidence) worst(pods []corev1.Pod) (worst problem) {
	for _, pod := range slices.SortedFunc(slices.Values(pods), byName) {
		if p := e.podProblem(pod); p.weight > worst.weight {
			p.Pod, p.about = pod.Name, append(p.about, pod.UID)
			worst = p
		}
	}
	return worst
}

// notCreated returns why a controller cannot create pods that are missing: a quota, an admission webhook, a limit range, Pod Security. An
// event that is older than the youngest pod is about an attempt before it, which succeeded since.
func (e evidence) notCreated(pods []corev1.Pod) problem {
	if int64(len(pods)) >= e.wanted {
		return problem{}
	}
	creator := e.object.GetUID()
	if set, known := e.newestReplicaSet(); known {
		creator = set.UID
	}
	for _, event := range slices.Backward(e.eventsOf(creator)) {
		at := lastSeen(event)
		isOlder := func(pod corev1.Pod) bool { return at.Before(&pod.CreationTimestamp) }
		if strings.HasPrefix(event.Reason, "FailedCreate") && !slices.ContainsFunc(pods, isOlder) {
			p := found(weighsPlace, event.Reason, event.Message)
			p.about = []types.UID{creator}
			return p
		}
	}
	return problem{}
}

// unboundClaim returns why a claim is not bound, if the object is one.
func (e evidence) unboundClaim() problem {
	if e.object.GetKind() == "PersistentVolumeClaim" && len(e.claims) > 0 {
		return e.claimProblem(e.claims[0])
	}
	return problem{}
}

// condition returns what a condition of the object says: that pods could not be created, whose events may have expired or be unreadable,
// or that a roll-out has taken too long.
func (e evidence) condition() problem {
	for _, kind := range []string{"ReplicaFailure", "Failed", "Stalled", "Progressing"} {
		wrong := "True"
		if kind == "Progressing" {
			wrong = "False"
		}
		conditions, _, _ := unstructured.NestedSlice(e.object.Object, "status", "conditions")
		for _, c := range conditions {
			condition, _ := c.(map[string]any)
			if condition["type"] == kind && condition["status"] == wrong {
				reason, _ := condition["reason"].(string)
				message, _ := condition["message"].(string)
				return found(weighsEvent, cmp.Or(reason, kind), message)
			}
		}
	}
	return problem{}
}

// inTheWay returns the problem of a pod of an earlier template. With the policy OrderedReady a StatefulSet replaces no pod before all of
// them are ready, so a pod that the drift broke stays until somebody deletes it (k8s.io/kubernetes v1.36.3
// pkg/controller/statefulset/stateful_set_control.go processReplica).
func (e evidence) inTheWay(old []corev1.Pod) problem {
	policy, _, _ := unstructured.NestedString(e.object.Object, "spec", "podManagementPolicy")
	p := e.worst(old)
	if p.key != "" && e.object.GetKind() == "StatefulSet" && policy != "Parallel" {
		p.key = "old " + p.key
		p.Reason += "; the pod is of an earlier revision, and this StatefulSet replaces it only if it gets ready or is deleted"
		return p
	}
	return problem{}
}

// stillEnding returns that pods end, if nothing else is known: a Deployment with the strategy Recreate, a StatefulSet and a DaemonSet wait
// for them.
func stillEnding(pods []corev1.Pod) problem {
	if len(pods) == 0 {
		return problem{}
	}
	pod := slices.MinFunc(pods, byName)
	p := found(weighsLittle, "Terminating", "the pod has not ended yet")
	p.Pod, p.about = pod.Name, []types.UID{pod.UID}
	return p
}

// lastEvents returns the last events, the oldest first, and each of them once.
func lastEvents(events []corev1.Event) []report.RolloutEvent {
	var out []report.RolloutEvent
	for _, event := range slices.Backward(events) {
		shown := report.RolloutEvent{
			Object: event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name, Reason: event.Reason, Message: event.Message,
			Count: timesSeen(event),
		}
		same := func(o report.RolloutEvent) bool {
			return o.Object == shown.Object && o.Reason == shown.Reason && o.Message == shown.Message
		}
		if len(out) < maxEvents && !slices.ContainsFunc(out, same) {
			out = append(out, shown)
		}
	}
	slices.Reverse(out)
	return out
}
