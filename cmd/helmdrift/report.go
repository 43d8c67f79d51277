package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is the command report: it reads saved reports and prints them as one. It asks no cluster.

// reportOptions are the flags of report: which findings count, and how the report looks.
type reportOptions struct {
	printOptions
	ignoreOptions
}

// newReport returns the command report.
func newReport(s streams) *cobra.Command {
	o := reportOptions{printOptions: newPrintOptions()}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Print saved reports in any format, several as one",
		Long: `report reads reports that helmdrift diff -o json or -o yaml wrote, and prints them as one. A FILE -
is standard input. Parts of a fleet (diff --shard) must be complete: a part that is missing or
there twice is an error. --fail-on and --ignore apply as in helmdrift diff; a rule that needs more
than a report has is refused.

` + exitHelp,
		Example: `  helmdrift diff -A -o json > fleet.json; helmdrift report fleet.json
  helmdrift report part-0.json part-1.json part-2.json -o prometheus
  helmdrift report fleet.json --ignore /spec/replicas --fail-on +unmanaged`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.New(errors.New("report needs a FILE"), "helmdrift diff -o json > FILE writes one")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.writes(output.Rules) {
				return hint.New(errors.New("-o ignore needs the objects, which a saved report does not have"),
					"helmdrift diff -o ignore prints the rules")
			}
			if o.writes(output.Diff) {
				return hint.New(errors.New("-o diff needs the manifest of the release, which a saved report does not have"),
					"helmdrift diff prints the diff: -o diff, or --report diff=FILE beside another format")
			}
			return runReport(s, o, args)
		},
	}
	o.printOptions.addFlags(cmd)
	o.addSavedFlags(cmd.Flags())
	return cmd
}

// runReport reads the files and prints one report. A single file keeps its form: the report of one release stays one.
func runReport(s streams, o reportOptions, files []string) error {
	var all []report.Named
	for _, name := range files {
		r, err := saved.Read(name, s.in)
		if err != nil {
			return err
		}
		all = append(all, report.Named{Name: name, Report: r})
	}
	r := all[0].Report
	if len(all) > 1 || r.Scan != nil {
		var err error
		if r, err = report.Merge(version, all); err != nil {
			return hint.New(err, "give the reports of all parts of one selection, each once")
		}
	}
	now := time.Now()
	if err := o.apply(r, now); err != nil {
		return err
	}
	if err := o.print(s, r, s.display(s.out, o.color, now)); err != nil {
		return err
	}
	return o.failOn.status(r)
}
