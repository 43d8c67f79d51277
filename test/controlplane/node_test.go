package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// podCase is a pod that the scheduler binds to a fake node, and what must become of it.
type podCase struct {
	name, image, scheduler string
	annotations            map[string]string
	policy                 corev1.RestartPolicy
	// cpu is what the container requests.
	cpu string
	// want is as describe writes it.
	want string
	// events and log are what the pod must have then.
	events []string
	log    string
}

func podCases() []podCase {
	play := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out["node.helmdrift.io/"+pairs[i]] = pairs[i+1]
		}
		return out
	}
	return []podCase{
		{name: "plain", want: "Running ready", annotations: play("log", "a\nb\n"), log: "a\nb\n"},
		{name: "task", policy: corev1.RestartPolicyNever, want: "Succeeded exit 0"},
		{name: "late", annotations: play("ready-after", "1s"), want: "Running ready"},
		{name: "ill", annotations: play("unhealthy", "HTTP 503"), want: "Running",
			events: []string{"Unhealthy Readiness probe failed: HTTP 503"}},
		{name: "fails", policy: corev1.RestartPolicyNever, annotations: play("exit-code", "3", "exit-after", "500ms"), want: "Failed exit 3"},
		{name: "retries", policy: corev1.RestartPolicyOnFailure, annotations: play("exit-code", "3"),
			want: "Running CrashLoopBackOff after exit 3, restarted 1"},
		{name: "crashes", annotations: play("exit-code", "3", "log", "panic"), want: "Running CrashLoopBackOff after exit 3, restarted 1",
			events: []string{"BackOff Back-off restarting failed container"}, log: "panic"},
		{name: "image", image: "ex.com/web:missing", want: `Pending ImagePullBackOff: Back-off pulling image "ex.com/web:missing": ErrImagePull: ` +
			"failed to pull and unpack image ex.com/web:missing: not found", events: []string{
			`Failed Failed to pull image "ex.com/web:missing": not found`, `BackOff Back-off pulling image "ex.com/web:missing"`}},
		{name: "large", cpu: "5000", want: "Pending", events: []string{"FailedScheduling 0/2 nodes are available: 2 Insufficient cpu."}},
		{name: "other", scheduler: "other", want: "Pending"},
	}
}

// checkNodes creates a pod for each course that the fake nodes can play.
func checkNodes(t *testing.T, kubeconfig string) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range podCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.check(t, client)
		})
	}
}

func (p podCase) check(t *testing.T, client kubernetes.Interface) {
	pods := client.CoreV1().Pods("default")
	made, err := pods.Create(t.Context(), p.pod(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got, missing string
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		pod, err := pods.Get(ctx, p.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		events, err := client.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(pod.UID)})
		if err != nil {
			return false, err
		}
		got, missing = describe(pod), p.missingEvent(events.Items)
		return got == p.want && missing == "", nil
	})
	if err != nil {
		t.Fatalf("%v: the pod is %q, want %q; it lacks the event %q", err, got, p.want, missing)
	}
	if p.log != "" {
		one, lastLine := int64(1), p.log[strings.LastIndexByte(strings.TrimSuffix(p.log, "\n"), '\n')+1:]
		for want, options := range map[string]*corev1.PodLogOptions{p.log: {}, lastLine: {TailLines: &one}} {
			if log, err := pods.GetLogs(p.name, options).DoRaw(t.Context()); err != nil || string(log) != want {
				t.Errorf("log %q, %v, want %q", log, err, want)
			}
		}
	}
	p.checkDeletion(t, client, made)
}

// checkDeletion deletes the pod. It is gone at once only if a fake node has it.
func (p podCase) checkDeletion(t *testing.T, client kubernetes.Interface, made *corev1.Pod) {
	pods := client.CoreV1().Pods("default")
	if err := pods.Delete(t.Context(), p.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		pod, err := pods.Get(ctx, p.name, metav1.GetOptions{})
		return err != nil || pod.UID != made.UID, nil
	})
	if err != nil {
		t.Errorf("the deleted pod stays: %v", err)
	}
}

func (p podCase) pod() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Annotations: p.annotations},
		Spec: corev1.PodSpec{
			RestartPolicy: p.policy, SchedulerName: p.scheduler, Containers: []corev1.Container{{Name: "c", Image: "web:1"}},
		},
	}
	container := &pod.Spec.Containers[0]
	if p.image != "" {
		container.Image = p.image
	}
	if p.cpu != "" {
		container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(p.cpu)}
	}
	return pod
}

// missingEvent returns the first event, as reason and message, that the pod must have and has not.
func (p podCase) missingEvent(events []corev1.Event) string {
	for _, want := range p.events {
		if !slices.ContainsFunc(events, func(e corev1.Event) bool { return strings.HasPrefix(e.Reason+" "+e.Message, want) }) {
			return want
		}
	}
	return ""
}

// describe writes a pod's phase, and the state of its container where it is not just running.
func describe(pod *corev1.Pod) string {
	out := string(pod.Status.Phase)
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			out += " ready"
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			out += fmt.Sprintf(" exit %d", ended.ExitCode)
		}
		if waiting := status.State.Waiting; waiting != nil {
			out += " " + waiting.Reason
			if waiting.Reason == "ImagePullBackOff" {
				out += ": " + waiting.Message
			}
		}
		if ended := status.LastTerminationState.Terminated; ended != nil {
			out += fmt.Sprintf(" after exit %d, restarted %d", ended.ExitCode, status.RestartCount)
		}
	}
	return out
}
