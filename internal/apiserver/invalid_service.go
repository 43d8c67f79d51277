package apiserver

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// reasons returns the reasons why the API server refuses a Service (kubernetes v1.36.3 pkg/apis/core/validation validateService). It
// allocates node ports before it validates anything, so two of one number are its only reason (pkg/registry/core/service/storage/alloc.go
// updateNodePorts).
func (s service) reasons() []string {
	if reason := s.nodePortsReason(); reason != "" && s.hasNodePorts() {
		return []string{reason}
	}
	out := []string{s.typeReason(), s.portsReason(), s.nodePortsReason()}
	return append(slices.DeleteFunc(out, func(reason string) bool { return reason == "" }), s.targetPortReasons()...)
}

// targetPortReasons returns the server's errors for texts that are no names of ports, such as a number in quotes (core/validation
// validateServicePort, ValidatePortNumOrName).
func (s service) targetPortReasons() []string {
	var out []string
	for i, port := range object.Items(s, "ports") {
		name, isName := port["targetPort"].(string)
		if !isName || name == "" {
			continue
		}
		for _, fault := range validation.IsValidPortName(name) {
			out = append(out, fmt.Sprintf("spec.ports[%d].targetPort: Invalid value: %q: %s", i, name, fault))
		}
	}
	return out
}

// typeReason reports a field that the type of the Service forbids. An upgrade leads to the first if the chart keeps a node port when it
// changes the type, to the second if it changes the type of a headless Service, whose address the server restores, and to the third if
// somebody made the Service a load balancer.
func (s service) typeReason() string {
	switch {
	case (s["type"] == nil || s["type"] == "ClusterIP") && len(s.nodePorts()) > 0:
		return "spec.ports[].nodePort cannot be used with spec.type ClusterIP"
	case s.hasNodePorts() && s.headless():
		return "spec.clusterIPs None cannot be used by a Service of type NodePort or LoadBalancer"
	case s["type"] != "LoadBalancer" && !object.IsZero(s["loadBalancerSourceRanges"]):
		return "spec.loadBalancerSourceRanges may only be used with spec.type LoadBalancer"
	}
	return ""
}

// portsReason reports ports that exclude each other. An upgrade leads to that if somebody edited a port: Helm identifies ports by their
// number, so it adds its own beside the edited one.
func (s service) portsReason() string {
	ports, _ := s["ports"].([]any)
	names, numbers := map[string]bool{}, map[string]bool{}
	for _, item := range ports {
		port, _ := item.(map[string]any)
		name, _ := port["name"].(string)
		number := fmt.Sprint(port["port"], "/", port["protocol"])
		switch {
		case len(ports) > 1 && name == "":
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

// nodePortsReason reports two ports with one node port: if the chart names the node port, an edited port has it too.
func (s service) nodePortsReason() string {
	seen := map[string]bool{}
	for _, port := range object.Items(s, "ports") {
		id := fmt.Sprint(port["nodePort"], "/", port["protocol"])
		if !object.IsZero(port["nodePort"]) && seen[id] {
			return "spec.ports[].nodePort must be unique"
		}
		seen[id] = true
	}
	return ""
}
