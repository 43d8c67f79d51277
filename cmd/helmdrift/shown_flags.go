package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// shownOptions are the flags of diff and report that say how a report is printed, and what of it sets the exit code.
type shownOptions struct {
	format      output.Format
	failOn      failOn
	color       oneOf
	showIgnored bool
	// verbose lists every release of a selection, with its details.
	verbose bool
}

func newShownOptions() shownOptions {
	return shownOptions{format: output.Text, failOn: defaultFailOn(), color: newColor()}
}

// addFlags adds the flags, and their completion in the shell.
func (o *shownOptions) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the report: "+strings.Join(output.Formats(), ", "))
	fs.Var(&o.failOn, "fail-on", "`list` of what sets exit code 2: "+strings.Join(failOnWords(), ", ")+"; +word adds to the default")
	fs.BoolVar(&o.showIgnored, "show-ignored", false, "list ignored findings, each with the rule that ignores it")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list releases without drift too, and the details of all")
	addColorFlag(fs, &o.color)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(o.failOn.completions(), cobra.ShellCompDirectiveNoFileComp))
}

// show prints the report of a selection and returns its exit status.
func (o *shownOptions) show(s streams, r *report.Report, now time.Time) error {
	look := s.display(s.out, o.color, now)
	look.ShowIgnored, look.Verbose = o.showIgnored, o.verbose
	if err := output.Write(s.out, o.format, r, look); err != nil {
		return err
	}
	return o.failOn.status(r)
}
