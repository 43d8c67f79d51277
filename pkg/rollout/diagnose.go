package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxEvents is the number of events that a problem shows.
const maxEvents = 5

// problem is why an object does not come up, as diagnose finds it.
type problem struct {
	report.RolloutProblem
	// key identifies the problem at each look, although the numbers in the message change. It is empty if nothing was found.
	key string
	// weight orders the problems of several pods: the one with the most weight is shown.
	weight int
	// about are the uids of the objects whose events belong to the problem.
	about []types.UID
	// hasLog reports whether the container wrote a log, previous whether the instance before did, and restarts counts its restarts.
	hasLog, previous bool
	restarts         int32
}

// These are the weights of problems, from what every roll-out has for a moment to what is certain. A problem with little weight is
// in the result, but is not announced before.
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

// diagnose returns why an object is not ready. It looks first at its current pods, then at pods that could not be created, at conditions
// of the object, and last at pods of an earlier template that are in the way.
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
	for _, pod := range order.Sorted(slices.Values(pods), byName) {
		if p := e.podProblem(pod); p.weight > worst.weight {
			p.Pod, p.about = pod.Name, append(p.about, pod.UID)
			worst = p
		}
	}
	return worst
}

// notCreated returns why a controller cannot create pods that are missing: a quota, an admission webhook, a limit range, Pod Security. It
// ignores an event that is older than the youngest pod: that event is about an earlier attempt, and a later one succeeded.
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

