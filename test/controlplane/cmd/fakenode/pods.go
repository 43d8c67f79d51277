package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// pods moves each pod through its phases. Only one goroutine uses it.
type pods struct {
	client    kubernetes.Interface
	node      string
	addresses map[string]string // by uid, because a pod keeps its address
	next      int
}

// sync takes a pod's next step: bound, running or succeeded, deleted. A pod that
// was changed or deleted meanwhile causes another event. Pods that name another
// scheduler are left alone in every phase, because a test runs them itself.
func (p *pods) sync(ctx context.Context, pod *corev1.Pod) error {
	if pod.Spec.SchedulerName != corev1.DefaultSchedulerName {
		return nil
	}
	err := p.step(ctx, pod)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// step changes a pod to its next phase.
func (p *pods) step(ctx context.Context, pod *corev1.Pod) error {
	client := p.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		delete(p.addresses, string(pod.UID))
		now := int64(0)
		return client.Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
		})
	case pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0:
		return client.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: p.node},
		}, metav1.CreateOptions{})
	case pod.Spec.NodeName == p.node && (pod.Status.Phase == corev1.PodPending || pod.Status.Phase == ""):
		changed := pod.DeepCopy()
		changed.Status = p.status(pod)
		_, err := client.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
		return err
	}
	return nil
}

// status returns the status of a pod whose containers all succeeded.
func (p *pods) status(pod *corev1.Pod) corev1.PodStatus {
	now := metav1.Now()
	ends := pod.Spec.RestartPolicy != corev1.RestartPolicyAlways
	status := corev1.PodStatus{
		Phase:     corev1.PodRunning,
		StartTime: &now,
		HostIP:    hostIP,
		HostIPs:   []corev1.HostIP{{IP: hostIP}},
		QOSClass:  pod.Status.QOSClass,
	}
	status.PodIP = p.address(pod)
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	ready := corev1.ConditionTrue
	if ends {
		status.Phase, ready = corev1.PodSucceeded, corev1.ConditionFalse
	}
	for _, condition := range []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: ready},
		{Type: corev1.PodReady, Status: ready},
	} {
		condition.LastTransitionTime = now
		status.Conditions = append(status.Conditions, condition)
	}
	for _, container := range pod.Spec.InitContainers {
		sidecar := container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
		status.InitContainerStatuses = append(status.InitContainerStatuses, containerStatus(container, now, ends || !sidecar))
	}
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(container, now, ends))
	}
	return status
}

// containerStatus returns the status of a container that runs or has ended.
func containerStatus(container corev1.Container, now metav1.Time, ended bool) corev1.ContainerStatus {
	started := !ended
	status := corev1.ContainerStatus{Name: container.Name, Image: container.Image, ImageID: container.Image, Started: &started, Ready: true}
	if ended {
		status.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
	} else {
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
	}
	return status
}

// address returns the pod's address, which no other pod had before.
func (p *pods) address(pod *corev1.Pod) string {
	if pod.Spec.HostNetwork {
		return hostIP
	}
	key := string(pod.UID)
	if _, ok := p.addresses[key]; !ok {
		p.next++
		p.addresses[key] = fmt.Sprintf("10.244.%d.%d", p.next/250%250, 1+p.next%250)
	}
	return p.addresses[key]
}
