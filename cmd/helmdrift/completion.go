package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// completionPatience is how long a shell waits for names.
const completionPatience = 3 * time.Second

// completeRelease offers the releases of the namespace, from metadata only, and files for the chart.
func completeRelease(c *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		at, err := c.resolve()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		at.config.Timeout = completionPatience
		cluster, err := live.New(at.config, c.options())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		store, err := release.Open(c.driver, at.namespace, cluster.Metadata(), cluster.Dynamic())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		found, err := store.Names(cmd.Context())
		if err != nil && len(found) == 0 {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []cobra.Completion
		for _, r := range found {
			names = append(names, cobra.CompletionWithDesc(r.Name, fmt.Sprintf("revision %d, %s", r.Revision, r.Status)))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
