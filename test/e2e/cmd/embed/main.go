// Command embed is the smallest program that compares a release by importing pkg/drift. TestEmbed runs it against the control plane, and
// the comment of pkg/drift has its lines.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmdrift/helmdrift/pkg/drift"
)

func main() {
	if err := compare(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func compare(ctx context.Context, kubeconfig, namespace, name string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	connection, err := drift.Connect(ctx, config)
	if err != nil {
		return err
	}
	result, err := drift.New(connection, drift.Options{}).Compare(ctx, drift.Target{Namespace: namespace, Release: name})
	if err != nil {
		return err
	}
	release := result.Masked()
	fmt.Println(release.Name, release.Drifted, release.HasError())
	return nil
}
