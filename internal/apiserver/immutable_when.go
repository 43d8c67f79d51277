package apiserver

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// The conditions and exceptions of the table of immutable fields. Each does what the function of Kubernetes does that its line
// of the table names.

// firstSet tells that a field is set that was not.
func firstSet(_ change, was, _ any) bool { return was == nil }

// stays tells that a field changes, but does not go.
func stays(_ change, _, is any) bool { return is != nil }

// amount reads an integer, 0 where there is none.
func amount(v any) int64 {
	n, _ := v.(int64)
	return n
}

// sealed tells that a Secret or ConfigMap is immutable.
func sealed(c change) bool { return c.was["immutable"] == true }

func sameSet(_ change, was, is any) bool {
	return object.ContainsAll(was, is) && object.ContainsAll(is, was)
}

// scalesIndexedJob tells that an indexed Job gets as many completions as it gets pods.
func scalesIndexedJob(c change, _, is any) bool {
	spec := object.Child(c.is, "spec")
	return spec["completionMode"] == "Indexed" && is != nil && object.Equal(is, spec["parallelism"])
}

// jobWaits tells that a Job is suspended and has no pods (kubernetes v1.36.3 pkg/registry/batch/job/strategy.go
// shouldAllowMutablePodTemplate).
func jobWaits(c change) bool {
	status := object.Child(c.live, "status")
	idle := status["startTime"] == nil || hasCondition(c.live, "Suspended")
	return object.Child(c.was, "spec")["suspend"] == true && idle && amount(status["active"]) == 0
}

func jobRuns(c change) bool { return !jobWaits(c) }

// hasCondition tells whether a condition of an object's status is true.
func hasCondition(live map[string]any, kind string) bool {
	return slices.ContainsFunc(kinds.Items(object.Child(live, "status"), "conditions"), func(condition map[string]any) bool {
		return condition["type"] == kind && condition["status"] == "True"
	})
}

func established(c change) bool { return hasCondition(c.live, "Established") }

// shortens tells that a limit of time is set, or lowered.
func shortens(_ change, was, is any) bool {
	return is != nil && (was == nil || amount(is) <= amount(was))
}

// mendsGrace tells that a period which was negative becomes 1.
func mendsGrace(_ change, was, is any) bool { return amount(was) < 0 && amount(is) == 1 }

// onlyTolerates tells that tolerations are added, or changed in their seconds alone.
func onlyTolerates(_ change, was, is any) bool {
	return object.ContainsAll(withoutSeconds(is), withoutSeconds(was))
}

func withoutSeconds(tolerations any) any {
	list, _ := object.Copy(tolerations).([]any)
	for _, v := range list {
		if t, ok := v.(map[string]any); ok {
			delete(t, "tolerationSeconds")
		}
	}
	return list
}

// onlyOpens tells that scheduling gates are taken away and none is added.
func onlyOpens(_ change, was, is any) bool { return object.ContainsAll(was, is) }

// otherContainers tells that containers of a Pod come or go. The API server looks no further then.
func otherContainers(c change) bool { return countChanges(c, "containers") }

func otherInitContainers(c change) bool {
	return !otherContainers(c) && countChanges(c, "initContainers")
}

// lengthensDeadline tells that a Pod gets more time than it has, of which the API server complains before it looks further.
func lengthensDeadline(c change) bool {
	was, is := object.Child(c.was, "spec")["activeDeadlineSeconds"], object.Child(c.is, "spec")["activeDeadlineSeconds"]
	return sameContainers(c) && was != nil && amount(was) < amount(is)
}

func looksFurther(c change) bool { return sameContainers(c) && !lengthensDeadline(c) }

func sameContainers(c change) bool {
	return !otherContainers(c) && !countChanges(c, "initContainers")
}

// countChanges tells that a list in the spec has another length afterwards.
func countChanges(c change, list string) bool {
	return len(kinds.Items(object.Child(c.was, "spec"), list)) != len(kinds.Items(object.Child(c.is, "spec"), list))
}

// heldByGates tells that a Pod waits at a scheduling gate.
func heldByGates(c change, _, _ any) bool {
	return object.Child(c.was, "spec")["schedulingGates"] != nil
}

// keepsAddress tells that a Service is of a type with an address before and after, and has one of its own in one of both.
func keepsAddress(c change) bool {
	was, is := ServiceOf(c.was), ServiceOf(c.is)
	return was.HasAddress() && is.HasAddress() && !(was.headless() && is.headless())
}

// keepsFamilies tells that a Service has an address of its own before and after.
func keepsFamilies(c change) bool {
	was, is := ServiceOf(c.was), ServiceOf(c.is)
	return was.HasAddress() && is.HasAddress() && !was.headless() && !is.headless()
}

func staysLoadBalancer(c change) bool {
	return ServiceOf(c.was)["type"] == "LoadBalancer" && ServiceOf(c.is)["type"] == "LoadBalancer"
}

func staysChecked(c change) bool { return ServiceOf(c.was).checked() && ServiceOf(c.is).checked() }

// keepsFirst tells that a second address or family comes or goes while the first stays.
func keepsFirst(_ change, was, is any) bool {
	before, _ := was.([]any)
	after, _ := is.([]any)
	return len(before) != len(after) && len(after) > 0 && (len(before) == 0 || object.Equal(before[0], after[0]))
}

// addsSecond tells that a list of one gets a second item.
func addsSecond(_ change, was, is any) bool {
	before, _ := was.([]any)
	after, _ := is.([]any)
	return len(before) == 1 && len(after) == 2 && object.Equal(before[0], after[0])
}

func bound(c change) bool { return object.Child(c.live, "status")["phase"] == "Bound" }

// boundClaimGrows tells that a claim which has its volume asks for more, or takes back what it was not given yet. Whether its
// class lets it grow is for the server to say.
func boundClaimGrows(c change, was, is any) bool {
	before, _ := was.(string)
	after, _ := is.(string)
	given, _ := object.Child(object.Child(c.live, "status"), "capacity")["storage"].(string)
	return bound(c) && (!less(after, before) || less(given, after))
}

// less compares quantities; false where one is none.
func less(a, b string) bool {
	x, ok := kinds.ParseQuantity(a)
	y, also := kinds.ParseQuantity(b)
	return ok && also && x.Cmp(y) < 0
}

// boundClaimMoves tells that a claim which has its volume gets another class of attributes. It cannot be without one again.
func boundClaimMoves(c change, _, is any) bool {
	current := object.Child(c.live, "status")["currentVolumeAttributesClassName"]
	return bound(c) && (current == nil || !object.IsZero(is))
}
