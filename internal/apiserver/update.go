package apiserver

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Creation is a new object that the API server checks.
type Creation struct {
	Ref object.Ref
	// Definition is the CustomResourceDefinition of the kind. It is nil for a native kind, or if it was not read.
	Definition *kinds.CustomSchema
	// Text is the object that is sent to the server, and Stored is the normal form of what the server would store.
	Text, Stored map[string]any
}

// Undecodable returns the reason why the API server cannot decode the object, or "" if it can.
func (c Creation) Undecodable() string {
	return undecodedReason(undecoded(c.Text, kinds.Native().Shape(c.Ref.GVK()), nil))
}

// Invalid returns the reason why the API server refuses an object that it can decode, or "" if no rule here refuses it.
func (c Creation) Invalid() string {
	return Join(invalidReason(c.Ref.Key, c.Stored), customReason(c.Definition, c.Ref, nil, c.Stored))
}

// Update is a change of a live object that the API server checks.
type Update struct {
	Ref        object.Ref
	Definition *kinds.CustomSchema
	// Text is the live object as it was read. Live and Result are the normal forms before and after the write.
	Text, Live, Result map[string]any
}

// Refused returns the reason why the API server refuses the update, or "" if no rule here refuses it, and the immutable fields among the
// reasons. CheckTypes says to look for values that the server cannot decode: any write except a strategic patch may contain them.
func (u Update) Refused(checkTypes bool) (reason string, immutable []object.Path) {
	if checkTypes {
		fresh := slices.DeleteFunc(undecoded(u.Result, kinds.Native().Shape(u.Ref.GVK()), nil), func(path object.Path) bool {
			was, _ := path.Lookup(u.Live)
			is, _ := path.Lookup(u.Result)
			return object.Equal(was, is) // live decodes, so an unchanged value does too
		})
		if len(fresh) > 0 {
			return undecodedReason(fresh), nil // the server checks nothing else then
		}
	}
	immutable = u.immutableFields()
	return Join(immutableReason(immutable), finalizersReason(u), newlyInvalidReason(u.Ref.Key, u.Result, u.Live),
		customReason(u.Definition, u.Ref, u.Live, u.Result)), immutable
}

// RefusedFields returns the part of Refused about native fields: immutable ones, and those that contradict each other.
func (u Update) RefusedFields() string {
	reason := immutableReason(u.immutableFields())
	if invalid := invalidReason(u.Ref.Key, u.Result); invalid != invalidReason(u.Ref.Key, u.Live) {
		reason = Join(reason, invalid)
	}
	return reason
}

// immutableReason names immutable fields.
func immutableReason(fields []object.Path) string {
	if len(fields) == 0 {
		return ""
	}
	return "immutable: " + JoinPaths(fields) + " cannot be changed; delete and re-create the object"
}

// Join returns the reasons that are not empty as one text.
func Join(reasons ...string) string {
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), "; ")
}

// JoinPaths returns a list of paths for people.
func JoinPaths(paths []object.Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}

// ApplyServerRules changes result, which is live after Helm's patch, into what the API server stores: for some kinds, the server
// removes or restores values. Both are normal forms; result is changed in place.
//
// A Service has one of four types. The server removes what the new type does not use, and restores what it had allocated if the patch
// leaves it out (kubernetes v1.36.3 pkg/registry/core/service/storage/storage.go beginUpdate, then pkg/registry/core/service/strategy.go
// PrepareForUpdate). What it newly allocates cannot be predicted. The spec of a CertificateSigningRequest never changes
// (pkg/registry/certificates/certificates/strategy.go PrepareForUpdate). Admission restores the priority that it had resolved for a Pod.
func ApplyServerRules(key object.Key, live, result kinds.State) {
	if rule := serverRule(key); rule != nil {
		rule(live.Object(), result.Object())
	}
}

// HasServerRules reports whether ApplyServerRules may change objects of the kind, even if the patch changes nothing.
func HasServerRules(key object.Key) bool { return serverRule(key) != nil }

func serverRule(key object.Key) func(was, is map[string]any) {
	switch key.GroupKind() {
	case schema.GroupKind{Kind: "Service"}:
		return func(was, is map[string]any) {
			if before, after := ServiceOf(was), ServiceOf(is); before != nil && after != nil {
				before.restoreAllocated(after)
				before.dropUnused(after)
			}
		}
	case schema.GroupKind{Kind: "Namespace"}:
		return labelNamespace
	case schema.GroupKind{Kind: "Pod"}:
		return func(was, is map[string]any) { restorePriority(object.Child(was, "spec"), object.Child(is, "spec")) }
	case schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		return func(was, is map[string]any) { restoreTarget(object.Child(was, "spec"), object.Child(is, "spec")) }
	case schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:
		return func(was, is map[string]any) {
			if spec := object.Child(was, "spec"); spec != nil && is != nil {
				is["spec"] = object.Copy(spec)
			}
		}
	}
	return nil
}

