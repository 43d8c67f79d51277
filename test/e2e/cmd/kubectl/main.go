// Command kubectl is the real kubectl. Its module has no main package, so that this one calls what it exports. Fleetbench compares
// helmdrift with it, and TestAbsorbPatch has its kustomize.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() { os.Exit(cli.Run(cmd.NewDefaultKubectlCommand())) }
