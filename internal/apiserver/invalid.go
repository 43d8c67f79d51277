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

// invalidReason returns the reasons why the fields of an object, a normal form, contradict each other. An upgrade leads to that if somebody
// moved from one field to another: Helm, client-side and server-side, puts its own back and leaves the other beside it. The texts are
// ours; they say what the API server says (kubernetes v1.36.3 pkg/apis/*/validation).
func invalidReason(key object.Key, obj map[string]any) string {
	return strings.Join(invalidReasons(key, obj), "; ")
}

// newlyInvalidReason returns the reasons that live does not have already: the API server accepted what live holds.
func newlyInvalidReason(key object.Key, obj, live map[string]any) string {
	known := invalidReasons(key, live)
	fresh := slices.DeleteFunc(invalidReasons(key, obj), func(reason string) bool { return slices.Contains(known, reason) })
	return strings.Join(slices.Concat(fresh, emptiedListReasons(key, obj, live), emptyUnionReasons(key, obj, live)), "; ")
}

// invalidReasons returns all reasons that depend on the object alone. Kinds that make pods are also checked for these.
func invalidReasons(key object.Key, obj map[string]any) []string {
	reasons := slices.Concat(unionReasons(key, obj), dependentReasons(key, obj), kindReasons(key, obj))
	if base := podSpecOf(key); base != nil {
		reasons = slices.Concat(reasons, selectorReasons(key, obj), podReasons(base, obj))
	}
	return reasons
}

// emptiedListReasons names the lists that lose all items and must have some: the chart's list is empty, or the stored manifest had a key
// twice, and Helm's patch removes with one item what it adds with the other (core/validation ValidateService, validateContainers).
func emptiedListReasons(key object.Key, obj, live map[string]any) []string {
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

// kindReasons returns the reasons that only one kind has.
func kindReasons(key object.Key, obj map[string]any) []string {
	spec := object.Child(obj, "spec")
	switch key.GroupKind().String() {
	case "Service":
		return ServiceOf(obj).reasons()
	case "Deployment.apps":
		return deploymentReasons(spec)
	case "DaemonSet.apps":
		return daemonSetReasons(spec)
	case "HorizontalPodAutoscaler.autoscaling":
		return autoscalerReasons(spec)
	case "PodDisruptionBudget.policy":
		return percentReasons(spec, "spec", "minAvailable", "maxUnavailable")
	case "ConfigMap":
		return dataReasons(obj)
	}
	return nil
}

// dataReasons: core/validation ValidateConfigMap. An upgrade leads to a key in both fields if somebody moved the chart's key.
func dataReasons(obj map[string]any) []string {
	var out []string
	binary := object.Child(obj, "binaryData")
	for _, key := range object.SortedKeys(object.Child(obj, "data")) {
		if object.Has(binary, key) {
			out = append(out, fmt.Sprintf("data[%s] is in binaryData too", key))
		}
	}
	return out
}

// autoscalerReasons: autoscaling/validation validateHorizontalPodAutoscalerSpec.
func autoscalerReasons(spec map[string]any) []string {
	if spec["maxReplicas"] != nil && integer(spec["maxReplicas"]) < integer(spec["minReplicas"]) {
		return []string{"spec.maxReplicas must be greater than or equal to spec.minReplicas"}
	}
	return nil
}

// selectorReasons reports a workload whose selector does not match the labels of its pod template (apps/validation
// ValidatePodTemplateSpecForReplicaSet, ValidateStatefulSetSpec, ValidateDaemonSetSpec, core/validation ValidatePodTemplateSpecForRC).
func selectorReasons(key object.Key, obj map[string]any) []string {
	selector, ok := selectorOf(key, obj)
	if !ok {
		return nil
	}
	made := labels.Set{}
	for name, value := range kinds.TemplateLabels(obj) {
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

// selectorOf returns the selector of a workload; false if the kind has no pod template, or the selector cannot be read.
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
