package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/progress"
	"github.com/helmdrift/helmdrift/internal/search"
	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/report/listing"
)

// listOptions are the flags of list. The flags that select releases have the same meaning as for diff.
type listOptions struct {
	search.Flags
	format output.Format
	color  cli.OneOf
}

// newList returns the command list.
func newList(s cli.Streams, c *cli.Connection, _ guest) *cobra.Command {
	o := listOptions{format: output.Text, color: cli.NewColor()}
	cmd := &cobra.Command{
		Use:     "list [NAME[,NAME...]]",
		Aliases: []string{"ls"},
		Short:   "List the releases that diff would compare",
		Long: `list shows the last revision of each release of the namespace, with -A those of all namespaces:
its status and chart, which Helm wrote its record, how Helm applied it, and its age. helmdrift diff
with the same flags compares the releases that list shows. Uninstalled releases whose history was
kept are listed with --status uninstalled.

Exit codes:
  0  all releases were read
  1  usage error or failure, or something could not be read; no release is an error, too`,
		Example: `  helmdrift list -n prod
  helmdrift list -A -l team=shop --exclude '^test-'
  helmdrift list -A --status failed,pending-upgrade
  helmdrift list -A --contexts dev,stage,prod -o json`,
		Args:              selectedNames,
		ValidArgsFunction: completeList(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return runList(cmd.Context(), s, c, o, args, cmd.Flags())
		},
	}
	fs := cmd.Flags()
	o.AddFlags(fs)
	cli.AddOutputFlag(cmd, &o.format, "format of the list", output.FixFormats())
	cli.AddColorFlag(fs, &o.color)
	return cmd
}

// selectedNames refuses more than one argument: names are separated by commas, as for diff, whose second argument is a chart.
func selectedNames(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return hint.New(errors.New("list takes one argument"), "several releases are written with commas: helmdrift list web,api")
	}
	return nil
}

// check refuses values that make no sense.
func (o *listOptions) check(flags *pflag.FlagSet) error {
	if !slices.Contains(output.FixFormats(), string(o.format)) {
		return hint.New(fmt.Errorf("-o %s: list has the formats %s", o.format, strings.Join(output.FixFormats(), ", ")),
			"helmdrift diff with the same flags has all formats")
	}
	return o.Flags.Check(flags)
}

// runList reads the last record of each selected release and prints the list.
func runList(ctx context.Context, s cli.Streams, c *cli.Connection, o listOptions, args []string, flags *pflag.FlagSet) error {
	var names []string
	if len(args) > 0 {
		names = strings.Split(args[0], ",")
	}
	clusters, err := search.New(s, c, o.Flags, names)
	if err != nil {
		return err
	}
	line := progress.NewScan(s.Err, s.Display(s.Err, o.color, time.Now()).Text, time.Now)
	line.Reading = true
	clusters.ShowProgress(line)
	releases, err := search.InClusters(ctx, clusters,
		func(source fleet.Source, found fleet.Found, show func(fleet.Progress)) ([]listing.Release, error) {
			return source.List(ctx, found, o.Concurrency, show)
		})
	if err != nil {
		return err
	}
	for i, r := range releases {
		releases[i].Error = r.Error.Map(s.Known.Scrub)
	}
	if err := clusters.CheckFound(len(releases)); err != nil {
		return err
	}
	now := time.Now()
	list := listing.New(version, now, releases, clusters.Errors)
	look := s.Display(s.Out, o.color, now)
	look.Text.Diff = cli.CommandLine(append([]string{"helmdrift", "diff"}, args...), flags,
		append([]string{"namespace"}, search.FlagNames()...)...)
	if err := output.WriteList(s.Out, o.format, list, look); err != nil {
		return err
	}
	if list.HasError() {
		return cli.ExitStatus(cli.ExitFailure)
	}
	return nil
}

// completeList returns the function that completes the argument of list. list takes no chart.
func completeList(c *cli.Connection) cobra.CompletionFunc {
	first := cli.CompleteRelease(c)
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, word)
	}
}

// listHelp returns the headings of the help of list.
func listHelp() []cli.FlagGroup {
	return slices.Concat([]cli.FlagGroup{
		cli.Group("Which releases", search.FlagNames()...),
		cli.Group("Output", "output", "color"),
	}, cli.CommonGroups())
}
