// Command argocd has the parts of Argo CD that tests need: its application-controller, its applicationset-controller and its repo-server,
// manifests, which renders sources as the repo-server does, and differences, which compares objects as the controller does. The first
// argument says which. Argo CD's own program also links its API server, its command line and others, which takes half as long again to
// compile.
package main

import (
	"fmt"
	"os"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	sets "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

func main() {
	commands := map[string]func() *cobra.Command{
		"application-controller": controller.NewCommand, "applicationset-controller": sets.NewCommand, "repo-server": reposerver.NewCommand,
		"manifests": newManifests, "differences": newDifferences,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: argocd application-controller|applicationset-controller|repo-server|manifests|differences [flags]")
		os.Exit(1)
	}
	command := commands[os.Args[1]]()
	command.SetArgs(os.Args[2:])
	if err := command.Execute(); err != nil {
		os.Exit(1)
	}
}
