package rollout

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// judgement is whether an object is as it should be.
type judgement struct {
	isReady bool
	// hasEnded reports that the object does not get ready by itself any more.
	hasEnded bool
	message  string
}

// judge returns whether an object is as it should be. The package comment names what it judges differently than kstatus.
func judge(u *unstructured.Unstructured) (j judgement) {
	// kstatus asserts the types of some fields, and an API server may answer with others.
	defer func() {
		if p := recover(); p != nil {
			j = judgement{message: fmt.Sprint("its status cannot be read: ", p)}
		}
	}()
	kind := u.GroupVersionKind().GroupKind().String()
	if paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused"); kind == "Deployment.apps" && paused {
		return judgement{isReady: true, message: "paused: nothing rolls out until it is resumed"}
	}
	result, err := status.Compute(asIfUpdated(u, kind))
	if err != nil {
		return judgement{message: "its status cannot be read: " + err.Error()}
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	isFailedPod := kind == "Pod" && phase == "Failed"
	return judgement{
		isReady:  result.Status == status.CurrentStatus && !isFailedPod,
		hasEnded: isFailedPod || kind == "Job.batch" && result.Status == status.FailedStatus,
		message:  result.Message,
	}
}

// asIfUpdated returns an object for kstatus. It returns a DaemonSet with the strategy OnDelete as if all of its pods had the current
// template, because its controller does not replace them.
func asIfUpdated(u *unstructured.Unstructured, kind string) *unstructured.Unstructured {
	strategy, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type")
	wanted, known, _ := unstructured.NestedInt64(u.Object, "status", "desiredNumberScheduled")
	if kind != "DaemonSet.apps" || strategy != "OnDelete" || !known {
		return u
	}
	updated := u.DeepCopy()
	_ = unstructured.SetNestedField(updated.Object, wanted, "status", "updatedNumberScheduled")
	return updated
}

// isObserved reports whether the controller has seen the object as it is. Until then its status and its pods are about the past.
func isObserved(u *unstructured.Unstructured) bool {
	observed, known, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return !known || observed >= u.GetGeneration()
}

// podCounts counts the pods of a workload; nil for other kinds. Before its controller has seen the object, none of them is updated.
func podCounts(u *unstructured.Unstructured) *report.PodCounts {
	of := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, path...)
		return n
	}
	replicas := int64(1)
	if n, set, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); set {
		replicas = n
	}
	counts := report.PodCounts{Wanted: replicas, Ready: of("status", "readyReplicas")}
	counts.Unavailable = max(0, replicas-of("status", "availableReplicas"))
	switch u.GroupVersionKind().GroupKind().String() {
	case "Deployment.apps", "StatefulSet.apps":
		counts.Updated = of("status", "updatedReplicas")
	case "ReplicaSet.apps", "ReplicationController":
		counts.Updated = of("status", "replicas")
	case "DaemonSet.apps":
		counts = report.PodCounts{
			Wanted: of("status", "desiredNumberScheduled"), Updated: of("status", "updatedNumberScheduled"),
			Ready: of("status", "numberReady"), Unavailable: of("status", "numberUnavailable"),
		}
	default:
		return nil
	}
	if !isObserved(u) {
		counts.Updated = 0
	}
	return &counts
}
