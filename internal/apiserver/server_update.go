package apiserver

import (
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// ApplyServerRules makes of result, which is live after Helm's patch, what the API server stores: for some kinds it takes values
// away or gives them back. Both sides are normal forms, and result is changed in place.
//
// A Service is of one of four types, and the server takes away what its new type has no use for, and gives back what it had
// allocated and the patch leaves out (kubernetes v1.36.3 pkg/registry/core/service: storage/storage.go beginUpdate, then
// strategy.go PrepareForUpdate). What it newly allocates cannot be foretold. The spec of a CertificateSigningRequest stays as it
// was made (pkg/registry/certificates/certificates/strategy.go PrepareForUpdate).
func ApplyServerRules(key object.Key, live, result kinds.State) {
	was, is := live.Object(), result.Object()
	switch key.GroupKind().String() {
	case "Service":
		if before, after := ServiceOf(was), ServiceOf(is); before != nil && after != nil {
			before.giveBack(after)
			before.takeAway(after)
		}
	case "Namespace":
		labelNamespace(was, is)
	case "HorizontalPodAutoscaler.autoscaling":
		giveBackTarget(object.Child(was, "spec"), object.Child(is, "spec"))
	case "CertificateSigningRequest.certificates.k8s.io":
		if spec := object.Child(was, "spec"); spec != nil && is != nil {
			is["spec"] = object.Copy(spec)
		}
	}
}

// labelNamespace: a namespace keeps the label with its name, whatever is written (kubernetes v1.36.3 pkg/apis/core/v1/defaults.go
// SetDefaults_Namespace).
func labelNamespace(was, is map[string]any) {
	const label = "kubernetes.io/metadata.name"
	name, labelled := object.Child(object.Child(was, "metadata"), "labels")[label]
	if !labelled || is == nil {
		return
	}
	metadata := maps.Clone(object.Child(is, "metadata"))
	labels := maps.Clone(object.Child(metadata, "labels"))
	if labels == nil {
		labels = map[string]any{}
	}
	labels[label] = name
	metadata["labels"], is["metadata"] = labels, metadata
}

// giveBackTarget puts the target of an autoscaler back that is read at version 1: the server stores version 2, where an autoscaler
// without metrics has this one (kubernetes v1.36.3 pkg/apis/autoscaling/v2/defaults.go SetDefaults_HorizontalPodAutoscaler).
func giveBackTarget(was, is map[string]any) {
	if was["targetCPUUtilizationPercentage"] != nil && is != nil {
		kinds.SetDefault(is, "targetCPUUtilizationPercentage", int64(80))
	}
}

// service is the spec of a Service's normal form.
type service map[string]any

// ServiceOf returns the spec of a Service.
func ServiceOf(obj map[string]any) service { return object.Child(obj, "spec") }

func (s service) HasAddress() bool { return s["type"] != "ExternalName" }

func (s service) headless() bool {
	return s["clusterIP"] == "None" || object.Equal(s["clusterIPs"], []any{"None"})
}

func (s service) hasNodePorts() bool { return s["type"] == "NodePort" || s["type"] == "LoadBalancer" }

// allocatesNodePorts is hasNodePorts but for load balancers that do without.
func (s service) allocatesNodePorts() bool {
	return s["type"] == "NodePort" || s["type"] == "LoadBalancer" && s["allocateLoadBalancerNodePorts"] != false
}

func (s service) checked() bool {
	return s["type"] == "LoadBalancer" && s["externalTrafficPolicy"] == "Local"
}

// MayHave tells whether a Service of this type may have an allocated field at all.
func (s service) MayHave(name string) bool {
	switch name {
	case "nodePort":
		return s.hasNodePorts()
	case "healthCheckNodePort":
		return s.checked()
	case "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy":
		return s.HasAddress()
	}
	return true
}

func (s service) reachable() bool {
	return s.hasNodePorts() || s["type"] == "ClusterIP" && !object.IsZero(s["externalIPs"])
}

// addressFields are the fields that only a Service with an address has.
func addressFields() []string {
	return []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}
}

