package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file holds what diff and report do with a finished report: they print it, and write it into files in further formats. exit.go turns
// it into an exit code.

// printOptions are the flags about how a report looks and where it goes.
type printOptions struct {
	format output.Format
	// files get the report too, each in a format of its own.
	files       reportFiles
	failOn      failOn
	color       oneOf
	showIgnored bool
	// verbose lists every release of a selection, with its details.
	verbose bool
	// quiet prints nothing to stdout, and noPager never starts a pager.
	quiet, noPager bool
	// showSecrets is set if the report has secrets in clear, which only diff can do.
	showSecrets bool
}

func newPrintOptions() printOptions {
	return printOptions{format: output.Text, failOn: defaultFailOn(), color: newColor()}
}

// addFlags adds the flags, and their completion in the shell.
func (o *printOptions) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the report: "+strings.Join(output.Formats(), ", "))
	fs.Var(&o.files, "report", "also write the report in a format to a file, as `FORMAT=FILE` (may be repeated)")
	fs.Var(&o.failOn, "fail-on", failOnUsage())
	fs.BoolVar(&o.showIgnored, "show-ignored", false, "list ignored findings, each with the rule that ignores it")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list releases without drift too, and the details of all")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print errors only: the exit code has the answer, and files of --report are written")
	fs.BoolVar(&o.noPager, "no-pager", false, "never show a long report in a pager [HELMDRIFT_PAGER, PAGER]")
	addColorFlag(fs, &o.color)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(o.failOn.completions(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("report", completeReportFile)
}

// writes reports whether the report is printed, or written to a file, in a format.
func (o *printOptions) writes(format output.Format) bool {
	return o.format == format || slices.ContainsFunc(o.files, func(f reportFile) bool { return f.format == format })
}

// completeReportFile completes the format of --report, and leaves the file to the shell.
func completeReportFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, name := range output.Formats() {
		out = append(out, name+"=")
	}
	return out, cobra.ShellCompDirectiveNoSpace
}

// print writes the report to its files and to stdout. The files come first: nobody may read stdout.
func (o *printOptions) print(s streams, r *report.Report, look output.Options) error {
	look.Text.ShowIgnored, look.Text.Verbose = o.showIgnored, o.verbose
	look.CI.Fails = o.failOn.selects
	if err := o.writeFiles(s, r, look); err != nil {
		return err
	}
	if o.failOn.lacksEffects(r) {
		s.print("Error: ", "--fail-on restart,downtime depends on what is not known; the warnings of the report say what")
	}
	switch {
	case o.quiet:
		return o.printErrors(s, r, look.Text.Now)
	case o.format != output.Text || o.noPager:
		return output.Write(s.out, o.format, r, look)
	}
	doc, err := output.Document(o.format, r, look)
	if err != nil {
		return err
	}
	return s.page(doc)
}

// printErrors says on stderr why exit code 1 follows, if no report says it.
func (o *printOptions) printErrors(s streams, r *report.Report, now time.Time) error {
	if r.Disputed() {
		s.print("Error: ", "the dry run by the API server contradicts the prediction; without -q, the report says where")
	}
	look := s.display(s.err, o.color, now).Text
	look.Verbose = o.verbose
	_, err := s.err.Write(text.Errors(r, look))
	return err
}

// writeFiles writes the report to the files of --report, and to the summary of the job if annotations for GitHub Actions are written there.
// All files are tried, so that one that cannot be written costs no other.
func (o *printOptions) writeFiles(s streams, r *report.Report, look output.Options) error {
	// A file is no terminal, and everybody gets the same bytes.
	look.Text.Width, look.Text.Color, look.Text.Unicode = 0, false, true
	mode := files.Public
	if o.showSecrets {
		mode = files.Private
	}
	var errs []error
	for _, f := range o.files {
		text, err := output.Document(f.format, r, look)
		if err == nil {
			err = files.Update(f.path, text, mode)
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("--report %s: %w", f, err))
		case terminal.IsTerminal(s.err) && !o.quiet:
			fmt.Fprintln(s.err, "wrote "+s.terminal().File(f.path))
		}
	}
	if summary := s.env("GITHUB_STEP_SUMMARY"); o.writes(output.GitHub) && summary != "" {
		text, err := output.Document(output.Markdown, r, look)
		if err == nil {
			err = files.Append(summary, text, mode)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the summary of the job: %w", err))
		}
	}
	return errors.Join(errs...)
}

// chartDir returns the folder of a chart relative to the working directory, which CI systems take for the root of the repository; empty if
// the chart is not a folder in it.
func chartDir(ref string) string {
	info, err := os.Stat(ref)
	if err != nil || !info.IsDir() || !filepath.IsLocal(ref) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(ref))
}

// reportFiles is the value of --report.
type reportFiles []reportFile

// reportFile is a file that gets a report in a format.
type reportFile struct {
	format output.Format
	path   string
}

// String returns the file as the flag takes it.
func (f reportFile) String() string { return string(f.format) + "=" + f.path }

// String returns the files, separated by commas.
func (f *reportFiles) String() string {
	var out []string
	for _, file := range *f {
		out = append(out, file.String())
	}
	return strings.Join(out, ",")
}

// Set adds a file.
func (f *reportFiles) Set(text string) error {
	name, path, found := strings.Cut(text, "=")
	if !found || path == "" {
		return fmt.Errorf("must be FORMAT=FILE; formats are %s", strings.Join(output.Formats(), ", "))
	}
	file := reportFile{path: path}
	if err := file.format.Set(name); err != nil {
		return err
	}
	*f = append(*f, file)
	return nil
}

// Type returns the placeholder in help texts.
func (f *reportFiles) Type() string { return "FORMAT=FILE" }

var _ pflag.Value = (*reportFiles)(nil)
