package fixing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Run is one run of fix after its comparison: what the user asked for, and what the comparison found.
type Run struct {
	cli.Session
	Flags
	Streams cli.Streams
	Before  *drift.Result
	// Version is that of helmdrift, for the result.
	Version string
}

// Waiter waits for the objects that a fix has written.
type Waiter interface {
	// AddFlags adds the flags, and Check refuses those that contradict each other.
	AddFlags(fs *pflag.FlagSet)
	Check(flags *pflag.FlagSet, isDryRun bool) error
	// Wait waits, and adds to the outcomes how far each object came. It reports whether there was anything to wait for.
	Wait(ctx context.Context, f Run, plan *repair.Plan, outcomes []report.FixOutcome) bool
	// Hint says what to do about the first object that did not come up. It is empty if all did.
	Hint(f Run, r *report.FixResult) string
}

// Do puts back what the comparison found; fix and diff --fix both end here. It plans, shows the plan, asks, saves a backup, writes,
// compares again, with --wait waits, and prints the result. A run that writes nothing ends earlier, and prints a result too. If the last
// comparison fails, the result still says what was written, and the exit code says that it failed.
func (f Run) Do(ctx context.Context) error {
	if f.patch && !f.Streams.Terminal().CanAsk() {
		return cli.ErrNoPicks
	}
	plan, err := f.plan()
	if err != nil {
		return err
	}
	plan.Forecast(ctx, f.Comparer.Predict)
	// A result without outcomes is a plan.
	planned := f.result(plan, nil, f.Before.Comparison)
	asks := len(plan.Objects) > 0 && f.DryRun.Word == "" && !f.yes
	if err := f.show(planned, asks); err != nil {
		return err
	}
	switch {
	case len(plan.Objects) == 0, f.DryRun.Word == "client":
		return f.finish(planned)
	case f.DryRun.Word == "server":
		tried := plan.Run(ctx, f.Cluster, repair.RunOptions{DryRun: true, Timeout: f.timeout})
		return f.finish(f.result(plan, tried, f.Before.Comparison))
	}
	switch {
	case f.patch:
		picked, err := f.pick(ctx, plan)
		if err != nil {
			return err
		}
		if picked.Empty() {
			return f.finish(f.result(plan, unconfirmed(planned), f.Before.Comparison))
		}
		plan = picked
	case asks:
		switch agreed, err := f.ask(ctx, planned); {
		case err != nil:
			return err
		case !agreed:
			return f.finish(f.result(plan, unconfirmed(planned), f.Before.Comparison))
		}
	}
	if err := f.SaveBackup(plan); err != nil {
		return err
	}
	// The user may have taken an hour to answer. CheckUnchanged makes sure that nobody deployed meanwhile.
	outcomes := plan.Run(ctx, f.Cluster, repair.RunOptions{Timeout: f.timeout, Before: f.Before.CheckUnchanged})
	outcomes, after := f.confirm(ctx, plan, outcomes)
	if f.Waiter != nil && ctx.Err() == nil && f.Waiter.Wait(ctx, f, plan, outcomes) && ctx.Err() == nil {
		// While pods came up for minutes, a controller may have undone a write, so compare again. After an interrupt, the first
		// comparison stays.
		outcomes, after = f.confirm(ctx, plan, outcomes)
	}
	return f.finish(f.result(plan, outcomes, after))
}

// confirm compares again. A controller may have undone a write just after Run saw it in place; then the object does not count as
// fixed. If the comparison fails, after is nil.
func (f Run) confirm(ctx context.Context, plan *repair.Plan, outcomes []report.FixOutcome) (
	confirmed []report.FixOutcome, after *threeway.Comparison) {
	after, err := f.compareAgain(ctx)
	if err != nil {
		f.Streams.Explain(err)
		return outcomes, nil
	}
	return plan.Confirmed(outcomes, after), after
}

// plan returns the plan. Before anything is shown, it refuses releases, revisions and namespaces that fix must not write to.
func (f Run) plan() (*repair.Plan, error) {
	last := f.Before.Loaded.Last
	if strings.HasPrefix(last.Status, "uninstall") {
		return nil, hint.New(fmt.Errorf("revision %d of %s is %s", last.Revision, f.Target.Release, last.Status),
			"fix does not put back what is left of an uninstalled release; helm rollback installs it again")
	}
	if err := errors.Join(f.checkRevision(), f.checkNamespace()); err != nil {
		return nil, err
	}
	chosen, err := f.options()
	if err != nil {
		return nil, err
	}
	plan, err := repair.New(f.Before.Comparison, chosen)
	if err != nil {
		return nil, err
	}
	f.explain(plan, func(repair.Declined) bool { return true })
	return plan, nil
}

