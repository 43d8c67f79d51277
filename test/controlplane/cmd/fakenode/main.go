// Fakenode is a number of nodes without machines. KWOK (sigs.k8s.io/kwok) plays their kubelets: stages.yaml says what becomes of a pod
// that kube-scheduler has bound to one of them. By default it is running and ready at once, or has succeeded if its restart policy lets
// it end; volumes, images and probes always succeed, and a deleted pod is gone at once. A test chooses another course by annotations of
// the pod:
//
//	node.helmdrift.io/ready-after: 2s     the pod runs at once and is ready after this time
//	node.helmdrift.io/unhealthy: TEXT     the pod runs and is never ready; the event Unhealthy has the text
//	node.helmdrift.io/exit-code: "3"      the containers end with this code: the pod fails, or its containers wait in a CrashLoopBackOff
//	node.helmdrift.io/exit-after: 1s      the containers end after this time, counted from ready if there is also a ready-after
//	node.helmdrift.io/log: TEXT           the log of each container
//
// An image whose last part or tag is "missing", such as ex.com/missing or web:missing, cannot be pulled. Pods of another scheduler are
// left alone, because a test runs them itself.
//
// KWOK renews the leases and conditions of the nodes. What it leaves to others is done here: the nodes are created (nodes.go), and the
// API server finds the logs of pods (logs.go).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of an administrator")
	count := flag.Int("nodes", 1, "how many nodes there are: fakenode, fakenode-2 and so on")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, *kubeconfig, *count); err != nil {
		fmt.Fprintln(os.Stderr, "fakenode:", err)
		os.Exit(1)
	}
}

// run plays the nodes until ctx ends.
func run(ctx context.Context, kubeconfig string, count int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	// Field managers are named after the user agent, so statuses look like those of a real node.
	config.UserAgent = "kubelet"
	config.QPS, config.Burst = 500, 1000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	server := serveLogs(client)
	defer server.Close()
	nodes, err := newController(config, client)
	if err != nil {
		return err
	}
	if err := nodes.Start(log.NewContext(ctx, log.NewLogger(os.Stderr, log.LevelWarn))); err != nil {
		return fmt.Errorf("start KWOK: %w", err)
	}
	for number := 1; number <= count; number++ {
		if err := createNode(ctx, client, number, portOf(server)); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// newController returns KWOK with the stages of this program.
func newController(config *rest.Config, client kubernetes.Interface) (*controllers.Controller, error) {
	writer, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	stages, err := loadStages()
	if err != nil {
		return nil, err
	}
	nodes, err := controllers.NewController(controllers.Config{
		TypedClient:   client,
		DynamicClient: writer,
		RESTMapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)),
		// A test may create nodes of its own.
		ManageNodesWithAnnotationSelector: playedAnnotation + "=fake",
		CIDR:                              "10.244.0.0/16",
		LocalStages:                       stages,
		FuncMap:                           gotpl.FuncMap{"KubeletEvent": kubeletEvent},
		ID:                                "fakenode",
		NodeLeaseDurationSeconds:          40,
		NodeLeaseParallelism:              1,
		NodePlayStageParallelism:          1,
		PodPlayStageParallelism:           8,
		PodsOnNodeSyncParallelism:         1,
	})
	if err != nil {
		return nil, fmt.Errorf("configure KWOK: %w", err)
	}
	return nodes, nil
}
