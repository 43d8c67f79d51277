package cli

import (
	"errors"
	"fmt"
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

// This file prints a finished report of diff or report, and writes it into files in further formats. fail_on.go turns it into an exit code.

// PrintOptions are the flags about how a report looks and where it goes.
type PrintOptions struct {
	Format output.Format
	// files get the report too, each in its own format.
	files       reportFiles
	FailOn      FailOn
	Color       OneOf
	showIgnored bool
	// verbose lists every release of a selection, with its details.
	verbose bool
	// Quiet prints nothing to stdout, and noPager never starts a pager.
	Quiet, noPager bool
	// ShowSecrets is set if the report has secrets in clear. Only diff can do that.
	ShowSecrets bool
}

// NewPrintOptions returns the defaults: text, and the default of --fail-on.
func NewPrintOptions() PrintOptions {
	return PrintOptions{Format: output.Text, FailOn: defaultFailOn(), Color: NewColor()}
}

// AddFlags adds the flags, and their completion in the shell.
func (o *PrintOptions) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	AddOutputFlag(cmd, &o.Format, "format of the report", output.Formats())
	fs.Var(&o.files, "report", "also write the report in a format to a file, as `FORMAT=FILE` (may be repeated)")
	fs.Var(&o.FailOn, "fail-on", failOnUsage())
	fs.BoolVar(&o.showIgnored, "show-ignored", false, "list ignored findings, each with the rule that ignores it")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list releases without drift too, and all fields of all releases")
	fs.BoolVarP(&o.Quiet, "quiet", "q", false, "print errors only: the exit code has the answer, and files of --report are written")
	fs.BoolVar(&o.noPager, "no-pager", false, "never show a long report in a pager [HELMDRIFT_PAGER, PAGER]")
	AddColorFlag(fs, &o.Color)
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(o.FailOn.completions(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("report", completeReportFile)
}

// Writes reports whether the report is printed, or written to a file, in a format.
func (o *PrintOptions) Writes(format output.Format) bool {
	return o.Format == format || slices.ContainsFunc(o.files, func(f reportFile) bool { return f.format == format })
}

// completeReportFile completes the format of --report, and leaves the file to the shell.
func completeReportFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, name := range output.Formats() {
		out = append(out, name+"=")
	}
	return out, cobra.ShellCompDirectiveNoSpace
}

// Print writes the report to its files and then to stdout. The files come first, because the reader of stdout may be gone.
func (o *PrintOptions) Print(s Streams, r *report.Report, look output.Options) error {
	look.Text.ShowIgnored, look.Text.Verbose = o.showIgnored, o.verbose
	look.CI.Fails, look.CI.FailsOn = o.FailOn.selects, func(word string) bool { return o.FailOn[word] }
	if err := o.writeFiles(s, r, look); err != nil {
		return err
	}
	if o.FailOn.lacksEffects(r) {
		s.Print("Error: ", "--fail-on restart,downtime depends on what is not known; the warnings of the report say what")
	}
	switch {
	case o.Quiet:
		return o.printErrors(s, r, look.Text.Now)
	case o.Format != output.Text || o.noPager:
		return output.Write(s.Out, o.Format, r, look)
	}
	doc, err := output.Document(o.Format, r, look)
	if err != nil {
		return err
	}
	if paged, err := s.Page(doc); !paged {
		return err
	}
	// The pager has taken the report away, or left its last lines on the screen.
	_, err = s.Out.Write(text.Head(r, look.Text))
	return err
}

// printErrors prints on stderr why exit code 1 follows, if no report says it.
func (o *PrintOptions) printErrors(s Streams, r *report.Report, now time.Time) error {
	if r.Disputed() {
		s.Print("Error: ", "the dry run by the API server contradicts the prediction; without -q, the report says where")
	}
	look := s.Display(s.Err, o.Color, now).Text
	look.Verbose = o.verbose
	_, err := s.Err.Write(text.Errors(r, look))
	return err
}

// writeFiles writes the report to the files of --report and, in the format of GitHub Actions, to the summary of the job. It tries all
// files, even if one of them cannot be written.
func (o *PrintOptions) writeFiles(s Streams, r *report.Report, look output.Options) error {
	// A file is not a terminal, so its bytes do not depend on one.
	look.Text.Width, look.Text.Color, look.Text.Unicode = 0, false, true
	mode := files.Public
	if o.ShowSecrets {
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
		case terminal.IsTerminal(s.Err) && !o.Quiet:
			fmt.Fprintln(s.Err, "wrote "+s.Terminal().File(f.path))
		}
	}
	if summary := s.Env("GITHUB_STEP_SUMMARY"); o.Writes(output.GitHub) && summary != "" {
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

// reportFiles is the value of --report.
type reportFiles []reportFile

// reportFile is a file that gets a report in a format.
type reportFile struct {
	format output.Format
	path   string
}

// String returns the file in the form of the flag.
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
