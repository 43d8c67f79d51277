package reporting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/manifestdiff"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/accept"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file leads from a comparison to what is printed: it makes the report, prints it, and writes it into files in further formats.

// Run is one run of diff of one release: what the user asked for, and what is compared.
type Run struct {
	*Flags
	Session cli.Session
	Streams cli.Streams
	// Clock gives the time of the report, and Version is that of helmdrift.
	Clock   func() time.Time
	Version string
	// FixCommand is the command that puts back what drifts. It is empty if fix would compare with another revision.
	FixCommand string
	// Fix has the flags of the fix that follows the report. It is nil if none does.
	Fix *fixing.Flags
	// Finish is that of Flags.Release.
	Finish func(*drift.Result, *report.Release)
}

// Do compares, prints the report, and with Fix puts back what drifted. With Fix and a format for programs, stdout holds one document: the
// result of the fix, which contains the report.
func (r Run) Do(ctx context.Context) error {
	result, err := r.Session.Comparer.Compare(ctx, r.Session.Target)
	if err != nil {
		return r.Session.WithAdvice(ctx, err)
	}
	now, target := r.Clock(), r.Session.Target
	// From here on, all secrets are masked unless --show-secrets is set.
	all := report.New(r.Version, now, []report.Release{r.Release(result, r.Finish)})
	if r.isInterrupted(result) {
		r.Fix = nil
	}
	look := r.Look(r.Streams, all, now)
	if target.Chart != nil {
		look.CI.ChartDir = chartDir(target.Chart.Ref)
	}
	if r.Fix != nil && r.Format != output.Text {
		return r.fix(ctx, result)
	}
	look.Text.FixFollows = r.Fix != nil
	// If fix would see the same findings, text and page name its command. Only text has its plan, which costs time.
	isWhole := r.baseline == "" && !r.HasSince() && target.Chart == nil
	if r.Fix == nil && all.Releases[0].Drifted && isWhole && r.FixCommand != "" && !result.RecordElsewhere() {
		look.Text.Fix = r.FixCommand
		if r.Format == output.Text && !r.Quiet {
			look.Text.Plan, look.Text.IsPlanned = r.planned(result.Comparison)
		}
	}
	if err := r.Print(r.Streams, all, look); err != nil {
		return err
	}
	if r.Fix != nil {
		fmt.Fprintln(r.Streams.Out)
		return r.fix(ctx, result)
	}
	return r.FailOn.Status(all)
}

// fix puts back what the comparison found.
func (r Run) fix(ctx context.Context, result *drift.Result) error {
	return fixing.Run{Session: r.Session, Flags: *r.Fix, Streams: r.Streams, Before: result, Version: r.Version}.Do(ctx)
}

// Release returns the report of a comparison. It accepts what the baseline has, and has a patch only if the patch is printed. Finish adds
// to the report what a deployer does; it may be nil.
func (f *Flags) Release(result *drift.Result, finish func(*drift.Result, *report.Release)) report.Release {
	mask := threeway.Mask{Show: f.ShowSecrets}
	out := result.Report(mask)
	if f.isInterrupted(result) {
		return out
	}
	if finish != nil {
		finish(result, &out)
		if !f.ShowSecrets {
			scrubDeployer(&out, result.Comparison.Scrub)
		}
	}
	if f.baseline != "" {
		accept.Known(&out, f.known, "--baseline "+filepath.Base(f.baseline))
		if !f.ShowSecrets {
			maskKnown(&out, result.Comparison.Scrub)
		}
	}
	if f.GivenValues {
		out.Values = givenValues(result, mask)
	}
	f.chooser.LeaveOut(&out, result.Comparison)
	if f.Writes(output.Diff) {
		manifest := ""
		if old := result.Loaded.Old; old != nil {
			manifest = old.Manifest
		}
		out.Patch = manifestdiff.Diff(manifest, result.Comparison, out, f.ShowSecrets)
	}
	if f.isInterrupted(result) {
		return result.Report(mask)
	}
	return out
}

// isInterrupted reports whether nothing of a release is shown, because an interrupt has kept the comparison from finding all secrets.
func (f *Flags) isInterrupted(result *drift.Result) bool {
	return result.Comparison.Interrupted() && !f.ShowSecrets
}

