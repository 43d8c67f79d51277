// Kube-apiserver is the real Kubernetes API server, compiled from its Go
// module so that tests need neither a container runtime nor a download.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
