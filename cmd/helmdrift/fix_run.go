package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

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

// This file holds the steps of a fix after the comparison. pkg/repair makes the plan and writes it; here are the questions that only the
// user can answer (is this the right release, namespace and plan?) and what is printed at each step:
//
//     plan ─► show ─┬─► nothing to do, or --dry-run=client ───────────────────────────► finish
//                   ├─► --dry-run=server: the API server tries the writes ────────────► finish
//                   └─► ask ─┬─► no ──────────────────────────────────────────────────► finish
//                            └─► yes, or --yes ─► backup ─► write ─► compare again ─┬─► finish
//                                                                                   └─► --wait ─► compare again ─► finish

// fixRun is one run of fix after its comparison: what the user asked for, and what the comparison found.
type fixRun struct {
	session
	// flags are those of fix, or those of diff --fix.
	flags   fixOptions
	streams streams
	before  *drift.Result
}

// fix puts back what a comparison found. fix and diff --fix both end here.
func (s session) fix(ctx context.Context, out streams, flags fixOptions, before *drift.Result) error {
	return fixRun{session: s, flags: flags, streams: out, before: before}.run(ctx)
}

// run plans, shows the plan, asks, saves a backup, writes, compares again, waits if --wait says so, and prints the result. A run that
// writes nothing ends earlier, and prints a result as well. If the last comparison fails, the result still says what was written; without
// that comparison it has the exit code of a failure.
func (f fixRun) run(ctx context.Context) error {
	plan, err := f.plan()
	if err != nil {
		return err
	}
	plan.Forecast(ctx, f.comparer.Predict)
	// A result without outcomes is a plan: what would be written.
	planned := f.result(plan, nil, f.before.Comparison)
	asks := len(plan.Objects) > 0 && f.flags.dryRun.word == "" && !f.flags.yes
	if err := f.show(planned, asks); err != nil {
		return err
	}
	switch {
	case len(plan.Objects) == 0, f.flags.dryRun.word == "client":
		return f.finish(planned)
	case f.flags.dryRun.word == "server":
		tried := plan.Run(ctx, f.cluster, repair.RunOptions{DryRun: true, Timeout: f.flags.timeout})
		return f.finish(f.result(plan, tried, f.before.Comparison))
	}
	if asks {
		switch agreed, err := f.ask(ctx, planned); {
		case err != nil:
			return err
		case !agreed:
			return f.finish(f.result(plan, unconfirmed(planned), f.before.Comparison))
		}
	}
	if err := f.backup(plan); err != nil {
		return err
	}
	// The user may have thought about the question for an hour. CheckUnchanged makes sure that nobody deployed meanwhile.
	outcomes := plan.Run(ctx, f.cluster, repair.RunOptions{Timeout: f.flags.timeout, Before: f.before.CheckUnchanged})
	outcomes, after := f.confirm(ctx, plan, outcomes)
	if f.flags.wait && ctx.Err() == nil && f.wait(ctx, plan, outcomes) && ctx.Err() == nil {
		// Pods take minutes to come up, in which a controller may have undone a write. An interrupt leaves the first comparison.
		outcomes, after = f.confirm(ctx, plan, outcomes)
	}
	return f.finish(f.result(plan, outcomes, after))
}

// confirm compares again. A controller may have undone a write a moment after Run saw it in place; such an object is not called fixed.
// If the comparison fails, after is nil.
func (f fixRun) confirm(ctx context.Context, plan *repair.Plan, outcomes []report.FixOutcome) (
	confirmed []report.FixOutcome, after *threeway.Comparison) {
	after, err := f.compareAgain(ctx)
	if err != nil {
		f.streams.explain(err)
		return outcomes, nil
	}
	return plan.Confirmed(outcomes, after), after
}

// plan returns the plan. It refuses releases, revisions and namespaces that fix must not write to, before anything is shown.
func (f fixRun) plan() (*repair.Plan, error) {
	last := f.before.Loaded.Last
	if strings.HasPrefix(last.Status, "uninstall") {
		return nil, hint.New(fmt.Errorf("revision %d of %s is %s", last.Revision, f.target.Release, last.Status),
			"fix does not put back what is left of an uninstalled release; helm rollback installs it again")
	}
	if err := errors.Join(f.checkRevision(), f.checkNamespace()); err != nil {
		return nil, err
	}
	chosen, err := f.flags.selection()
	if err != nil {
		return nil, err
	}
	chosen.Revision = f.target.Revision != 0
	// With server-side apply, the deployer must own what it applied, or its next upgrade has a conflict.
	d := f.before.Comparison.Deployer()
	if f.before.Comparison.Input.ServerSide() && d.Known && chosen.Manager != "" && chosen.Manager != d.Manager {
		return nil, hint.New(fmt.Errorf("--field-manager %s: this release is applied server-side by %s", chosen.Manager, d.Manager),
			"leave the flag out: fields are handed over to "+d.Manager+", or its next upgrade would conflict with their owner")
	}
	return repair.New(f.before.Comparison, chosen)
}

