package threeway

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// invalidReason tells of fields of an object that contradict each other.
func invalidReason(key Key, object map[string]any) string {
	switch kindOf(key) {
	case "Service":
		return joinNotes(serviceSpec(object).contradiction(), serviceSpec(object).portsReason())
	case "Ingress.networking.k8s.io":
		return backendReason(object)
	case "PodDisruptionBudget.policy":
		return budgetReason(object)
	case "Deployment.apps":
		return joinNotes(joinNotes(mismatchReason(key, object), strategyReason(object)), podReason(key, object))
	}
	return joinNotes(mismatchReason(key, object), podReason(key, object))
}

// contradiction tells of a Service that has what its type forbids (kubernetes v1.36.3 pkg/apis/core/validation
// validateService). An upgrade comes to the first by a node port that the chart kept when it left the type, to the second by leaving a headless
// Service, whose address the server gives back.
func (s service) contradiction() string {
	switch {
	case (s["type"] == nil || s["type"] == "ClusterIP") && len(s.nodePorts()) > 0:
		return "spec.ports[].nodePort cannot be used with spec.type ClusterIP"
	case s.hasNodePorts() && s.headless():
		return "spec.clusterIP None cannot be used with spec.type NodePort or LoadBalancer"
	}
	return ""
}

// portsReason tells of ports that cannot stand side by side (validateService, too). An upgrade comes to it by a port that was edited
// by hand: Helm tells ports apart by their number, so it adds its own beside the edited one.
func (s service) portsReason() string {
	ports, _ := s["ports"].([]any)
	names, numbers := map[any]bool{}, map[string]bool{}
	for _, item := range ports {
		port, _ := item.(map[string]any)
		name := port["name"]
		number := fmt.Sprint(port["port"], "/", port["protocol"])
		switch {
		case len(ports) > 1 && isZero(name):
			return "spec.ports[].name is required where there is more than one port"
		case names[name] && len(ports) > 1:
			return "spec.ports[].name must be unique"
		case numbers[number]:
			return "spec.ports[] must be unique in port and protocol"
		}
		names[name], numbers[number] = true, true
	}
	return ""
}

// backendReason tells of a port of an Ingress's default backend that has both a name and a number (kubernetes v1.36.3
// pkg/apis/networking/validation validateIngressBackend). An upgrade comes to it by a backend that was edited from the one to the
// other.
func backendReason(object map[string]any) string {
	port := child(child(child(child(object, "spec"), "defaultBackend"), "service"), "port")
	if !isZero(port["name"]) && !isZero(port["number"]) {
		return "spec.defaultBackend.service.port cannot have both a name and a number"
	}
	return ""
}

// budgetReason tells of a budget that sets both its limits (kubernetes v1.36.3 pkg/apis/policy/validation
// ValidatePodDisruptionBudgetSpec). An upgrade comes to it by a budget that was edited from the one to the other.
func budgetReason(object map[string]any) string {
	spec := child(object, "spec")
	if spec["minAvailable"] != nil && spec["maxUnavailable"] != nil {
		return "spec.minAvailable and spec.maxUnavailable cannot both be set"
	}
	return ""
}

// strategyReason tells of a Deployment that keeps the parameters of a strategy that it left (kubernetes v1.36.3
// pkg/apis/apps/validation ValidateDeploymentStrategy). A client-side patch takes them away; a server-side apply does so only with
// those that Helm owns.
func strategyReason(object map[string]any) string {
	strategy := child(child(object, "spec"), "strategy")
	if strategy["type"] == "Recreate" && strategy["rollingUpdate"] != nil {
		return "spec.strategy.rollingUpdate may not be specified when strategy type is Recreate"
	}
	return ""
}

// mismatchReason tells of a workload whose selector does not select the pods that its template makes (kubernetes v1.36.3
// pkg/apis/apps/validation ValidatePodTemplateSpecForReplicaSet, ValidateStatefulSetSpec, ValidateDaemonSetSpec, and
// pkg/apis/core/validation ValidatePodTemplateSpecForRC).
func mismatchReason(key Key, object map[string]any) string {
	selector, ok := selectorOf(key, object)
	if !ok {
		return ""
	}
	made := labels.Set{}
	for name, value := range templateLabels(object) {
		text, ok := value.(string)
		if !ok {
			return ""
		}
		made[name] = text
	}
	if selector.Empty() || selector.Matches(made) {
		return ""
	}
	return "spec.selector does not match spec.template.metadata.labels"
}

// selectorOf gives the selector of a workload that makes pods; false where the object is none, or has none that can be read.
func selectorOf(key Key, object map[string]any) (labels.Selector, bool) {
	text := child(child(object, "spec"), "selector")
	if text == nil {
		return nil, false
	}
	switch kindOf(key) {
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
