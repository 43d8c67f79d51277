package rollout

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// evidence is what was read about an object that is not ready. It lacks what could not be read.
type evidence struct {
	object *unstructured.Unstructured
	// wanted is the number of pods that the object wants; 0 if it has none.
	wanted      int64
	replicaSets []appsv1.ReplicaSet
	pods        []corev1.Pod
	claims      []corev1.PersistentVolumeClaim
	events      []corev1.Event
}

// decode returns objects as their Go type. It leaves out what does not decode, so that the rest can still explain the problem.
func decode[T any](objects []map[string]any) []T {
	var out []T
	for _, o := range objects {
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o, &typed); err == nil {
			out = append(out, typed)
		}
	}
	return out
}

// podSets divides the pods of an object into pods of its current template, pods of an earlier template, and pods that are being
// deleted. It leaves out pods of other objects that the selector matches.
func (e evidence) podSets() (current, old, ending []corev1.Pod) {
	newest, known := e.newestReplicaSet()
	revision, _, _ := unstructured.NestedString(e.object.Object, "status", "updateRevision")
	for _, pod := range e.pods {
		owner := metav1.GetControllerOf(&pod)
		var isOwn, isCurrent bool
		switch e.object.GetKind() {
		case "Pod":
			isOwn, isCurrent = pod.UID == e.object.GetUID(), true
		case "Deployment":
			isOwn = owner != nil && owner.Kind == "ReplicaSet" && (!known || e.ownsReplicaSet(owner.UID))
			isCurrent = !known || owner != nil && owner.UID == newest.UID
		case "StatefulSet":
			isOwn = owner != nil && owner.UID == e.object.GetUID()
			isCurrent = revision == "" || pod.Labels[appsv1.StatefulSetRevisionLabel] == revision
		default:
			isOwn, isCurrent = owner != nil && owner.UID == e.object.GetUID(), true
		}
		switch {
		case !isOwn:
		case pod.DeletionTimestamp != nil:
			ending = append(ending, pod)
		case isCurrent:
			current = append(current, pod)
		default:
			old = append(old, pod)
		}
	}
	return current, old, ending
}

// newestReplicaSet returns the ReplicaSet of a Deployment's current template: the one with the highest revision.
func (e evidence) newestReplicaSet() (newest appsv1.ReplicaSet, known bool) {
	for _, set := range e.replicaSets {
		if e.ownsReplicaSet(set.UID) && (!known || revisionOf(set) > revisionOf(newest)) {
			newest, known = set, true
		}
	}
	return newest, known
}

// ownsReplicaSet reports whether the object owns a ReplicaSet.
func (e evidence) ownsReplicaSet(uid types.UID) bool {
	return slices.ContainsFunc(e.replicaSets, func(set appsv1.ReplicaSet) bool {
		owner := metav1.GetControllerOf(&set)
		return set.UID == uid && owner != nil && owner.UID == e.object.GetUID()
	})
}

// revisionOf returns the revision that the controller of Deployments wrote into an annotation (k8s.io/kubernetes v1.36.3
// pkg/controller/deployment/util/deployment_util.go RevisionAnnotation).
func revisionOf(set appsv1.ReplicaSet) int64 {
	n, _ := strconv.ParseInt(set.Annotations["deployment.kubernetes.io/revision"], 10, 64)
	return n
}

// eventsOf returns the events about objects with one of these uids, the oldest first.
func (e evidence) eventsOf(uids ...types.UID) []corev1.Event {
	out := object.Filter(e.events, func(event corev1.Event) bool { return slices.Contains(uids, event.InvolvedObject.UID) })
	order.Sort(out, func(a, b corev1.Event) int { return lastSeen(a).Compare(lastSeen(b).Time) })
	return out
}

// lastSeen returns when an event last happened. Reporters use one of three fields.
func lastSeen(event corev1.Event) metav1.Time {
	switch {
	case event.Series != nil:
		return metav1.Time(event.Series.LastObservedTime)
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp
	}
	return metav1.Time(event.EventTime)
}

// timesSeen returns how often an event happened.
func timesSeen(event corev1.Event) int32 {
	if event.Series != nil {
		return max(event.Series.Count, 1)
	}
	return max(event.Count, 1)
}

// claimsOf returns the existing claims that a pod mounts. The scheduler names the others.
func (e evidence) claimsOf(pod corev1.Pod) (claims []corev1.PersistentVolumeClaim) {
	for _, volume := range pod.Spec.Volumes {
		name := ""
		switch {
		case volume.PersistentVolumeClaim != nil:
			name = volume.PersistentVolumeClaim.ClaimName
		case volume.Ephemeral != nil:
			name = pod.Name + "-" + volume.Name
		default:
			continue
		}
		claims = append(claims, object.Filter(e.claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == name })...)
	}
	return claims
}

// byName orders pods, so that two looks at the same pods choose the same one.
func byName(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }

// reader reads the evidence of one look. It reads once what several objects of a namespace need.
type reader struct {
	cluster Cluster
	shared  once.Map[sharedList, []map[string]any]
}

// sharedList identifies a list that the objects of a namespace share.
type sharedList struct{ resource, namespace, fields string }

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
		// A missing storage class is an event of type Normal (k8s.io/kubernetes v1.36.3 pkg/controller/volume/persistentvolume/pv_controller.go).
		events = slices.Concat(events, read(r.list(ctx, "events", namespace, "type=Normal,involvedObject.kind=PersistentVolumeClaim")))
	}
	e.events = decode[corev1.Event](events)
	return e, unread
}

// list lists a resource of the core group, once for each namespace and selection of fields.
func (r *reader) list(ctx context.Context, resource, namespace, fields string) ([]map[string]any, error) {
	return r.shared.Get(sharedList{resource, namespace, fields}, func() ([]map[string]any, error) {
		of := corev1.SchemeGroupVersion.WithResource(resource)
		return r.cluster.Select(ctx, of, namespace, metav1.ListOptions{FieldSelector: fields})
	})
}

// podSelector returns the selector of a workload's pods, or "" if the object has none.
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
