package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/pkg/live"
)

// This file completes the names of releases in the shell. The commands that print completion scripts come from cobra.

// completionTimeout is how long the shell waits for the names of releases. Somebody pressed the tab key and waits too.
const completionTimeout = 3 * time.Second

// completeRelease returns the function that completes the arguments of diff and fix: the releases of the namespace for the first one, and
// files for the chart. It reads only the metadata of the records, and on errors it prints nothing, since the user is in the middle of a
// command line.
func completeRelease(c *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// The second argument of diff is a chart, often a directory.
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		at, err := c.resolve()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		at.config.Timeout = completionTimeout
		cluster, err := live.New(at.config, c.options())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		storage, err := c.records(cluster)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		store, err := storage.Namespace(at.namespace)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		// Some names are better than none if a part of the records cannot be read.
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

// completeList returns the function that completes the argument of list, which has no chart.
func completeList(c *connection) cobra.CompletionFunc {
	first := completeRelease(c)
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, word)
	}
}
