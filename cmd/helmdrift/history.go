package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/history"
)

// This file is the command history: it reads saved reports in the order of their times and prints the history of each finding. It needs
// no cluster.

// historyOptions are the flags of history. The flags that select releases have the same meaning as for diff.
type historyOptions struct {
	format  cli.FormatOf
	color   cli.OneOf
	filter  cli.SavedFilter
	verbose bool
	noPager bool
}

// newHistory returns the command history.
func newHistory(s cli.Streams, _ *cli.Connection, _ guest) *cobra.Command {
	o := historyOptions{format: cli.NewFormatOf(output.HistoryFormats()), color: cli.NewColor()}
	cmd := &cobra.Command{
		Use:   "history DIR|FILE...",
		Short: "Show from saved reports when each finding came, changed and went",
		Long: `history reads saved reports (helmdrift diff -o json, -o yaml or --report json=FILE), of single releases
and of many, in the order of their times. In a folder, it reads the files *.json, *.yaml and *.yml,
also in the folders below. It shows for each finding when it was seen first and last, how long it
was there, who owned it, and whether it flaps: whether it came back, or its value changed more than
once.

Not seen is not absent: if a release has an error in a report, that report says nothing of what it
does not list.

Exit codes:
  0  all reports were read
  1  usage error or failure`,
		Example: `  helmdrift diff -A --report json=reports/$(date +%s).json
  helmdrift history reports
  helmdrift history reports -n prod --filter '^shop-' -o html > history.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.New(errors.New("history needs a folder of reports"), saved.MakesReports)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runHistory(s, o, args) },
	}
	fs := cmd.Flags()
	cli.AddOutputFlag(cmd, &o.format, "format of the history", output.HistoryFormats())
	o.filter.AddFlags(cmd)
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list findings that ended, too")
	fs.BoolVar(&o.noPager, "no-pager", false, "never show a long history in a pager [HELMDRIFT_PAGER, PAGER]")
	cli.AddColorFlag(fs, &o.color)
	cli.WithoutConnection(cmd, cli.ReadsFiles)
	return cmd
}

// runHistory reads the reports one after another and prints their history. Only the times of all reports are in memory at once.
func runHistory(s cli.Streams, o historyOptions, names []string) error {
	selects, err := o.filter.Selects()
	if err != nil {
		return err
	}
	files, err := saved.ByTime(names)
	if err != nil {
		return err
	}
	builder := history.Builder{Selects: selects}
	for _, f := range files {
		r, err := saved.Read(f.Name, s.In)
		if err == nil {
			err = builder.Add(r)
		}
		if err != nil {
			return err
		}
	}
	look := s.Display(s.Out, o.color, time.Time{})
	look.Text.Verbose = o.verbose
	doc, err := output.HistoryDocument(o.format.Format, builder.History(version), look)
	if err != nil {
		return err
	}
	if o.format.Format != output.Text || o.noPager {
		_, err := s.Out.Write(doc)
		return err
	}
	_, err = s.Page(doc)
	return err
}

// historyHelp returns the headings of the help of history.
func historyHelp() []cli.FlagGroup {
	return []cli.FlagGroup{
		cli.Group("Which releases", cli.SavedFilterFlags()...), cli.Group("Output", "output", "verbose", "no-pager", "color"),
		cli.OfflineGroup(),
	}
}

// historyGuest returns history as a guest.
func historyGuest() guest {
	return guest{commands: []guestCommand{{"history", newHistory, historyHelp}}}
}
