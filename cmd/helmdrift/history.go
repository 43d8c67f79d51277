package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/output"
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

// historyNeedsReports is the hint of errors about missing reports.
const historyNeedsReports = "helmdrift diff -A --report json=DIR/$(date +%s).json writes one"

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
				return hinted{error: errors.New("history needs a folder of reports"), hint: historyNeedsReports}
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
	files, err := s.reportsByTime(names)
	if err != nil {
		return err
	}
	builder := history.Builder{Selects: selects}
	for _, f := range files {
		r, err := s.readReport(f.name)
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
	return s.terminal().Page(doc)
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

// savedReport is a file with a report.
type savedReport struct {
	name string
	time time.Time
}

// reportsByTime returns the reports among files and in folders, the oldest first. In a folder, other documents of helmdrift are left out.
func (s streams) reportsByTime(names []string) ([]savedReport, error) {
	var out []savedReport
	for _, name := range names {
		files, inFolder, err := filesIn(name)
		if err != nil {
			return nil, hinted{error: err, hint: historyNeedsReports}
		}
		for _, file := range files {
			at, err := timeOf(file)
			switch {
			case inFolder && report.IsOtherKind(err):
			case err != nil:
				return nil, err
			default:
				out = append(out, savedReport{file, at})
			}
		}
	}
	if len(out) == 0 {
		return nil, hinted{error: fmt.Errorf("there are no reports in %s", strings.Join(names, ", ")), hint: historyNeedsReports}
	}
	slices.SortStableFunc(out, func(a, b savedReport) int { return a.time.Compare(b.time) })
	return out, nil
}

// filesIn returns the files of a folder and of those below it whose names end as those of reports do, or the file itself.
func filesIn(name string) (files []string, isFolder bool, err error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, false, err
	}
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(entry.Name(), ".") && path != name; {
		case err != nil:
			return err
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case !entry.IsDir() && !hidden && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	return files, true, err
}

// timeOf returns the time of the report in a file.
func timeOf(name string) (time.Time, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return time.Time{}, err
	}
	at, err := report.ReadTime(text)
	if err != nil {
		return at, notAReport(name, err)
	}
	return at, nil
}
