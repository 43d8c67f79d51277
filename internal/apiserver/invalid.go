package apiserver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// invalidReason returns the reasons why the fields of an object in normal form contradict each other. That happens if somebody replaced
// one field by another: an upgrade, client-side or server-side, restores the first and leaves the second beside it. The texts are ours;
// they say what the API server says (kubernetes v1.36.3 pkg/apis/*/validation).
func invalidReason(key object.Key, obj map[string]any) string {
	return strings.Join(invalidReasons(key, obj), "; ")
}

// newlyInvalidReason returns the reasons that live does not have already: the API server accepted what live holds.
func newlyInvalidReason(key object.Key, obj, live map[string]any) string {
	known := invalidReasons(key, live)
	fresh := slices.DeleteFunc(invalidReasons(key, obj), func(reason string) bool { return slices.Contains(known, reason) })
	return strings.Join(slices.Concat(fresh, emptiedListReasons(key, obj, live), emptyUnionReasons(key, obj, live)), "; ")
}

// invalidReasons returns all reasons that depend only on the object. It also checks the pod templates of workloads.
func invalidReasons(key object.Key, obj map[string]any) []string {
	reasons := slices.Concat(unionReasons(key, obj), dependentReasons(key, obj), kindReasons(key, obj))
	if base := podSpecOf(key); base != nil {
		reasons = slices.Concat(reasons, selectorReasons(key, obj), podReasons(base, obj))
	}
	return reasons
}

// emptiedListReasons names the lists that lose all items and must have some. Either the chart's list is empty, or the stored manifest had a
// key twice, and Helm's patch for one item removes what it adds for the other (core/validation ValidateService, validateContainers).
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

// kindReasons returns the reasons that belong to a single kind.
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

// dataReasons: core/validation ValidateConfigMap. If somebody moved the chart's key to the other field, an upgrade leads to a
// key in both fields.
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

// selectorOf returns the selector of a workload, or false if the kind has no pod template, or the selector cannot be read.
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

// This file has the rules about numbers of pods that are integers or percentages.

// deploymentReasons: apps/validation ValidateRollingUpdateDeployment.
func deploymentReasons(spec map[string]any) []string {
	const at = "spec.strategy.rollingUpdate"
	rolling := object.Child(object.Child(spec, "strategy"), "rollingUpdate")
	out := percentReasons(rolling, at, "maxUnavailable", "maxSurge")
	if rolling["maxUnavailable"] != nil && isNone(rolling["maxUnavailable"]) && isNone(rolling["maxSurge"]) {
		out = append(out, at+" cannot have 0 for both maxUnavailable and maxSurge")
	}
	return out
}

// daemonSetReasons: apps/validation ValidateRollingUpdateDaemonSet. Without maxUnavailable, one pod may be unavailable. If somebody chose
// the number that the chart lacks, an upgrade leads to both numbers.
func daemonSetReasons(spec map[string]any) []string {
	const at = "spec.updateStrategy.rollingUpdate"
	strategy := object.Child(spec, "updateStrategy")
	rolling := object.Child(strategy, "rollingUpdate")
	if rolling == nil || strategy["type"] == "OnDelete" {
		return nil
	}
	out := percentReasons(rolling, at, "maxUnavailable", "maxSurge")
	hasUnavailable := rolling["maxUnavailable"] == nil || !isNone(rolling["maxUnavailable"])
	switch hasSurge := !isNone(rolling["maxSurge"]); {
	case hasUnavailable && hasSurge:
		out = append(out, at+".maxSurge may not be set while maxUnavailable is not 0")
	case !hasUnavailable && !hasSurge:
		out = append(out, at+".maxUnavailable may not be 0 while maxSurge is 0")
	}
	return out
}

// isNone reports whether a number of pods is 0 (apps/validation getIntOrPercentValue).
func isNone(v any) bool { return object.IsZero(v) || v == "0%" || v == "0" }

// percentReasons returns the server's errors for numbers of pods that are texts but not percentages, such as an integer in
// quotes (apps/validation ValidatePositiveIntOrPercent).
func percentReasons(parent map[string]any, at string, fields ...string) []string {
	var out []string
	for _, field := range fields {
		text, isText := parent[field].(string)
		if !isText {
			continue
		}
		for _, fault := range validation.IsValidPercent(text) {
			out = append(out, fmt.Sprintf("%s.%s: Invalid value: %q: %s", at, field, text, fault))
		}
	}
	return out
}

// ratchet checks a value by its schema as an update of the previous value: it accepts what did not change, so that nobody has to fix
// what somebody else wrote (apiextensions-apiserver v0.37.1 pkg/apiserver/validation/ratcheting.go).
type ratchet struct {
	schema *spec.Schema
	path   string
	// at is the same path in the form for errors of rules. It is nil for the whole object.
	at *field.Path
	// was is the previous value, and is is the value under check.
	was, is any
}

var _ validate.ValueValidator = (*ratchet)(nil)

// ratcheted returns the errors of a schema for an object that replaces another one. Was is nil for a new object. A schema that no
// server accepts, such as one with references, makes the library panic; then there are no errors.
func ratcheted(schema *spec.Schema, was, is map[string]any) (out []error) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	if was == nil {
		return validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(is).Errors
	}
	return (&ratchet{schema: schema, was: was}).Validate(is).Errors
}

// SetPath implements validate.ValueValidator. It is not called on validators of fields and items.
func (r *ratchet) SetPath(string) {}

// Applies implements validate.ValueValidator: all values are checked.
func (r *ratchet) Applies(any, reflect.Kind) bool { return true }

// Validate checks a value and everything below it.
func (r *ratchet) Validate(v any) *validate.Result {
	r.is = v
	below := func(o *validate.SchemaValidatorOptions) {
		o.NewValidatorForField, o.NewValidatorForIndex = r.field, r.item
	}
	result := validate.NewSchemaValidator(r.schema, nil, r.path, strfmt.Default, below).Validate(v)
	if object.Equal(r.was, v) {
		return &validate.Result{}
	}
	if r.at != nil { // a rule of the whole object does not see all fields
		result.AddErrors(brokenRules(r.schema, r.at, v)...)
	}
	return result
}

// field returns the validator of a field or map key.
func (r *ratchet) field(name string, schema *spec.Schema, _ any, path string, _ strfmt.Registry, _ ...validate.Option,
) validate.ValueValidator {
	was, _ := r.was.(map[string]any)
	at := r.at.Key(name)
	if _, known := r.schema.Properties[name]; known {
		at = r.at.Child(name)
	}
	return next(schema, path, at, was[name])
}

// item returns the validator of a list item. The previous value is the item with the same keys. In a list without keys, all items
// count as new, unless the list is the same.
func (r *ratchet) item(index int, schema *spec.Schema, _ any, path string, _ strfmt.Registry, _ ...validate.Option,
) validate.ValueValidator {
	was, _ := r.was.([]any)
	is, _ := r.is.([]any)
	keys, _ := r.schema.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	step, named := kinds.StepTo(is[index], kinds.ListRule{Keys: keys})
	for i, before := range was {
		if named && step.Matches(i, before) {
			return next(schema, path, r.at.Index(index), before)
		}
	}
	return next(schema, path, nil, nil)
}

// next returns the validator of a value below. A value that was absent before is checked as a new one.
func next(schema *spec.Schema, path string, at *field.Path, was any) validate.ValueValidator {
	if was == nil {
		return validate.NewSchemaValidator(schema, nil, path, strfmt.Default)
	}
	return &ratchet{schema: schema, path: path, at: at, was: was}
}
