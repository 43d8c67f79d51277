package apiserver

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// invalidReason tells of fields of an object, a normal form, that contradict each other. An upgrade comes to that by a hand that moved
// from one to another: client-side or server-side, Helm puts its own back and leaves the other beside it. The texts are ours; what
// they say is what the API server would (kubernetes v1.36.3 pkg/apis/*/validation).
func invalidReason(key object.Key, object map[string]any) string {
	return strings.Join(invalidReasons(key, object), "; ")
}

// invalidAnew is what of it live does not have already: what the API server holds it took.
func invalidAnew(key object.Key, object, live map[string]any) string {
	known := invalidReasons(key, live)
	fresh := slices.DeleteFunc(invalidReasons(key, object), func(reason string) bool { return slices.Contains(known, reason) })
	return strings.Join(slices.Concat(fresh, emptied(key, object, live), memberless(key, object, live)), "; ")
}

// memberless tells of unions that need a member and have none. A server-side apply comes to it that takes away Helm's, where others own
// fields beside it.
func memberless(key object.Key, object, live map[string]any) []string {
	var out []string
	for _, u := range unionsOf(key, object) {
		_, there := u.at.Lookup(object)
		_, was := u.at.Lookup(live)
		if u.needed && there && len(u.set(object)) == 0 && !(was && len(u.set(live)) == 0) {
			out = append(out, fmt.Sprintf("%s must have one of %s", u.at, strings.Join(u.members, ", ")))
		}
	}
	return out
}

// emptied tells of a list that must have items and loses them all: the chart's is empty, or the stored manifest had a key twice, and
// Helm's patch takes away with the one what it adds with the other (core/validation ValidateService, validateContainers).
func emptied(key object.Key, obj, live map[string]any) []string {
	var lists []object.Path
	if base := podSpecOf(key); base != nil {
		lists = append(lists, base.Field("containers"))
	}
	if s := ServiceOf(obj); key.GroupKind().String() == "Service" && s.HasAddress() && !s.headless() {
		lists = append(lists, object.Path{}.Field("spec").Field("ports"))
	}
	var out []string
	for _, path := range lists {
		was, _ := path.Lookup(live)
		is, _ := path.Lookup(obj)
		before, _ := was.([]any)
		if after, _ := is.([]any); len(before) > 0 && len(after) == 0 {
			out = append(out, path.String()+" may not be empty")
		}
	}
	return out
}

func invalidReasons(key object.Key, object map[string]any) []string {
	reasons := slices.Concat(unionReasons(key, object), dependentReasons(key, object), kindReasons(key, object))
	if base := podSpecOf(key); base != nil {
		reasons = slices.Concat(reasons, mismatchReasons(key, object), podReasons(base, object))
	}
	return reasons
}

// kindReasons are those that only one kind has.
func kindReasons(key object.Key, obj map[string]any) []string {
	spec := object.Child(obj, "spec")
	switch key.GroupKind().String() {
	case "Service":
		return ServiceOf(obj).reasons()
	case "ConfigMap":
		return twiceNamed(obj)
	case "Deployment.apps":
		return rolloutReasons(spec)
	case "DaemonSet.apps":
		return daemonReasons(spec)
	case "HorizontalPodAutoscaler.autoscaling":
		return scalerReasons(spec)
	case "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io":
		return bindingReasons(spec)
	}
	return nil
}

// bindingReasons tells of a binding that denies and warns at once. An upgrade comes to it server-side, where the list is a set: the
// apply adds Helm's action to the other's.
func bindingReasons(spec map[string]any) []string {
	actions, _ := spec["validationActions"].([]any)
	if slices.Contains(actions, any("Deny")) && slices.Contains(actions, any("Warn")) {
		return []string{"spec.validationActions cannot contain both Deny and Warn"}
	}
	return nil
}

// unionReasons tells of unions with more than one member (unions.go has them). Where Helm's patch knows that only one may be there
// ($retainKeys of volumes), it takes the other away.
func unionReasons(key object.Key, object map[string]any) []string {
	var out []string
	for _, u := range unionsOf(key, object) {
		if set := u.set(object); len(set) > 1 {
			out = append(out, fmt.Sprintf("%s cannot have both %s", u.at, strings.Join(set, " and ")))
		}
	}
	return out
}

// isSet tells whether a member of a union counts: texts that are empty do not, nor does the number of a port that is 0.
func isSet(name string, v any) bool {
	return v != nil && v != "" && (name != "number" || !object.IsZero(v))
}

