package rollout

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// evidence is what was read about an object that is not ready. What could not be read is missing.
type evidence struct {
	object *unstructured.Unstructured
	// wanted is the number of pods that the object wants; 0 if it has none.
	wanted      int64
	replicaSets []appsv1.ReplicaSet
	pods        []corev1.Pod
	claims      []corev1.PersistentVolumeClaim
	events      []corev1.Event
}

// decode returns objects as their Go type. What does not decode is left out: a problem that cannot be named exactly is still shown.
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

// podSets divides the pods of an object into those of its current template, those of an earlier one, and those that are being deleted.
// The pods of other objects that the selector matches are in none of them.
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

// ownsReplicaSet reports whether a ReplicaSet is one of the object's.
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
	var out []corev1.Event
	for _, event := range e.events {
		if slices.Contains(uids, event.InvolvedObject.UID) {
			out = append(out, event)
		}
	}
	slices.SortStableFunc(out, func(a, b corev1.Event) int { return lastSeen(a).Compare(lastSeen(b).Time) })
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

// claimsOf returns the claims that a pod mounts. The scheduler names those that do not exist.
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
		for _, claim := range e.claims {
			if claim.Name == name {
				claims = append(claims, claim)
			}
		}
	}
	return claims
}

// byName orders pods, so that two looks at the same pods choose the same one.
func byName(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }
