// Fakenode is a node without a machine. It binds every pending pod of the default
// scheduler to itself and reports it as running and ready, or as succeeded if its
// restart policy lets it end. It imitates the scheduler and the kubelet just well enough for the real
// controllers to finish their work on a release; volumes, images and probes always
// succeed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of an administrator")
	name := flag.String("name", "fakenode", "name of the node")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, *kubeconfig, *name); err != nil {
		fmt.Fprintln(os.Stderr, "fakenode:", err)
		os.Exit(1)
	}
}

// run registers the node, follows all pods, and renews the node until ctx ends.
func run(ctx context.Context, kubeconfig, name string) error {
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
	node := node{client: client, name: name}
	if err := node.register(ctx); err != nil {
		return err
	}
	pods := pods{client: client, node: name, addresses: map[string]string{}}
	if err := pods.watch(ctx); err != nil {
		return err
	}
	for {
		if err := node.renew(ctx); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(10 * time.Second):
		}
	}
}

// watch calls sync for every pod, on each change and every two seconds, so that a
// failed step is repeated.
func (p *pods) watch(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(p.client, 2*time.Second)
	informer := factory.Core().V1().Pods().Informer()
	handle := func(object any) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return
		}
		if err := p.sync(ctx, pod); err != nil && ctx.Err() == nil {
			log.Printf("%s/%s: %v", pod.Namespace, pod.Name, err)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, object any) { handle(object) },
	})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("watch pods: no answer")
	}
	return nil
}