// restorePriority restores the priority that admission resolved from the class of a Pod, if a write leaves it out
// (kubernetes v1.36.3 plugin/pkg/admission/priority/admission.go admitPod).
func restorePriority(was, is map[string]any) {
	for _, name := range []string{"priority", "preemptionPolicy"} {
		kinds.CopyDefault(is, name, was, name)
	}
}

// labelNamespace restores the label with the name of a namespace, whatever the write says (kubernetes v1.36.3
// pkg/apis/core/v1/defaults.go SetDefaults_Namespace).
func labelNamespace(was, is map[string]any) {
	const label = "kubernetes.io/metadata.name"
	name, labelled := object.Child(object.Child(was, "metadata"), "labels")[label]
	if !labelled || is == nil {
		return
	}
	metadata, labels := maps.Clone(object.Child(is, "metadata")), map[string]any{}
	maps.Copy(labels, object.Child(metadata, "labels"))
	labels[label] = name
	metadata["labels"], is["metadata"] = labels, metadata
}

// restoreTarget restores the target of an autoscaler that is read at version 1: the server stores version 2, which gives this target to
// an autoscaler without metrics (kubernetes v1.36.3 pkg/apis/autoscaling/v2/defaults.go SetDefaults_HorizontalPodAutoscaler).
func restoreTarget(was, is map[string]any) {
	if was["targetCPUUtilizationPercentage"] != nil {
		kinds.SetDefault(is, "targetCPUUtilizationPercentage", int64(80))
	}
}

// service is the spec of a Service's normal form.
type service map[string]any

// ServiceOf returns the spec of a Service.
func ServiceOf(obj map[string]any) service { return object.Child(obj, "spec") }

// HasAddress reports whether a Service of this type has an address in the cluster.
func (s service) HasAddress() bool { return s["type"] != "ExternalName" }

// headless reports whether a Service asks for no address.
func (s service) headless() bool {
	return s["clusterIP"] == "None" || object.Equal(s["clusterIPs"], []any{"None"})
}

// hasNodePorts reports whether a Service of this type may have node ports.
func (s service) hasNodePorts() bool { return s["type"] == "NodePort" || s["type"] == "LoadBalancer" }

// allocatesNodePorts is like hasNodePorts, but false for load balancers that want none.
func (s service) allocatesNodePorts() bool {
	return s["type"] == "NodePort" || s["type"] == "LoadBalancer" && s["allocateLoadBalancerNodePorts"] != false
}

// hasHealthCheck reports whether the API server allocates a port for health checks to the Service.
func (s service) hasHealthCheck() bool {
	return s["type"] == "LoadBalancer" && s["externalTrafficPolicy"] == "Local"
}

// MayHave reports whether a Service of this type may have an allocated field at all.
func (s service) MayHave(name string) bool {
	switch name {
	case "nodePort":
		return s.hasNodePorts()
	case "healthCheckNodePort":
		return s.hasHealthCheck()
	}
	return s.HasAddress() || !slices.Contains(addressFields(), name)
}

// isExternal reports whether a Service gets traffic from outside the cluster.
func (s service) isExternal() bool {
	return s.hasNodePorts() || s["type"] == "ClusterIP" && !object.IsZero(s["externalIPs"])
}

// addressFields are the fields that only a Service with an address has.
func addressFields() []string {
	return []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}
}

// restoreAllocated: patchAllocatedValues, normalizeClusterIPs, and the part of initIPFamilyFields for a Service that is reduced to one
// family.
func (s service) restoreAllocated(is service) {
	if s.HasAddress() && is.HasAddress() {
		for _, name := range addressFields() {
			kinds.CopyDefault(is, name, s, name)
		}
	}
	if s.allocatesNodePorts() && is.allocatesNodePorts() {
		s.restoreNodePorts(is)
	}
	if s.hasHealthCheck() && is.hasHealthCheck() {
		kinds.CopyDefault(is, "healthCheckNodePort", s, "healthCheckNodePort")
	}
	s.alignClusterIPs(is)
	if is["ipFamilyPolicy"] != "SingleStack" || !is.HasAddress() {
		return
	}
	for _, name := range []string{"clusterIPs", "ipFamilies"} {
		if list, _ := is[name].([]any); len(list) > 1 && object.Equal(list, s[name]) {
			is[name] = slices.Clone(list[:1])
		}
	}
}

