package reporting

import (
	"path/filepath"
	"time"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/manifestdiff"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/accept"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Release returns the report of a comparison. It accepts what the baseline has, and has a patch only if the patch is printed. Learned has
// secrets besides those of the objects, and finish adds to the report what a deployer does; both may be nil.
func (f *Flags) Release(
	result *drift.Result, learned *secret.Known, finish func(*drift.Result, *report.Release),
) report.Release {
	if learned != nil { // before the first report, which collects the secrets
		result.Comparison.Input.Known = learned.With(result.Comparison.Input.Known)
	}
	out := result.Report(threeway.Mask{Show: f.ShowSecrets})
	if finish != nil {
		finish(result, &out)
	}
	if f.baseline != "" {
		accept.Known(&out, f.known, "--baseline "+filepath.Base(f.baseline))
		if !f.ShowSecrets {
			cli.MaskKnown(&out, result.Comparison.Scrub)
		}
	}
	f.chooser.LeaveOut(&out, result.Comparison)
	if f.Writes(output.Diff) {
		manifest := ""
		if old := result.Loaded.Old; old != nil {
			manifest = old.Manifest
		}
		out.Patch = manifestdiff.Diff(manifest, result.Comparison, out, f.ShowSecrets)
	}
	return out
}

// Look leaves out of a report what was written earlier, adds which values of --only and --skip name nothing, and returns how it looks.
func (f *Flags) Look(s cli.Streams, r *report.Report, now time.Time) output.Options {
	look := f.TimeOptions.Choose(r, s.Display(s.Out, f.Color, now))
	f.chooser.Complain(r)
	return look
}

// IsWhole reports whether every finding of a comparison counts that fix would see too.
func (f *Flags) IsWhole() bool { return f.baseline == "" && !f.TimeOptions.HasSince() }

// Planned returns what a fix would write, for the answer of the report. If a fix cannot be planned, it is empty: fix itself reports why.
func (f *Flags) Planned(c *threeway.Comparison) []report.FixPlan {
	defer func() { _ = recover() }()
	only, skip, err := cli.Selectors(f.chooser.In(c))
	if err != nil {
		return nil
	}
	plan, err := repair.New(c, repair.Options{Only: only, Skip: skip, Asks: true})
	if err != nil {
		return nil
	}
	return plan.Result(threeway.Mask{}, nil).Plan
}
