package main

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestSyncLeavesOtherSchedulersAlone syncs a pod in each phase. The fake node acts on it only if it is of the default scheduler.
func TestSyncLeavesOtherSchedulersAlone(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		name, action string
		change       func(*corev1.Pod)
	}{
		{"pending", "create pods/binding", func(*corev1.Pod) {}},
		{"bound", "update pods/status", func(pod *corev1.Pod) { pod.Spec.NodeName = "fakenode" }},
		{"deleted", "delete pods/", func(pod *corev1.Pod) { pod.DeletionTimestamp = &now }},
	} {
		for scheduler, want := range map[string][]string{"default-scheduler": {test.action}, "e2e": nil} {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "1", Finalizers: []string{"ex.com/kept"}},
				Spec:       corev1.PodSpec{SchedulerName: scheduler},
			}
			test.change(pod)
			client := fake.NewClientset(pod)
			pods := pods{client: client, node: "fakenode", addresses: map[string]string{}}
			if err := pods.sync(t.Context(), pod); err != nil {
				t.Errorf("%s pod of %s: %v", test.name, scheduler, err)
			}
			var got []string
			for _, action := range client.Actions() {
				got = append(got, action.GetVerb()+" "+action.GetResource().Resource+"/"+action.GetSubresource())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s pod of %s: %q, want %q", test.name, scheduler, got, want)
			}
		}
	}
}
