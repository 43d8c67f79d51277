package apiserver

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// The conditions and exceptions of the table of immutable fields. Each does what the function of Kubernetes does that the table names
// as source.

// firstSet accepts a value for a field that had none.
func firstSet(_ change, was, _ any) bool { return was == nil }

// notRemoved accepts every change but a removal.
func notRemoved(_ change, _, is any) bool { return is != nil }

// reordered accepts another order of a list.
func reordered(_ change, was, is any) bool {
	return object.ContainsAll(was, is) && object.ContainsAll(is, was)
}

// secondAddedOrRemoved accepts that a second address or family is added or removed and the first stays the same.
func secondAddedOrRemoved(_ change, was, is any) bool {
	before, _ := was.([]any)
	after, _ := is.([]any)
	return len(before) != len(after) && len(after) > 0 && (len(before) == 0 || object.Equal(before[0], after[0]))
}

// secondAdded accepts a second item in a list of one.
func secondAdded(_ change, was, is any) bool {
	before, _ := was.([]any)
	after, _ := is.([]any)
	return len(before) == 1 && len(after) == 2 && object.Equal(before[0], after[0])
}

// markedImmutable reports whether a Secret or ConfigMap says that it is immutable.
func markedImmutable(c change) bool { return c.was["immutable"] == true }

// established reports whether the API server serves the kind of a CustomResourceDefinition.
func established(c change) bool { return hasCondition(c.live, "Established") }

// hasCondition reports whether a condition of an object's status is true.
func hasCondition(live map[string]any, kind string) bool {
	return slices.ContainsFunc(object.Items(object.Child(live, "status"), "conditions"), func(condition map[string]any) bool {
		return condition["type"] == kind && condition["status"] == "True"
	})
}

// Jobs.

// scalesIndexedJob accepts as many completions of an indexed Job as it has parallel pods.
func scalesIndexedJob(c change, _, is any) bool {
	spec := object.Child(c.is, "spec")
	return spec["completionMode"] == "Indexed" && is != nil && object.Equal(is, spec["parallelism"])
}

// jobSuspended reports whether a Job is suspended and has no pods (kubernetes v1.36.3 pkg/registry/batch/job/strategy.go
// shouldAllowMutablePodTemplate).
func jobSuspended(c change) bool {
	status := object.Child(c.live, "status")
	idle := status["startTime"] == nil || hasCondition(c.live, "Suspended")
	return object.Child(c.was, "spec")["suspend"] == true && idle && integer(status["active"]) == 0
}

// jobNotSuspended reports whether a Job may have pods, so that its template is fixed.
func jobNotSuspended(c change) bool { return !jobSuspended(c) }

// Pods. The API server first compares how many containers there are, then the deadline, then the rest of the spec. It stops at the first
// difference.

// containersAddedOrRemoved reports whether the number of containers changes.
func containersAddedOrRemoved(c change) bool { return lengthChanges(c, "containers") }

// initContainersAddedOrRemoved reports whether the number of init containers changes, and that of containers does not.
func initContainersAddedOrRemoved(c change) bool {
	return !lengthChanges(c, "containers") && lengthChanges(c, "initContainers")
}

// deadlineRaised reports whether a Pod gets more time than it has, and keeps its containers.
func deadlineRaised(c change) bool {
	was, is := object.Child(c.was, "spec")["activeDeadlineSeconds"], object.Child(c.is, "spec")["activeDeadlineSeconds"]
	return containersKept(c) && was != nil && integer(was) < integer(is)
}

// restCompared reports whether the API server compares the rest of the spec.
func restCompared(c change) bool { return containersKept(c) && !deadlineRaised(c) }

// containersKept reports whether a Pod has as many containers and init containers as before.
func containersKept(c change) bool {
	return !lengthChanges(c, "containers") && !lengthChanges(c, "initContainers")
}

// lengthChanges reports whether a list of the spec gets another length.
func lengthChanges(c change, list string) bool {
	return len(object.Items(object.Child(c.was, "spec"), list)) != len(object.Items(object.Child(c.is, "spec"), list))
}

// deadlineSetOrLowered accepts a first deadline, or an earlier one.
func deadlineSetOrLowered(_ change, was, is any) bool {
	return is != nil && (was == nil || integer(is) <= integer(was))
}

// gracePeriodFixed accepts 1 in place of a negative period.
func gracePeriodFixed(_ change, was, is any) bool { return integer(was) < 0 && integer(is) == 1 }

// tolerationsAdded accepts tolerations that are added, or that change only their seconds.
func tolerationsAdded(_ change, was, is any) bool {
	return object.ContainsAll(withoutSeconds(is), withoutSeconds(was))
}

// withoutSeconds returns a copy of tolerations without their seconds.
func withoutSeconds(tolerations any) any {
	list, _ := object.Copy(tolerations).([]any)
	for _, v := range list {
		if t, ok := v.(map[string]any); ok {
			delete(t, "tolerationSeconds")
		}
	}
	return list
}

// gatesRemoved accepts scheduling gates that are removed, if none is added.
func gatesRemoved(_ change, was, is any) bool { return object.ContainsAll(was, is) }

// hasSchedulingGates accepts every change of a Pod that scheduling gates keep from being scheduled.
func hasSchedulingGates(c change, _, _ any) bool {
	return object.Child(c.was, "spec")["schedulingGates"] != nil
}

// Services.

// clusterIPKept reports whether a Service is of a type with an address before and after, and is not headless both times.
func clusterIPKept(c change) bool {
	was, is := ServiceOf(c.was), ServiceOf(c.is)
	return was.HasAddress() && is.HasAddress() && !(was.headless() && is.headless())
}

// ipFamiliesKept reports whether a Service has an address before and after, and is never headless.
func ipFamiliesKept(c change) bool {
	was, is := ServiceOf(c.was), ServiceOf(c.is)
	return was.HasAddress() && is.HasAddress() && !was.headless() && !is.headless()
}

// loadBalancerKept reports whether a Service is a load balancer before and after.
func loadBalancerKept(c change) bool {
	return ServiceOf(c.was)["type"] == "LoadBalancer" && ServiceOf(c.is)["type"] == "LoadBalancer"
}

// healthCheckKept reports whether a Service has a port for health checks before and after.
func healthCheckKept(c change) bool {
	return ServiceOf(c.was).hasHealthCheck() && ServiceOf(c.is).hasHealthCheck()
}

// Claims.

// bound reports whether a claim has its volume.
func bound(c change) bool { return object.Child(c.live, "status")["phase"] == "Bound" }

// boundClaimGrows accepts that a bound claim requests more than before, or at least more than its capacity. Whether the storage class
// allows it is left to the server.
func boundClaimGrows(c change, was, is any) bool {
	before, _ := was.(string)
	after, _ := is.(string)
	capacity, _ := object.Child(object.Child(c.live, "status"), "capacity")["storage"].(string)
	return bound(c) && (!less(after, before) || less(capacity, after))
}

// boundClaimChangesClass accepts another class of volume attributes for a bound claim. A claim that has one cannot lose it.
func boundClaimChangesClass(c change, _, is any) bool {
	current := object.Child(c.live, "status")["currentVolumeAttributesClassName"]
	return bound(c) && (current == nil || !object.IsZero(is))
}

// less reports whether a is a smaller quantity than b; false if one is no quantity.
func less(a, b string) bool {
	x, ok := kinds.ParseQuantity(a)
	y, also := kinds.ParseQuantity(b)
	return ok && also && x.Cmp(y) < 0
}

// integer returns v if it is an integer, else 0.
func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}