// explain adds to a plan why it leaves what was not selected: by the flags or by an answer.
func (f Run) explain(plan *repair.Plan, byFlags func(repair.Declined) bool) {
	for i := range plan.Declined {
		switch d := &plan.Declined[i]; {
		case !d.LeftOut:
		case byFlags(*d):
			d.Reason = f.Choose.LeftOut()
		default:
			d.Reason = cli.PickedOut
		}
	}
}

// options returns what to plan: what the flags select from the drift that the comparison found.
func (f Run) options() (repair.Options, error) {
	chosen := repair.Options{
		Manager: f.manager, Prune: f.prune, NoRestart: f.noRestart, Forecast: f.Forecast, Allow: f.allow, Asks: !f.yes && f.DryRun.Word == "",
		Revision: f.Target.Revision != 0,
	}
	choice, err := f.Choose.Choice()
	if err != nil {
		return chosen, err
	}
	found := choice.In(f.Before.Comparison)
	if err := found.Err(); err != nil {
		return chosen, err
	}
	chosen.Only, chosen.Skip = cli.Selectors(found)
	// With server-side apply, the deployer must own the fields that it applies, or its next upgrade has a conflict.
	d := f.Before.Comparison.Deployer()
	if f.Before.Comparison.Input.ServerSide() && d.Known && chosen.Manager != "" && chosen.Manager != d.Manager {
		return chosen, hint.New(fmt.Errorf("--field-manager %s: this release is applied server-side by %s", chosen.Manager, d.Manager),
			"leave the flag out: fields are handed over to "+d.Manager+", or its next upgrade would conflict with their owner")
	}
	return chosen, nil
}

// checkRevision refuses to put back any revision but the last one and the one that an upgrade would start from. Older ones need helm
// rollback, which also writes a revision.
func (f Run) checkRevision() error {
	loaded := f.Before.Loaded
	wanted, last := f.Target.Revision, loaded.Choice.Last.Revision
	if wanted == 0 {
		return nil
	}
	if loaded.LastProblem != nil {
		return loaded.LastProblem
	}
	// After a failed upgrade, an upgrade would not start from the last revision. The user may want either.
	current, err := loaded.History.Choose(0)
	switch {
	case err != nil:
		return err
	case wanted != last && wanted != current.Old.Revision:
		either := fmt.Sprintf("revision %d, the last one", last)
		if current.Old.Revision != last {
			either = fmt.Sprintf("revision %d, which the next upgrade starts from, or %s", current.Old.Revision, either)
		}
		return hint.New(fmt.Errorf("--revision %d: fix puts back only %s", wanted, either),
			fmt.Sprintf("helm rollback %s %d returns to revision %d", f.Target.Release, wanted, wanted))
	}
	return nil
}

// checkNamespace refuses to write to the objects of a record that may be a copy, unless the user names their namespace. If a backup
// was restored into another namespace, its record still names the namespace of the original release.
func (f Run) checkNamespace() error {
	in, given := f.Before.Comparison.Input, f.targetNamespace
	switch {
	case given == "" && f.Before.RecordElsewhere():
		return hint.New(
			fmt.Errorf("the record of %s in namespace %s says that the release is in %s, so it may be a copy, and fix would write to %s",
				in.Name, in.StorageNamespace, in.Namespace, in.Namespace),
			fmt.Sprintf("helmdrift fix %s -n %s puts back what drifted by the record there; "+
				"with --target-namespace %s, fix writes to %s by this record",
				in.Name, in.Namespace, in.Namespace, in.Namespace))
	case given != "" && given != in.Namespace:
		return hint.New(fmt.Errorf("--target-namespace %s: the record of %s says that the release is in %s", given, in.Name, in.Namespace),
			"the flag allows writing to the namespace that the record names; it does not choose another one")
	}
	return nil
}

// result returns the masked result for a plan and its outcomes. The comparison now was made after the writes; it is nil if it failed.
func (f Run) result(plan *repair.Plan, outcomes []report.FixOutcome, now *threeway.Comparison) *report.FixResult {
	mask := threeway.Mask{Show: f.ShowSecrets}
	r := plan.Result(mask, outcomes)
	r.Helmdrift, r.Time, r.DryRun = f.Version, time.Now().UTC().Truncate(time.Second), f.DryRun.Word
	if now != nil {
		r.After = report.New(f.Version, r.Time, []report.Release{now.Report(mask)})
	}
	return &r
}

// show prints the plan: to stdout if the result is text, and to stderr if the question is asked there and the user does not see stdout.
// So the user sees the plan before confirming it.
func (f Run) show(r *report.FixResult, asks bool) error {
	if f.Format == output.Text {
		if err := f.write(f.Streams.Out, r, output.WriteFixPlan); err != nil {
			return err
		}
	}
	if unseen := f.Format != output.Text || !terminal.IsTerminal(f.Streams.Out); asks && f.Streams.Terminal().CanAsk() && unseen {
		return f.write(f.Streams.Err, r, output.WriteFixPlan)
	}
	return nil
}

