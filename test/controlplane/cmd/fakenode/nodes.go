package main

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// playedAnnotation marks the nodes that KWOK plays.
const playedAnnotation = "kwok.x-k8s.io/node"

// createNode creates a Node object with room for more pods than any test has, unless it exists. KWOK adds the conditions and renews the
// lease, as the kubelet does.
func createNode(ctx context.Context, client kubernetes.Interface, number, kubeletPort int) error {
	name := nodeName(number)
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1000"),
		corev1.ResourceMemory:           resource.MustParse("4Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("4Ti"),
		corev1.ResourcePods:             resource.MustParse("100k"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{playedAnnotation: "fake"},
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: runtime.GOARCH,
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			// The API server asks for logs at the external address. Pods of the host's network have the internal one, which must not be a
			// loopback address, because a Service cannot have such an endpoint.
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", number)},
				{Type: corev1.NodeExternalIP, Address: "127.0.0.1"},
				{Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(kubeletPort)}},
			NodeInfo:        corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: runtime.GOARCH},
		},
	}
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create node: %w", err)
	}
	return nil
}

// nodeName returns the name of a node, counted from 1.
func nodeName(number int) string {
	if number == 1 {
		return "fakenode"
	}
	return fmt.Sprintf("fakenode-%d", number)
}
