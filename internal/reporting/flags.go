package reporting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Flags are the flags of diff that say which findings count and how the report looks.
type Flags struct {
	PrintOptions
	TimeOptions
	// Choose are --only and --skip, and chooser applies them.
	Choose  cli.ChoiceFlags
	chooser *cli.Chooser
	// baseline is the file of an earlier report, and known is that report.
	baseline string
	known    *report.Report
	// GivenValues adds the values that the user gave each release to its report, if the comparison has read them.
	GivenValues bool
}

// AddFlags adds the flags but those of PrintOptions, which also say how the shell completes them.
func (f *Flags) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.ShowSecrets, "show-secrets", false, "show secret values instead of masking them")
	fs.StringVar(&f.baseline, "baseline", "", "count only what is new since the report in this `file` (JSON or YAML)")
	f.Choose.AddFlags(fs, "count")
	f.TimeOptions.AddFlags(fs)
}

// Check reads --only, --skip and the file of --baseline, and refuses flags that contradict each other.
func (f *Flags) Check(s cli.Streams) error {
	choice, err := f.Choose.Choice()
	if err != nil {
		return err
	}
	f.chooser = &cli.Chooser{Choice: choice, Print: s.Print}
	if err := f.TimeOptions.Check(&f.PrintOptions); err != nil {
		return err
	}
	f.known, err = saved.Baseline(f.baseline)
	return err
}

// PrintOptions are the flags about how a report looks and where it goes.
type PrintOptions struct {
	Format output.Format
	// files get the report too, each in its own format.
	files       reportFiles
	FailOn      FailOn
	Color       cli.OneOf
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
	return PrintOptions{Format: output.Text, FailOn: defaultFailOn(), Color: cli.NewColor()}
}

// AddFlags adds the flags, and their completion in the shell. Formats are those that the help and the shell offer.
func (o *PrintOptions) AddFlags(cmd *cobra.Command, formats []string) {
	fs := cmd.Flags()
	cli.AddOutputFlag(cmd, &o.Format, "format of the report", formats)
	fs.Var(&o.files, "report", "also write the report in a format to a file, as `FORMAT=FILE` (may be repeated)")
	fs.Var(&o.FailOn, "fail-on", "what sets exit code 2, as a `list` of "+strings.Join(failOnWords(), ", ")+"; +word adds to the default")
	fs.BoolVar(&o.showIgnored, "show-ignored", false, "list ignored findings, each with the rule that ignores it")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list releases without drift too, and all fields of all releases")
	fs.BoolVarP(&o.Quiet, "quiet", "q", false,
		"print no report: the exit code has the answer, and files of --report are written; errors stay on stderr")
	fs.BoolVar(&o.noPager, "no-pager", false, "never show a long report in a pager [HELMDRIFT_PAGER, PAGER]")
	cli.AddColorFlag(fs, &o.Color)
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(o.FailOn.completions(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("report", completeReportFile(formats))
}

// Writes reports whether the report is printed, or written to a file, in a format.
func (o *PrintOptions) Writes(format output.Format) bool {
	return o.Format == format || slices.ContainsFunc(o.files, func(f reportFile) bool { return f.format == format })
}

// completeReportFile completes the format of --report, and leaves the file to the shell.
func completeReportFile(formats []string) cobra.CompletionFunc {
	var out []string
	for _, name := range formats {
		out = append(out, name+"=")
	}
	return cobra.FixedCompletions(out, cobra.ShellCompDirectiveNoSpace)
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