// giveBack: patchAllocatedValues, normalizeClusterIPs, and what initIPFamilyFields does to a Service that comes down to one
// family.
func (s service) giveBack(is service) {
	if s.HasAddress() && is.HasAddress() {
		for _, name := range addressFields() {
			kinds.CopyDefault(is, name, s, name)
		}
	}
	if s.allocatesNodePorts() && is.allocatesNodePorts() {
		s.giveBackNodePorts(is)
	}
	if s.checked() && is.checked() {
		kinds.CopyDefault(is, "healthCheckNodePort", s, "healthCheckNodePort")
	}
	s.follow(is)
	if is["ipFamilyPolicy"] != "SingleStack" || !is.HasAddress() {
		return
	}
	for _, name := range []string{"clusterIPs", "ipFamilies"} {
		if list, _ := is[name].([]any); len(list) > 1 && object.Equal(list, s[name]) {
			is[name] = slices.Clone(list[:1])
		}
	}
}

// follow: where only clusterIP is changed or cleared, clusterIPs goes with it.
func (s service) follow(is service) {
	address := is["clusterIP"]
	if object.Equal(address, s["clusterIP"]) || !object.Equal(s["clusterIPs"], is["clusterIPs"]) || s["clusterIPs"] == nil {
		return
	}
	if is["clusterIPs"] = []any{address}; object.IsZero(address) {
		delete(is, "clusterIPs")
	}
}

// giveBackNodePorts gives ports that name no node port the one that the port of their name had, unless another port took it.
func (s service) giveBackNodePorts(is service) {
	had := map[string]any{}
	for _, port := range kinds.Items(s, "ports") {
		name, _ := port["name"].(string)
		had[name] = port["nodePort"]
	}
	kept := is.nodePorts()
	for _, port := range kinds.Items(is, "ports") {
		name, _ := port["name"].(string)
		if number := had[name]; port["nodePort"] == nil && number != nil && !object.ContainsAll(kept, []any{number}) {
			port["nodePort"] = number
		}
	}
}

// nodePorts lists the node ports that are named.
func (s service) nodePorts() []any {
	var out []any
	for _, port := range kinds.Items(s, "ports") {
		if !object.IsZero(port["nodePort"]) {
			out = append(out, port["nodePort"])
		}
	}
	return out
}

// takeAway: dropTypeDependentFields. What is changed together with the type stays, for validation to refuse.
func (s service) takeAway(is service) {
	drop := func(left bool, names ...string) {
		for _, name := range names {
			if left && object.Equal(s[name], is[name]) {
				delete(is, name)
			}
		}
	}
	if s.HasAddress() && !is.HasAddress() {
		drop(true, "ipFamilies", "ipFamilyPolicy")
		drop(object.Equal(s["clusterIP"], is["clusterIP"]) && object.Equal(s["clusterIPs"], is["clusterIPs"]), "clusterIP", "clusterIPs")
	}
	if s.hasNodePorts() && !is.hasNodePorts() && object.ContainsAll(s.nodePorts(), is.nodePorts()) {
		for _, port := range kinds.Items(is, "ports") {
			delete(port, "nodePort")
		}
	}
	drop(s.checked() && !is.checked(), "healthCheckNodePort")
	drop(s["type"] == "LoadBalancer" && is["type"] != "LoadBalancer", "allocateLoadBalancerNodePorts", "loadBalancerClass")
	drop(s.reachable() && !is.reachable(), "externalTrafficPolicy")
	if !is.HasAddress() {
		delete(is, "internalTrafficPolicy") // defaultOnReadInternalTrafficPolicy
	}
}

// DependsOnType tells whether the API server drops the field of a Service where its type has no use for it.
func DependsOnType(path object.Path) bool {
	if len(path) < 2 || path[0].Name != "spec" {
		return false
	}
	own := []string{
		"healthCheckNodePort", "allocateLoadBalancerNodePorts", "loadBalancerClass", "externalTrafficPolicy", "internalTrafficPolicy",
	}
	name := path[1].Name
	return slices.Contains(own, name) || slices.Contains(addressFields(), name) || path[len(path)-1].Name == "nodePort"
}

// ChangesService reports whether a Service becomes one of another type, or one that is checked for health differently.
func ChangesService(key object.Key, live, result map[string]any) bool {
	was, is := ServiceOf(live), ServiceOf(result)
	return key.GroupKind().String() == "Service" && (!object.Equal(was["type"], is["type"]) || was.checked() != is.checked())
}
