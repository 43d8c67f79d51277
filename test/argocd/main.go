// Command argocd is the application-controller or the repo-server of Argo CD, whichever its first argument names. TestArgoCD runs both.
// Argo CD's own program also links its API server, its command line and others, which takes half as long again to compile.
package main

import (
	"fmt"
	"os"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

func main() {
	commands := map[string]func() *cobra.Command{"application-controller": controller.NewCommand, "repo-server": reposerver.NewCommand}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: argocd application-controller|repo-server [flags]")
		os.Exit(1)
	}
	command := commands[os.Args[1]]()
	command.SetArgs(os.Args[2:])
	if err := command.Execute(); err != nil {
		os.Exit(1)
	}
}
