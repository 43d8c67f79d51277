package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/reporting"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/accept"
)

// This file is the command report: it reads saved reports and prints them as one. It needs no cluster.

// reportOptions are the flags of report: which findings count, and how the report looks.
type reportOptions struct {
	reporting.PrintOptions
	cli.IgnoreOptions
	filter cli.SavedFilter
	reporting.TimeOptions
}

// newReport returns the command report.
func newReport(s cli.Streams) *cobra.Command {
	o := reportOptions{PrintOptions: reporting.NewPrintOptions()}
	cmd := &cobra.Command{
		Use:   "report FILE|DIR...",
		Short: "Print saved reports in any format but diff, several as one",
		Long: `report reads reports that helmdrift diff -o json or -o yaml wrote, and prints them as one. A FILE -
is standard input, and a DIR stands for its newest report. Parts of a fleet (diff --shard) must be
complete: a part that is missing or there twice is an error, and so are parts that have no release
together. --fail-on and --ignore apply as in helmdrift diff; a rule that needs more than a report
has is refused.

` + reporting.ExitHelp,
		Example: `  helmdrift diff -A -o json > fleet.json; helmdrift report fleet.json
  helmdrift report part-0.json part-1.json part-2.json -o prometheus
  helmdrift report fleet.json --since 1h --timeline
  helmdrift report fleet.json --ignore /spec/replicas --fail-on +unmanaged`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.New(errors.New("report needs a FILE"), "helmdrift diff -o json > FILE writes one")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.Writes(output.Diff) {
				return hint.New(errors.New("-o diff needs the manifest of the release, which a saved report does not have"),
					"helmdrift diff prints the diff: -o diff, or --report diff=FILE beside another format")
			}
			if err := o.TimeOptions.Check(&o.PrintOptions); err != nil {
				return err
			}
			return runReport(s, o, args)
		},
	}
	o.PrintOptions.AddFlags(cmd, output.SavedFormats())
	o.AddSavedFlags(cmd.Flags())
	o.filter.AddFlags(cmd)
	cli.WithoutConnection(cmd, cli.ReadsFiles)
	o.TimeOptions.AddFlags(cmd.Flags())
	return cmd
}

// reportHelp returns the headings of the help of report.
func reportHelp() []cli.FlagGroup {
	return []cli.FlagGroup{
		cli.Group("Which releases", cli.SavedFilterFlags()...),
		cli.Group("What counts", "fail-on", "since"),
		cli.Group("What to ignore", cli.SavedIgnoreFlags()...),
		cli.Group("Output", "output", "timeline", "report", "quiet", "verbose", "show-ignored", "no-pager", "color"),
		cli.OfflineGroup(),
	}
}

// checkParts returns an error if parts have no release, unless something could not be searched. A part may have none, so only a report of
// all parts says that a selection finds nothing, which is an error as without --shard. One is the scan of a part, or of no part.
func checkParts(one *report.Scan, merged *report.Report) error {
	if one == nil || one.Shard == nil || len(merged.Releases)+len(merged.Errors) > 0 {
		return nil
	}
	where := ""
	if clusters := merged.Scan.Clusters; len(clusters) > 0 {
		where = " in cluster " + strings.Join(clusters, ", ")
	}
	return hint.New(errors.New("no part of the selection has a release"+where),
		"helmdrift list with the flags of the parts, but without --shard, says why; a namespace, a label or a name may be mistyped")
}

// runReport reads the files and prints one report. A single file keeps its form: the report of one release stays one.
func runReport(s cli.Streams, o reportOptions, files []string) error {
	var all []saved.Named
	for _, name := range files {
		name, inFolder, err := saved.Newest(name)
		if err != nil {
			return err
		}
		if inFolder {
			fmt.Fprintln(s.Err, "the newest report is "+s.Terminal().File(name))
		}
		r, err := saved.Read(name, s.In)
		if err != nil {
			return err
		}
		all = append(all, saved.Named{Name: name, Report: r})
	}
	r, times := all[0].Report, saved.Times(all)
	if len(all) > 1 || r.Scan != nil {
		var err error
		if r, err = saved.Merge(version, all); err != nil {
			return hint.New(err, "give the reports of all parts of one selection, each once")
		}
		if err := checkParts(all[0].Report.Scan, r); err != nil {
			return err
		}
		_, skipped := saved.Idle(all) // of --only, the merged report has errors
		for _, value := range skipped {
			s.Print("warning: ", value+report.NoMatch)
		}
	}
	if err := o.filter.Apply(r); err != nil {
		return err
	}
	now := time.Now()
	if err := o.Apply(r, now); err != nil {
		return err
	}
	if o.Writes(output.Rules) && !accept.HasPatterns(r) {
		return hint.New(errors.New("-o ignore needs the patterns of the fields, which reports of older versions do not have"),
			"helmdrift diff -o ignore prints the rules")
	}
	if err := o.FailOn.CheckClaims(r); err != nil {
		return err
	}
	if err := o.Print(s, r, o.TimeOptions.Choose(r, times, s.Display(s.Out, o.Color, now))); err != nil {
		return err
	}
	return o.FailOn.Status(r)
}
