package rollout

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// reader reads the evidence of one look. What several objects of a namespace need is read once.
type reader struct {
	cluster Cluster

	mu     sync.Mutex
	shared map[sharedList]*list
}

// sharedList identifies a list that the objects of a namespace share.
type sharedList struct{ resource, namespace, fields string }

// list is the answer to a list, which is read when it is first asked for.
type list struct {
	once  sync.Once
	items []map[string]any
	err   error
}

// evidence reads what diagnose needs about an object. Unread has one line for each resource that could not be read.
func (r *reader) evidence(ctx context.Context, u *unstructured.Unstructured, counts *report.PodCounts) (e evidence, unread []string) {
	namespace := u.GetNamespace()
	e.object = u
	if counts != nil {
		e.wanted = counts.Wanted
	}
	if namespace == "" {
		return e, nil // a cluster-scoped object has no pods
	}
	read := func(items []map[string]any, err error) []map[string]any {
		if err != nil {
			unread = append(unread, err.Error())
		}
		return items
	}
	selector := podSelector(u)
	switch {
	case u.GetKind() == "Pod":
		e.pods = decode[corev1.Pod]([]map[string]any{u.Object})
	case selector != "":
		matching := metav1.ListOptions{LabelSelector: selector}
		e.pods = decode[corev1.Pod](read(r.cluster.Select(ctx, corev1.SchemeGroupVersion.WithResource("pods"), namespace, matching)))
		if u.GetKind() == "Deployment" {
			sets := appsv1.SchemeGroupVersion.WithResource("replicasets")
			e.replicaSets = decode[appsv1.ReplicaSet](read(r.cluster.Select(ctx, sets, namespace, matching)))
		}
	}
	isClaim := u.GetKind() == "PersistentVolumeClaim"
	switch {
	case isClaim:
		e.claims = decode[corev1.PersistentVolumeClaim]([]map[string]any{u.Object})
	case needsClaims(e.pods):
		e.claims = decode[corev1.PersistentVolumeClaim](read(r.list(ctx, "persistentvolumeclaims", namespace, "")))
	}
	events := read(r.list(ctx, "events", namespace, "type="+corev1.EventTypeWarning))
	if isClaim || len(e.claims) > 0 {
		// That no storage class is set is a normal event (k8s.io/kubernetes v1.36.3 pkg/controller/volume/persistentvolume/pv_controller.go).
		events = append(events, read(r.list(ctx, "events", namespace, "type=Normal,involvedObject.kind=PersistentVolumeClaim"))...)
	}
	e.events = decode[corev1.Event](events)
	return e, unread
}

// list lists a resource of the core group, once for each namespace and selection of fields.
func (r *reader) list(ctx context.Context, resource, namespace, fields string) ([]map[string]any, error) {
	r.mu.Lock()
	key := sharedList{resource, namespace, fields}
	if r.shared == nil {
		r.shared = map[sharedList]*list{}
	}
	l := r.shared[key]
	if l == nil {
		l = &list{}
		r.shared[key] = l
	}
	r.mu.Unlock()
	l.once.Do(func() {
		of := corev1.SchemeGroupVersion.WithResource(resource)
		l.items, l.err = r.cluster.Select(ctx, of, namespace, metav1.ListOptions{FieldSelector: fields})
	})
	return l.items, l.err
}

// podSelector returns the selector of a workload's pods; empty if the object has none.
func podSelector(u *unstructured.Unstructured) string {
	switch u.GroupVersionKind().GroupKind().String() {
	case "ReplicationController":
		selected, _, _ := unstructured.NestedStringMap(u.Object, "spec", "selector")
		return labels.Set(selected).String()
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch":
	default:
		return ""
	}
	content, _, _ := unstructured.NestedMap(u.Object, "spec", "selector")
	var selected metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &selected); err != nil {
		return ""
	}
	selector, err := metav1.LabelSelectorAsSelector(&selected)
	if err != nil {
		return ""
	}
	return selector.String()
}
