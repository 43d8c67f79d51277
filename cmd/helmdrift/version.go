package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// This file prints the versions of this binary and of the libraries in it.

// version is the version of helmdrift. For a release the linker sets it; the Makefile reads this value. Reports and the user agent have
// it.
var version = "v0.1.0-dev"

// installedVersion returns the version of the module if "go install" has built it, and otherwise the version that the linker set. Only a
// downloaded module has a sum.
func installedVersion(linked string) string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Sum != "" {
		return info.Main.Version
	}
	return linked
}

// newVersion returns the command that prints the versions of this binary and its libraries. These matter because helmdrift predicts what
// these versions of Helm and Kubernetes do.
func newVersion(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the versions of the Helm and Kubernetes libraries inside",
		Args:  cli.NoArguments,
		RunE:  func(*cobra.Command, []string) error { return printVersion(s) },
	}
	cli.WithoutConnection(cmd, cli.NeedsNoCluster)
	return cmd
}

// printVersion prints the line of the command version, which helmdrift --version prints too.
func printVersion(s cli.Streams) error {
	_, err := fmt.Fprintf(s.Out, "helmdrift %s (helm %s, kubernetes %s, %s, %s/%s)\n", version,
		moduleVersion("helm.sh/helm/v3"), moduleVersion("k8s.io/client-go"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// moduleVersion returns the version of a module that is linked in.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown"
}