// dependentReasons tells of fields that go with a type which is not set (unions.go).
func dependentReasons(key object.Key, obj map[string]any) []string {
	var out []string
	for _, d := range dependentsOf(key, obj) {
		node, _ := d.at.Lookup(obj)
		if by := object.Field(node, d.by); by != nil && by != d.value && object.Field(node, d.field) != nil {
			out = append(out, fmt.Sprintf("%s may not be set when %s is %v", d.at.Field(d.field), d.by, by))
		}
	}
	return out
}

// twiceNamed: core/validation ValidateConfigMap.
func twiceNamed(obj map[string]any) []string {
	for _, name := range object.SortedKeys(object.Child(obj, "data")) {
		if object.Has(obj["binaryData"], name) {
			return []string{fmt.Sprintf("data and binaryData cannot both have %q", name)}
		}
	}
	return nil
}

// rolloutReasons: apps/validation ValidateRollingUpdateDeployment and ValidateDeploymentSpec.
func rolloutReasons(spec map[string]any) []string {
	var out []string
	rolling := object.Child(object.Child(spec, "strategy"), "rollingUpdate")
	if rolling["maxUnavailable"] != nil && isNone(rolling["maxUnavailable"]) && isNone(rolling["maxSurge"]) {
		out = append(out, "spec.strategy.rollingUpdate cannot have 0 for both maxUnavailable and maxSurge")
	}
	if deadline, ok := spec["progressDeadlineSeconds"].(int64); ok && deadline <= amount(spec["minReadySeconds"]) {
		out = append(out, "spec.progressDeadlineSeconds must be greater than spec.minReadySeconds")
	}
	return out
}

// daemonReasons: apps/validation ValidateRollingUpdateDaemonSet.
func daemonReasons(spec map[string]any) []string {
	strategy := object.Child(spec, "updateStrategy")
	rolling := object.Child(strategy, "rollingUpdate")
	if strategy["type"] != "RollingUpdate" || rolling["maxUnavailable"] == nil || rolling["maxSurge"] == nil {
		return nil
	}
	switch none := isNone(rolling["maxUnavailable"]); {
	case none && isNone(rolling["maxSurge"]):
		return []string{"spec.updateStrategy.rollingUpdate cannot have 0 for both maxUnavailable and maxSurge"}
	case !none && !isNone(rolling["maxSurge"]):
		return []string{"spec.updateStrategy.rollingUpdate must have 0 for one of maxUnavailable and maxSurge"}
	}
	return nil
}

// isNone tells whether a number, or a percentage, is none (apps/validation getIntOrPercentValue).
func isNone(v any) bool { return object.IsZero(v) || v == "0%" || v == "0" }

// scalerReasons: autoscaling/validation validateHorizontalPodAutoscalerSpec.
func scalerReasons(spec map[string]any) []string {
	if spec["maxReplicas"] != nil && amount(spec["maxReplicas"]) < amount(spec["minReplicas"]) {
		return []string{"spec.maxReplicas must be greater than or equal to spec.minReplicas"}
	}
	return nil
}

// mismatchReasons tells of a workload whose selector does not select the pods that its template makes (apps/validation
// ValidatePodTemplateSpecForReplicaSet, ValidateStatefulSetSpec, ValidateDaemonSetSpec, core/validation ValidatePodTemplateSpecForRC).
func mismatchReasons(key object.Key, object map[string]any) []string {
	selector, ok := selectorOf(key, object)
	if !ok {
		return nil
	}
	made := labels.Set{}
	for name, value := range kinds.TemplateLabels(object) {
		text, ok := value.(string)
		if !ok {
			return nil
		}
		made[name] = text
	}
	if selector.Empty() || selector.Matches(made) {
		return nil
	}
	return []string{"spec.selector does not match spec.template.metadata.labels"}
}

// selectorOf gives the selector of a workload that makes pods; false where the object is none, or has none that can be read.
func selectorOf(key object.Key, obj map[string]any) (labels.Selector, bool) {
	text := object.Child(object.Child(obj, "spec"), "selector")
	if text == nil {
		return nil, false
	}
	switch key.GroupKind().String() {
	case "ReplicationController":
		text = map[string]any{"matchLabels": text}
	case "Deployment.apps", "ReplicaSet.apps", "DaemonSet.apps", "StatefulSet.apps":
	default:
		return nil, false
	}
	var typed metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(text, &typed) != nil {
		return nil, false
	}
	selector, err := metav1.LabelSelectorAsSelector(&typed)
	return selector, err == nil
}