// checkRevision refuses to put back any revision but the last one and the one that an upgrade would start from. Older ones need helm
// rollback, which also writes a revision.
func (f fixRun) checkRevision() error {
	loaded := f.before.Loaded
	wanted, last := f.target.Revision, loaded.Choice.Last.Revision
	if wanted == 0 {
		return nil
	}
	if loaded.LastProblem != nil {
		return loaded.LastProblem
	}
	// After a failed upgrade, the last revision and the one that an upgrade would start from are not the same. Both may be wanted.
	current, err := loaded.History.Choose(0)
	switch {
	case err != nil:
		return err
	case wanted != last && wanted != current.Old.Revision:
		return hint.New(
			fmt.Errorf("--revision %d: the release is at revision %d, and its last one is %d", wanted, current.Old.Revision, last),
			fmt.Sprintf("helm rollback %s %d returns to revision %d", f.target.Release, wanted, wanted))
	}
	return nil
}

// checkNamespace refuses to write to the objects of a record that may be a copy, unless the user names their namespace. The record of
// a backup that was restored into another namespace still names the namespace of the original release.
func (f fixRun) checkNamespace() error {
	in, given := f.before.Comparison.Input, f.flags.targetNamespace
	switch {
	case given == "" && f.before.RecordElsewhere():
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

// result returns what may be shown of a plan and its outcomes, masked. The comparison now is the one after the writes; nil if it failed.
func (f fixRun) result(plan *repair.Plan, outcomes []report.FixOutcome, now *threeway.Comparison) *report.FixResult {
	mask := threeway.Mask{Show: f.flags.showSecrets}
	r := plan.Result(mask, outcomes)
	r.Helmdrift, r.Time, r.DryRun = version, time.Now().UTC().Truncate(time.Second), f.flags.dryRun.word
	if now != nil {
		r.After = report.New(version, r.Time, []report.Release{now.Report(mask)})
	}
	return &r
}

// show prints the plan: to stdout if the result is text, and to stderr if the question is asked there and the user does not see stdout.
// Nobody is asked to confirm a plan that they cannot see.
func (f fixRun) show(r *report.FixResult, asks bool) error {
	if f.flags.format == output.Text {
		if err := f.write(f.streams.out, r, output.WriteFixPlan); err != nil {
			return err
		}
	}
	if unseen := f.flags.format != output.Text || !terminal.IsTerminal(f.streams.out); asks && f.streams.terminal().CanAsk() && unseen {
		return f.write(f.streams.err, r, output.WriteFixPlan)
	}
	return nil
}

// write prints a part of the result to a stream in the way that the stream allows.
func (f fixRun) write(w io.Writer, r *report.FixResult, writer func(io.Writer, *report.FixResult, output.Options) error) error {
	return writer(w, r, f.streams.display(w, f.flags.color, r.Time))
}

// ask asks the user to confirm the plan. Without a terminal that is an error: no answer must never mean yes.
func (f fixRun) ask(ctx context.Context, r *report.FixResult) (bool, error) {
	if !f.streams.terminal().CanAsk() {
		return false, hint.New(errors.New("nothing was written: fix asks before it writes, and there is no terminal to ask on"),
			"--yes writes without asking, --dry-run only shows what would be written")
	}
	if err := f.write(f.streams.err, r, output.WriteFixQuestion); err != nil {
		return false, err
	}
	agreed, err := f.streams.terminal().ReadYes(ctx)
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

// backup saves the planned objects that exist, before the first write, if --backup asks for it. Secret fields are left out of the files,
// and notes on stderr name them. Objects that the fix creates have nothing to save.
func (f fixRun) backup(plan *repair.Plan) error {
	if f.flags.backup == "" {
		return nil
	}
	objects := map[object.Ref]map[string]any{}
	var notes []string
	for _, o := range plan.Objects {
		live := f.before.Comparison.Input.Live[o.Ref].Object
		if o.Create != nil || live == nil {
			continue
		}
		bare := threeway.StripServerFields(live)
		if !f.flags.showSecrets && !secret.Kind(o.Ref.Group, o.Ref.Kind) {
			var paths []string
			if bare, paths = f.before.Comparison.WithoutSecrets(o.Ref, bare); len(paths) > 0 {
				notes = append(notes, fmt.Sprintf("the backup of %s leaves out secret fields: %s; --show-secrets keeps them",
					o.Ref.Key, strings.Join(paths, ", ")))
			}
		}
		objects[o.Ref] = bare
	}
	leftOut, err := writeBackup(f.flags.backup, objects)
	for _, ref := range leftOut {
		notes = append(notes, fmt.Sprintf("%s is not in the backup: Secrets are left out", ref.Key))
	}
	slices.Sort(notes)
	for _, note := range notes {
		f.streams.print("note: ", note)
	}
	return err
}

// compareAgain compares after the writes, unless the run was interrupted.
func (f fixRun) compareAgain(ctx context.Context) (*threeway.Comparison, error) {
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	after, err := f.compare(ctx)
	if err != nil {
		return nil, fmt.Errorf("comparing again: %w", err)
	}
	return after.Comparison, nil
}

// finish prints the result and returns the exit code. Objects that turned out to have no drift do not count.
func (f fixRun) finish(r *report.FixResult) error {
	if err := output.WriteFix(f.streams.out, f.flags.format, r, f.streams.display(f.streams.out, f.flags.color, r.Time)); err != nil {
		return err
	}
	// The result lists these objects, but they were as deployed already, so nothing remains to be done for them.
	counting := *r
	counting.Results = slices.DeleteFunc(slices.Clone(r.Results), r.IsNoDrift)
	if advice := f.waitHint(r); advice != "" {
		f.streams.print("Hint: ", advice)
	}
	return fixStatus(&counting)
}