// scrubDeployer removes the secrets of the comparison from the words of a deployer, which may quote what the deployer reads.
func scrubDeployer(r *report.Release, scrub func(string) string) {
	for _, messages := range [][]report.Message{r.Warnings, r.Errors} {
		for i := range messages {
			messages[i].Message = scrub(messages[i].Message)
		}
	}
	if r.Deployer == nil {
		return
	}
	d := *r.Deployer
	d.Reason, d.Inputs = scrub(d.Reason), slices.Clone(d.Inputs)
	for i := range d.Inputs {
		d.Inputs[i].Name, d.Inputs[i].Version = scrub(d.Inputs[i].Name), scrub(d.Inputs[i].Version)
	}
	r.Deployer = &d
}

// Look leaves out of a report what was written earlier, adds which values of --only and --skip name nothing, and returns how it looks.
func (f *Flags) Look(s cli.Streams, r *report.Report, now time.Time) output.Options {
	look := f.TimeOptions.Choose(r, func(report.Release) time.Time { return r.Time }, s.Display(s.Out, f.Color, now))
	f.chooser.Complain(r)
	return look
}

// Print writes the report to its files and then to stdout. The files come first, because the reader of stdout may be gone.
func (o *PrintOptions) Print(s cli.Streams, r *report.Report, look output.Options) error {
	look.Text.ShowIgnored, look.Text.Verbose = o.showIgnored, o.verbose
	look.CI.Fails, look.CI.FailsOn = o.FailOn.selects, func(word string) bool { return o.FailOn[word] }
	look.CI.Lacks = o.FailOn.lacksEffectsOf
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
func (o *PrintOptions) printErrors(s cli.Streams, r *report.Report, now time.Time) error {
	if isDisputed(r) {
		s.Print("Error: ", "the dry run by the API server contradicts the prediction; without -q, the report says where")
	}
	look := s.Display(s.Err, o.Color, now).Text
	look.Verbose = o.verbose
	_, err := s.Err.Write(text.Errors(r, look))
	return err
}

// writeFiles writes the report to the files of --report and, in the format of GitHub Actions, to the summary of the job. It tries all
// files, even if one of them cannot be written.
func (o *PrintOptions) writeFiles(s cli.Streams, r *report.Report, look output.Options) error {
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
			err = writeFile(s, f.path, text, mode)
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

// writeFile writes a file of --report. A name of stdout or stderr, or one that leads to the same file, stands for that stream: to open it
// again could begin anew in the file that the shell has opened, and the report on stdout would overwrite it.
func writeFile(s cli.Streams, name string, text []byte, mode fs.FileMode) error {
	var err error
	switch {
	case slices.Contains([]string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, name) || isFile(s.Out, name):
		_, err = s.Out.Write(text)
	case slices.Contains([]string{"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"}, name) || isFile(s.Err, name):
		_, err = s.Err.Write(text)
	default:
		err = files.Update(name, text, mode)
	}
	return err
}

// isFile reports whether a stream writes to the file of a name.
func isFile(stream io.Writer, name string) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	open, err := file.Stat()
	named, failed := os.Stat(name)
	return err == nil && failed == nil && os.SameFile(open, named)
}

// mostPlanned is how many fields may have drifted for a plan. Planning more takes longer than comparing, and nobody reads such a list.
const mostPlanned = 1000

// planned returns what a fix would write, for the answer of the report. It returns false if too many fields have drifted, or if a fix
// cannot be planned: fix itself reports why.
func (f *Flags) planned(c *threeway.Comparison) (out []report.FixPlan, isPlanned bool) {
	defer func() { _ = recover() }()
	drifted := 0
	for i := range c.Objects {
		drifted += len(object.Filter(c.Objects[i].Findings, threeway.Finding.Drifted))
	}
	if drifted > mostPlanned {
		return nil, false
	}
	only, skip := cli.Selectors(f.chooser.In(c))
	plan, err := repair.New(c, repair.Options{Only: only, Skip: skip, Asks: true})
	if err != nil {
		return nil, false
	}
	return plan.Result(threeway.Mask{}, nil).Plan, true
}

// chartDir returns the folder of a chart relative to the working directory, or "" if the chart is not a folder in it. CI systems take the
// working directory for the root of the repository.
func chartDir(ref string) string {
	info, err := os.Stat(ref)
	if err != nil || !info.IsDir() || !filepath.IsLocal(ref) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(ref))
}