// write prints a part of the result to a stream in a form that suits the stream.
func (f Run) write(w io.Writer, r *report.FixResult, writer func(io.Writer, *report.FixResult, output.Options) error) error {
	return writer(w, r, f.Streams.Display(w, f.Color, r.Time))
}

// ask asks the user to confirm the plan. Without a terminal that is an error: no answer must never mean yes.
func (f Run) ask(ctx context.Context, r *report.FixResult) (bool, error) {
	if !f.Streams.Terminal().CanAsk() {
		return false, hint.New(errors.New("nothing was written: fix asks before it writes, and there is no terminal to ask on"),
			"--yes writes without asking, --dry-run only shows what would be written")
	}
	if err := f.write(f.Streams.Err, r, output.WriteFixQuestion); err != nil {
		return false, err
	}
	agreed, err := f.Streams.Terminal().ReadYes(ctx)
	if err != nil {
		return false, errors.New("interrupted; nothing was written")
	}
	return agreed, nil
}

// unconfirmed returns the outcomes of a plan that was not confirmed.
func unconfirmed(r *report.FixResult) []report.FixOutcome {
	var out []report.FixOutcome
	for _, p := range r.Plan {
		out = append(out, report.FixOutcome{Object: p.Object, Status: report.FixDeclined, Reason: "not confirmed"})
	}
	return out
}

// SaveBackup saves the planned objects that exist, before the first write, if --backup asks for it. Secret fields are left out of the
// files, and notes on stderr name them. Objects that the fix creates have nothing to save.
func (f Run) SaveBackup(plan *repair.Plan) error {
	if f.Backup == "" {
		return nil
	}
	objects := map[object.Ref]map[string]any{}
	var notes []string
	for _, o := range plan.Objects {
		live := f.Before.Comparison.Input.Live[o.Ref].Object
		if o.Create != nil || live == nil {
			continue
		}
		bare := withoutServerFields(live)
		if !f.ShowSecrets && !secret.Kind(o.Ref.Group, o.Ref.Kind) {
			var paths []string
			place, known := f.Before.Comparison.SecretsOf(o.Ref, bare)
			if bare, paths = strip(place, known, bare); len(paths) > 0 {
				notes = append(notes, fmt.Sprintf("the backup of %s leaves out secret fields: %s; --show-secrets keeps them",
					o.Ref.Key, strings.Join(paths, ", ")))
			}
		}
		objects[o.Ref] = bare
	}
	leftOut, err := writeBackup(f.Backup, objects)
	for _, ref := range leftOut {
		notes = append(notes, fmt.Sprintf("%s is not in the backup: Secrets are left out", ref.Key))
	}
	slices.Sort(notes)
	for _, note := range notes {
		f.Streams.Print("note: ", note)
	}
	return err
}

// compareAgain compares after the writes. After an interrupt it does not.
func (f Run) compareAgain(ctx context.Context) (*threeway.Comparison, error) {
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	after, err := f.Comparer.Compare(ctx, f.Target)
	if err != nil {
		return nil, fmt.Errorf("comparing again: %w", f.WithAdvice(ctx, err))
	}
	return after.Comparison, nil
}

// finish prints the result and returns the exit code. Objects without drift do not count.
func (f Run) finish(r *report.FixResult) error {
	if err := output.WriteFix(f.Streams.Out, f.Format, r, f.Streams.Display(f.Streams.Out, f.Color, r.Time)); err != nil {
		return err
	}
	// The result lists these objects too, but they already were as deployed, so nothing remains to do for them.
	counting := *r
	counting.Results = slices.DeleteFunc(slices.Clone(r.Results), r.IsNoDrift)
	if f.Waiter != nil {
		if advice := f.Waiter.Hint(f, r); advice != "" {
			f.Streams.Print("Hint: ", advice)
		}
	}
	return fixStatus(&counting)
}

// fixStatus returns the exit code of a fix as an error; nil is exit code 0. An object that failed, could not be read or did not
// come up takes precedence over drift that remains.
func fixStatus(r *report.FixResult) error {
	is := func(status report.FixStatus) func(report.FixOutcome) bool {
		return func(o report.FixOutcome) bool { return o.Status == status }
	}
	switch {
	case r.After == nil, r.After.HasError(), slices.ContainsFunc(r.Results, is(report.FixFailed)),
		slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return !o.IsUp() }):
		return cli.ExitStatus(cli.ExitFailure)
	case r.DryRun != "" && len(r.Plan) > 0, r.After.Summary.DriftedReleases > 0,
		slices.ContainsFunc(r.Results, is(report.FixDeclined)), slices.ContainsFunc(r.Results, is(report.FixRefused)):
		return cli.ExitStatus(cli.ExitSelected)
	}
	return nil
}