// condition returns what a condition of the object says: that pods could not be created, in case the events have expired or cannot be
// read, or that a roll-out has taken too long.
func (e evidence) condition() problem {
	conditions := object.Items(object.Child(e.object.Object, "status"), "conditions")
	wrong := []struct{ kind, status string }{{"ReplicaFailure", "True"}, {"Failed", "True"}, {"Stalled", "True"}, {"Progressing", "False"}}
	for _, bad := range wrong {
		for _, condition := range conditions {
			if condition["type"] == bad.kind && condition["status"] == bad.status {
				reason, _ := condition["reason"].(string)
				message, _ := condition["message"].(string)
				return found(weighsEvent, cmp.Or(reason, bad.kind), message)
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

// stillEnding returns the problem that pods are still ending. It is for when nothing else is known: a Deployment with the strategy
// Recreate, a StatefulSet and a DaemonSet wait for such pods.
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

// podProblem returns why a pod is not ready: what its containers say, where it cannot run, and what its last events say.
func (e evidence) podProblem(pod corev1.Pod) problem {
	if isReady(pod) || pod.Status.Phase == corev1.PodSucceeded {
		return problem{}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if p := e.containerProblem(pod, c); p.key != "" {
			p.Container = c.Name
			return p
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		return found(weighsContainer, cmp.Or(pod.Status.Reason, "Failed"), pod.Status.Message)
	case pod.Spec.NodeName == "":
		return e.notScheduled(pod)
	}
	if p := e.eventProblem(pod); p.key != "" {
		return p
	}
	return notReady(pod)
}

// isReady reports whether a pod is ready.
func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// containerProblem returns why a container does not run or is not ready.
func (e evidence) containerProblem(pod corev1.Pod, c corev1.ContainerStatus) problem {
	waiting, ended := c.State.Waiting, c.State.Terminated
	if ended == nil {
		ended = c.LastTerminationState.Terminated
	}
	probe := e.lastEvent(pod, c.Name, "Unhealthy")
	switch {
	case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0, c.Ready:
		return problem{} // an init container that is done, or a container that does its work
	case waiting != nil && waiting.Reason != "CrashLoopBackOff" && !begins(waiting.Reason):
		return imageOrConfiguration(c)
	case c.State.Running != nil && probe != nil && !c.State.Running.StartedAt.After(lastSeen(*probe).Time):
		p := found(weighsProbe, probe.Reason, probe.Message)
		p.hasLog, p.restarts = true, c.RestartCount
		return p
	case ended != nil && (waiting == nil || !begins(waiting.Reason)):
		return crashed(c, ended, probe)
	case waiting != nil && waiting.Reason == "CrashLoopBackOff":
		return found(weighsContainer, waiting.Reason, waiting.Message)
	}
	return problem{}
}

// times formats a count: once, or 3 times.
func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// begins reports whether a waiting container is just about to start.
func begins(reason string) bool {
	return reason == "" || reason == "ContainerCreating" || reason == "PodInitializing"
}

// imageOrConfiguration returns why a container cannot be created. ErrImagePull and ImagePullBackOff alternate; both are one problem.
func imageOrConfiguration(c corev1.ContainerStatus) problem {
	p := found(weighsContainer, c.State.Waiting.Reason, c.State.Waiting.Message)
	if strings.Contains(c.State.Waiting.Reason, "ImagePull") {
		p.key = "image " + c.Name
	}
	return p
}

// crashed returns how a container ended. A crashing container in turn ends, waits and runs for a moment; all of that is one problem.
// If a probe ended it, the reason names the probe too.
func crashed(c corev1.ContainerStatus, ended *corev1.ContainerStateTerminated, probe *corev1.Event) problem {
	code := "exited"
	if c.State.Waiting != nil {
		code = c.State.Waiting.Reason
	}
	said := fmt.Sprintf("exit code %d", ended.ExitCode)
	if ended.Reason != "" && ended.Reason != "Error" && ended.Reason != "Completed" {
		said += " (" + ended.Reason + ")"
	}
	if c.RestartCount > 0 {
		said += ", restarted " + times(c.RestartCount)
	}
	if ended.Message != "" {
		said += ": " + ended.Message
	}
	if probe != nil && !strings.HasPrefix(probe.Message, "Readiness") {
		said += "; " + probe.Reason + ": " + probe.Message
	}
	p := found(weighsContainer, code, said)
	p.key = fmt.Sprintf("crash %s %d", c.Name, ended.ExitCode)
	p.ExitCode, p.hasLog, p.restarts = &ended.ExitCode, true, c.RestartCount
	p.previous = c.State.Running != nil
	return p
}

// notScheduled returns why a pod has no node: a claim that is not bound, or what the scheduler says.
func (e evidence) notScheduled(pod corev1.Pod) problem {
	for _, claim := range e.claimsOf(pod) {
		if p := e.claimProblem(claim); p.weight > weighsLittle {
			return p
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return found(weighsPlace, cmp.Or(c.Reason, corev1.PodReasonUnschedulable), c.Message)
		}
	}
	if event := e.lastEvent(pod, "", "FailedScheduling"); event != nil {
		return found(weighsPlace, event.Reason, event.Message)
	}
	return found(weighsLittle, "Pending", "no scheduler has chosen a node for the pod")
}

// claimProblem returns why a claim is not bound. A claim that waits for its first consumer is not a problem of that consumer.
func (e evidence) claimProblem(claim corev1.PersistentVolumeClaim) problem {
	if claim.Status.Phase == corev1.ClaimBound {
		return problem{}
	}
	p := problem{weight: weighsPlace}
	said := "PersistentVolumeClaim " + claim.Name + " is not bound"
	events := e.eventsOf(claim.UID)
	if len(events) > 0 {
		last := events[len(events)-1]
		said += ": " + last.Reason + ": " + last.Message
		if last.Reason == "WaitForFirstConsumer" || last.Reason == "WaitForPodScheduled" {
			p.weight = weighsLittle
		}
	} else if claim.Spec.StorageClassName == nil && claim.Spec.VolumeName == "" {
		said += ": no storage class is set"
	}
	p.key, p.Reason, p.about = "claim "+claim.Name, said, []types.UID{claim.UID}
	return p
}

// eventProblem returns the last warning about a pod that has a node and does not start: a volume that cannot be mounted or attached, a
// sandbox that cannot be created. Events are read after pods, so the warning may also be about a container that started in between.
func (e evidence) eventProblem(pod corev1.Pod) problem {
	if pod.Status.Phase != corev1.PodPending {
		return problem{}
	}
	if event := e.lastEvent(pod, "", ""); event != nil {
		p := found(weighsEvent, event.Reason, event.Message)
		p.Container = containerOf(*event)
		return p
	}
	return problem{}
}

// notReady returns which condition of a running pod is missing, such as a readiness gate that a controller has to open.
func notReady(pod corev1.Pod) problem {
	if pod.Status.Phase != corev1.PodRunning {
		return problem{}
	}
	for _, gate := range pod.Spec.ReadinessGates {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		switch {
		case i < 0:
			return found(weighsLittle, "ReadinessGate", "nobody has set the condition "+string(gate.ConditionType))
		case pod.Status.Conditions[i].Status != corev1.ConditionTrue:
			return found(weighsLittle, "ReadinessGate", string(gate.ConditionType)+" is "+string(pod.Status.Conditions[i].Status)+
				" "+pod.Status.Conditions[i].Message)
		}
	}
	return problem{}
}

// lastEvent returns the last warning about a pod with a reason, or with any reason if that is empty; nil if there is none. If a container
// is named, the event is about that container.
func (e evidence) lastEvent(pod corev1.Pod, container, reason string) *corev1.Event {
	for _, event := range slices.Backward(e.eventsOf(pod.UID)) {
		isAbout := container == "" || event.InvolvedObject.FieldPath == "" || containerOf(event) == container
		if event.Type == corev1.EventTypeWarning && isAbout && (reason == "" || event.Reason == reason) {
			return &event
		}
	}
	return nil
}

// containerOf returns the container that an event is about, such as app for the field path spec.containers{app}; "" if it names none.
func containerOf(event corev1.Event) string {
	_, after, _ := strings.Cut(event.InvolvedObject.FieldPath, "{")
	name, _ := strings.CutSuffix(after, "}")
	return name
}
