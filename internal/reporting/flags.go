package reporting

import (
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Flags are the flags of diff that say which findings count and how the report looks.
type Flags struct {
	cli.PrintOptions
	cli.TimeOptions
	// Choose are --only and --skip, and chooser applies them.
	Choose  cli.ChoiceFlags
	chooser *cli.Chooser
	// baseline is the file of an earlier report, and known is that report.
	baseline string
	known    *report.Report
}

// NewFlags returns the defaults.
func NewFlags() Flags { return Flags{PrintOptions: cli.NewPrintOptions()} }

// AddFlags adds the flags but those of PrintOptions, which also say how the shell completes them.
func (f *Flags) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.ShowSecrets, "show-secrets", false, "show secret values instead of masking them")
	fs.StringVar(&f.baseline, "baseline", "", "count only what is new since the report in this `file` (JSON or YAML)")
	f.Choose.AddFlags(fs, "count")
	f.TimeOptions.AddFlags(fs)
}

// Check reads --only and --skip, and refuses flags that contradict each other.
func (f *Flags) Check(s cli.Streams) error {
	choice, err := f.Choose.Choice()
	if err != nil {
		return err
	}
	f.chooser = &cli.Chooser{Choice: choice, Print: s.Print}
	return f.TimeOptions.Check(&f.PrintOptions)
}

// ReadBaseline reads the file of --baseline. It must be called before Release.
func (f *Flags) ReadBaseline() (err error) {
	f.known, err = saved.Baseline(f.baseline)
	return err
}
