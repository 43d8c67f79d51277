package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

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

// times says how often.
func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// begins reports whether a waiting container is only about to begin.
func begins(reason string) bool {
	return reason == "" || reason == "ContainerCreating" || reason == "PodInitializing"
}

// imageOrConfiguration returns why a container cannot be created. The kubelet alternates between ErrImagePull and ImagePullBackOff, which
// are one problem.
func imageOrConfiguration(c corev1.ContainerStatus) problem {
	p := found(weighsContainer, c.State.Waiting.Reason, c.State.Waiting.Message)
	if strings.Contains(c.State.Waiting.Reason, "ImagePull") {
		p.key = "image " + c.Name
	}
	return p
}

// crashed returns how a container ended. Between two instances it is ended, waits, and runs for a moment, which are one problem. If a
// probe ended it, the reason names the probe too.
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

// claimProblem returns why a claim is not bound. A claim that waits for its first consumer is no problem of that consumer.
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
// sandbox that cannot be created.
func (e evidence) eventProblem(pod corev1.Pod) problem {
	if pod.Status.Phase != corev1.PodPending {
		return problem{}
	}
	if event := e.lastEvent(pod, "", ""); event != nil {
		return found(weighsEvent, event.Reason, event.Message)
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
		about := event.InvolvedObject.FieldPath
		isAbout := container == "" || about == "" || strings.HasSuffix(about, "{"+container+"}")
		if event.Type == corev1.EventTypeWarning && isAbout && (reason == "" || event.Reason == reason) {
			return &event
		}
	}
	return nil
}