// alignClusterIPs changes or removes clusterIPs if only clusterIP was changed or removed.
func (s service) alignClusterIPs(is service) {
	address := is["clusterIP"]
	if object.Equal(address, s["clusterIP"]) || !object.Equal(s["clusterIPs"], is["clusterIPs"]) || s["clusterIPs"] == nil {
		return
	}
	if is["clusterIPs"] = []any{address}; object.IsZero(address) {
		delete(is, "clusterIPs")
	}
}

// restoreNodePorts gives each port without a node port the one that the port of its name had, unless another port has it now.
func (s service) restoreNodePorts(is service) {
	had := map[string]any{}
	for _, port := range object.Items(s, "ports") {
		name, _ := port["name"].(string)
		had[name] = port["nodePort"]
	}
	kept := is.nodePorts()
	for _, port := range object.Items(is, "ports") {
		name, _ := port["name"].(string)
		if number := had[name]; port["nodePort"] == nil && number != nil && !object.ContainsAll(kept, []any{number}) {
			port["nodePort"] = number
		}
	}
}

// nodePorts lists the node ports that are set.
func (s service) nodePorts() []any {
	var out []any
	for _, port := range object.Items(s, "ports") {
		if !object.IsZero(port["nodePort"]) {
			out = append(out, port["nodePort"])
		}
	}
	return out
}

// Numbers returns the addresses and node ports in the normal form of a Service, each with its field. The port of the health check is a node
// port, too. No other Service of the cluster can have them (kubernetes v1.36.3 pkg/registry/core/service/storage/alloc.go allocateCreate).
func Numbers(obj map[string]any) map[string]string {
	s, out := ServiceOf(obj), map[string]string{}
	list, _ := s["clusterIPs"].([]any)
	for _, v := range append(slices.Clip(list), s["clusterIP"]) {
		if address, err := netip.ParseAddr(fmt.Sprint(v)); err == nil { // "None" is no address
			out[address.String()] = "spec.clusterIPs"
		}
	}
	for i, port := range object.Items(s, "ports") {
		if number := integer(port["nodePort"]); number != 0 && s.hasNodePorts() {
			out[fmt.Sprint(number)] = fmt.Sprintf("spec.ports[%d].nodePort", i)
		}
	}
	if number := integer(s["healthCheckNodePort"]); number != 0 && s.hasHealthCheck() {
		out[fmt.Sprint(number)] = "spec.healthCheckNodePort"
	}
	return out
}

// dropUnused: dropTypeDependentFields. It keeps fields that change together with the type; validation refuses them.
func (s service) dropUnused(is service) {
	drop := func(unused bool, names ...string) {
		for _, name := range names {
			if unused && object.Equal(s[name], is[name]) {
				delete(is, name)
			}
		}
	}
	if s.HasAddress() && !is.HasAddress() {
		drop(true, "ipFamilies", "ipFamilyPolicy")
		drop(object.Equal(s["clusterIP"], is["clusterIP"]) && object.Equal(s["clusterIPs"], is["clusterIPs"]), "clusterIP", "clusterIPs")
	}
	if s.hasNodePorts() && !is.hasNodePorts() && object.ContainsAll(s.nodePorts(), is.nodePorts()) {
		for _, port := range object.Items(is, "ports") {
			delete(port, "nodePort")
		}
	}
	drop(s.hasHealthCheck() && !is.hasHealthCheck(), "healthCheckNodePort")
	drop(s["type"] == "LoadBalancer" && is["type"] != "LoadBalancer", "allocateLoadBalancerNodePorts", "loadBalancerClass")
	drop(s.isExternal() && !is.isExternal(), "externalTrafficPolicy")
}

// DependsOnType reports whether the API server drops the field of a Service if its type does not use it.
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

// ChangesService reports whether a Service gets another type, or gets or loses its health check.
func ChangesService(key object.Key, live, result map[string]any) bool {
	was, is := ServiceOf(live), ServiceOf(result)
	return key.GroupKind().String() == "Service" && (!object.Equal(was["type"], is["type"]) || was.hasHealthCheck() != is.hasHealthCheck())
}
