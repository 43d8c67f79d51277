package apiserver

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Number is an address or a node port that only one Service of a cluster may have, and the field that the API server names.
type Number struct {
	Field string
	Value any
}

// Numbers returns the addresses and node ports in the normal form of a Service, in the order in which the API server allocates them
// (kubernetes v1.36.3 pkg/registry/core/service/storage/alloc.go allocateCreate). Other kinds have none.
func Numbers(key object.Key, obj map[string]any) []Number {
	s := ServiceOf(obj)
	if key.GroupKind().String() != "Service" || !s.HasAddress() {
		return nil
	}
	var out []Number
	list, _ := s["clusterIPs"].([]any)
	for _, v := range append(slices.Clip(list), s["clusterIP"]) {
		text, _ := v.(string)
		if address, err := netip.ParseAddr(text); err == nil { // "None" is no address
			out = append(out, Number{"spec.clusterIPs", address})
		}
	}
	for i, port := range object.Items(s, "ports") {
		if number := integer(port["nodePort"]); number != 0 && s.hasNodePorts() {
			out = append(out, Number{fmt.Sprintf("spec.ports[%d].nodePort", i), number})
		}
	}
	if number := integer(s["healthCheckNodePort"]); number != 0 && s.hasHealthCheck() {
		out = append(out, Number{"spec.healthCheckNodePort", number})
	}
	return out
}
