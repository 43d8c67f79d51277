package apiserver

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestApplyServerRules checks what the API server restores and drops, beyond testdata/threeway/immutable-service.txtar. The
// field live is what a server returned, and want is what it returned for the patched object.
func TestApplyServerRules(t *testing.T) {
	for _, tc := range []struct{ name, live, patched, want string }{
		{"a second family is dropped with the policy",
			"type: ClusterIP\nclusterIP: 10.0.0.1\nclusterIPs: [10.0.0.1, fd00::1]\nipFamilies: [IPv4, IPv6]\nipFamilyPolicy: PreferDualStack",
			"type: ClusterIP\nclusterIP: 10.0.0.1\nclusterIPs: [10.0.0.1, fd00::1]\nipFamilies: [IPv4, IPv6]\nipFamilyPolicy: SingleStack",
			"type: ClusterIP\nclusterIP: 10.0.0.1\nclusterIPs: [10.0.0.1]\nipFamilies: [IPv4]\nipFamilyPolicy: SingleStack"},
		{"a cleared address clears its list",
			"type: ClusterIP\nclusterIP: None\nclusterIPs: [None]\nipFamilies: [IPv4]\nipFamilyPolicy: SingleStack",
			"type: ExternalName\nclusterIPs: [None]\nipFamilies: [IPv4]\nipFamilyPolicy: SingleStack",
			"type: ExternalName"},
		{"an address that changes with the type is kept, and refused later",
			"type: ClusterIP\nclusterIP: 10.0.0.1\nclusterIPs: [10.0.0.1]",
			"type: ExternalName\nclusterIP: 10.0.0.2\nclusterIPs: [10.0.0.1]",
			"type: ExternalName\nclusterIP: 10.0.0.2\nclusterIPs: [10.0.0.2]"},
		{"a node port is restored by the name of its port, unless another port has it",
			"type: NodePort\nports: [{name: a, port: 1, nodePort: 31001}, {name: b, port: 2, nodePort: 31002}]",
			"type: NodePort\nports: [{name: a, port: 1}, {name: b, port: 9}, {name: c, port: 3, nodePort: 31002}]",
			"type: NodePort\nports: [{name: a, port: 1, nodePort: 31001}, {name: b, port: 9}, {name: c, port: 3, nodePort: 31002}]"},
		{"a new node port of a type without node ports is kept, and refused later",
			"type: NodePort\nports: [{port: 1, nodePort: 31001}]",
			"type: ClusterIP\nports: [{port: 1, nodePort: 31002}]",
			"type: ClusterIP\nports: [{port: 1, nodePort: 31002}]"},
		{"nothing is restored to a load balancer without node ports",
			"type: LoadBalancer\nallocateLoadBalancerNodePorts: false\nports: [{port: 1, nodePort: 31001}]",
			"type: LoadBalancer\nallocateLoadBalancerNodePorts: false\nports: [{port: 1}]",
			"type: LoadBalancer\nallocateLoadBalancerNodePorts: false\nports: [{port: 1}]"},
		{"the port of the health check is dropped with the policy",
			"type: LoadBalancer\nexternalTrafficPolicy: Local\nhealthCheckNodePort: 31003",
			"type: LoadBalancer\nexternalTrafficPolicy: Cluster\nhealthCheckNodePort: 31003",
			"type: LoadBalancer\nexternalTrafficPolicy: Cluster"},
		{"external addresses keep the traffic policy",
			"type: NodePort\nexternalTrafficPolicy: Local\nexternalIPs: [1.2.3.4]",
			"type: ClusterIP\nexternalTrafficPolicy: Local\nexternalIPs: [1.2.3.4]",
			"type: ClusterIP\nexternalTrafficPolicy: Local\nexternalIPs: [1.2.3.4]"},
	} {
		result := specOf(t, tc.patched)
		ApplyServerRules(object.Key{Kind: "Service"}, kinds.State{Value: specOf(t, tc.live)}, kinds.State{Value: result})
		if diff := cmp.Diff(specOf(t, tc.want), result); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	request := object.Key{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}
	result := specOf(t, "signerName: other")
	ApplyServerRules(request, kinds.State{Value: specOf(t, "signerName: ex.com/a")}, kinds.State{Value: result})
	if diff := cmp.Diff(specOf(t, "signerName: ex.com/a"), result); diff != "" {
		t.Errorf("the spec of a CertificateSigningRequest is changed (-want +got):\n%s", diff)
	}
	autoscaler := object.Key{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
	result = specOf(t, "maxReplicas: 3")
	live := specOf(t, "maxReplicas: 5\ntargetCPUUtilizationPercentage: 50")
	ApplyServerRules(autoscaler, kinds.State{Value: live}, kinds.State{Value: result})
	if diff := cmp.Diff(specOf(t, "maxReplicas: 3\ntargetCPUUtilizationPercentage: 80"), result); diff != "" {
		t.Errorf("an autoscaler of version 1 without a target (-want +got):\n%s", diff)
	}
}

// TestNumbers checks which numbers of a Service the API server allocates for it alone.
func TestNumbers(t *testing.T) {
	for _, tc := range []struct{ spec, want string }{
		{"type: NodePort\nclusterIP: fd00:0::1\nports: [{port: 1}, {port: 2, nodePort: 30001}]",
			"map[30001:spec.ports[1].nodePort fd00::1:spec.clusterIPs]"},
		{"type: LoadBalancer\nclusterIPs: [10.0.0.1, fd00::1]\nports: [{port: 1, nodePort: 30002}]",
			"map[10.0.0.1:spec.clusterIPs 30002:spec.ports[0].nodePort fd00::1:spec.clusterIPs]"},
		{"type: LoadBalancer\nexternalTrafficPolicy: Local\nhealthCheckNodePort: 32100", "map[32100:spec.healthCheckNodePort]"},
		{"type: LoadBalancer\nexternalTrafficPolicy: Cluster\nhealthCheckNodePort: 32100", "map[]"},
		{"type: ClusterIP\nclusterIP: None\nclusterIPs: [None]\nports: [{port: 1, nodePort: 30001}]", "map[]"},
		{"clusterIP: [1]\nclusterIPs: 2\nports: [{nodePort: {}}]\ntype: NodePort", "map[]"},
	} {
		if got := fmt.Sprint(Numbers(specOf(t, tc.spec))); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.spec, got, tc.want)
		}
	}
}

func specOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var spec map[string]any
	readYAML(t, []byte(text), &spec)
	return map[string]any{"spec": spec}
}
