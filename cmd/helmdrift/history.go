package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/history"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is the command history: it reads saved reports in the order of their times and prints what became of each finding. It asks no
// cluster.

// historyOptions are the flags of history. Those that select releases mean what they mean for diff.
type historyOptions struct {
	format          formatOf
	color           oneOf
	filter, exclude string
	verbose         bool
	noPager         bool
}

// newHistory returns the command history.
func newHistory(s streams, c *connection) *cobra.Command {
	o := historyOptions{format: newFormatOf(output.HistoryFormats()), color: newColor()}
	cmd := &cobra.Command{
		Use:   "history DIR|FILE...",
		Short: "Show from saved reports when each finding came, changed and went",
		Long: `history reads saved reports (helmdrift diff -o json, -o yaml or --report json=FILE), of single releases
and of many, in the order of their times. In a folder, it reads the files *.json, *.yaml and *.yml,
also in the folders below. It shows for each finding when it was seen first and last, how long it
was there, and whether it flaps: it came back, or its value changed more than once, and who owned it.

Not seen is not absent: a report in which a release has an error says nothing of what it does not
list.

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
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace := ""
			if cmd.Flags().Changed("namespace") {
				namespace = c.namespace
			}
			return runHistory(s, o, namespace, args)
		},
	}
	o.addFlags(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.HistoryFormats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// addFlags adds the flags.
func (o *historyOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(&o.format, "output", "o", "format of the history: "+strings.Join(output.HistoryFormats(), ", "))
	fs.StringVar(&o.filter, "filter", "", "releases whose name matches this regular `expression`")
	fs.StringVar(&o.exclude, "exclude", "", "no releases whose name matches this regular `expression`")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list findings that ended, too")
	fs.BoolVar(&o.noPager, "no-pager", false, "never show a long history in a pager [HELMDRIFT_PAGER, PAGER]")
	addColorFlag(fs, &o.color)
}

// runHistory reads the reports one after another and prints their history. Only the times of all reports are known at once.
func runHistory(s streams, o historyOptions, namespace string, names []string) error {
	selects, err := o.selects(namespace)
	if err != nil {
		return err
	}
	files, err := saved.ByTime(names)
	if err != nil {
		return err
	}
	builder := history.Builder{Selects: selects}
	for _, f := range files {
		r, err := saved.Read(f.Name, s.in)
		if err == nil {
			err = builder.Add(r)
		}
		if err != nil {
			return err
		}
	}
	look := s.display(s.out, o.color, time.Time{})
	look.Text.Verbose = o.verbose
	doc, err := output.HistoryDocument(o.format.format, builder.History(version), look)
	if err != nil {
		return err
	}
	if o.format.format != output.Text || o.noPager {
		_, err := s.out.Write(doc)
		return err
	}
	return s.page(doc)
}

// selects returns the condition that a release must meet.
func (o *historyOptions) selects(namespace string) (func(report.Release) bool, error) {
	filter, err := expression("filter", o.filter)
	if err != nil {
		return nil, err
	}
	exclude, err := expression("exclude", o.exclude)
	if err != nil {
		return nil, err
	}
	return func(r report.Release) bool {
		return (namespace == "" || r.StorageNamespace == namespace) && (filter == nil || filter.MatchString(r.Name)) &&
			(exclude == nil || !exclude.MatchString(r.Name))
	}, nil
}
