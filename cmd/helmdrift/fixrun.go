package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// fixRun puts back what one comparison found.
type fixRun struct {
	session
	flags   fixOptions
	streams streams
	before  *drift.Result
}

// fix puts back what a comparison found.
func (s session) fix(ctx context.Context, out streams, flags fixOptions, before *drift.Result) error {
	return fixRun{session: s, flags: flags, streams: out, before: before}.run(ctx)
}

// run plans, shows the plan, asks, writes, compares again, and writes the result.
func (f fixRun) run(ctx context.Context) error {
	plan, err := f.plan()
	if err != nil {
		return err
	}
	planned := f.result(plan, nil, f.before.Comparison)
	asks := len(plan.Objects) > 0 && f.flags.dryRun.word == "" && !f.flags.yes
	if err := f.show(planned, asks); err != nil {
		return err
	}
	switch {
	case len(plan.Objects) == 0, f.flags.dryRun.word == "client":
		return f.tell(planned)
	case f.flags.dryRun.word == "server":
		tried := plan.Run(ctx, f.cluster, repair.RunOptions{DryRun: true, Timeout: f.flags.timeout})
		return f.tell(f.result(plan, tried, f.before.Comparison))
	}
	if asks {
		switch agreed, err := f.ask(ctx, planned); {
		case err != nil:
			return err
		case !agreed:
			return f.tell(f.result(plan, unconfirmed(planned), f.before.Comparison))
		}
	}
	if err := f.backup(plan); err != nil {
		return err
	}
	outcomes := plan.Run(ctx, f.cluster, repair.RunOptions{Timeout: f.flags.timeout, Before: f.before.CheckUnchanged})
	after, err := f.compareAgain(ctx)
	if err != nil {
		f.streams.explain(err)
	} else {
		outcomes = plan.Confirmed(outcomes, after)
	}
	return f.tell(f.result(plan, outcomes, after))
}

// plan refuses what is not to be written to, and chooses what is written.
func (f fixRun) plan() (*repair.Plan, error) {
	last := f.before.Loaded.Last
	if strings.HasPrefix(last.Status, "uninstall") {
		return nil, hinted{error: fmt.Errorf("revision %d of %s is %s", last.Revision, f.target.Release, last.Status),
			hint: "what is left of it is not put back; helm rollback brings a release back"}
	}
	if err := errors.Join(f.checkRevision(), f.checkTarget()); err != nil {
		return nil, err
	}
	chosen, err := f.flags.selection()
	if err != nil {
		return nil, err
	}
	d := f.before.Comparison.Deployer()
	if f.before.Comparison.Input.ApplyMethod == "server-side" && d.Known && chosen.Manager != "" && chosen.Manager != d.Manager {
		return nil, hinted{error: fmt.Errorf("--field-manager %s: this release is applied server-side by %s", chosen.Manager, d.Manager),
			hint: "leave the flag out: fields are handed over to " + d.Manager + ", or its next upgrade would conflict with their owner"}
	}
	return repair.New(f.before.Comparison, chosen)
}

// checkRevision refuses to put back any revision but the last one and the one that an upgrade would start from.
func (f fixRun) checkRevision() error {
	loaded := f.before.Loaded
	wanted, last := f.target.Revision, loaded.Choice.Last.Revision
	if wanted == 0 {
		return nil
	}
	if loaded.LastProblem != nil {
		return loaded.LastProblem
	}
	current, err := loaded.History.Choose(0)
	switch {
	case err != nil:
		return err
	case wanted != last && wanted != current.Old.Revision:
		return hinted{
			error: fmt.Errorf("--revision %d: the release is at revision %d, and its last one is %d", wanted, current.Old.Revision, last),
			hint:  fmt.Sprintf("helm rollback %s %d goes back to it", f.target.Release, wanted),
		}
	}
	return nil
}

// checkTarget refuses to write to the objects of a record that may be a copy, unless the user names their namespace.
func (f fixRun) checkTarget() error {
	in, given := f.before.Comparison.Input, f.flags.target
	switch {
	case given == "" && f.before.RecordElsewhere():
		return hinted{
			error: fmt.Errorf("the record of %s in namespace %s says that the release is in %s, so it may be a copy, and fix would write to %s",
				in.Name, in.StorageNamespace, in.Namespace, in.Namespace),
			hint: fmt.Sprintf("helmdrift fix %s -n %s puts back what drifted by the record there; "+
				"with --target-namespace %s, fix writes to %s by this record",
				in.Name, in.Namespace, in.Namespace, in.Namespace),
		}
	case given != "" && given != in.Namespace:
		return hinted{error: fmt.Errorf("--target-namespace %s: the record of %s says that the release is in %s", given, in.Name, in.Namespace),
			hint: "the flag allows writing to the namespace that the record names; it does not choose another one"}
	}
	return nil
}

// result describes a plan and a run, masked.
func (f fixRun) result(plan *repair.Plan, outcomes []report.FixOutcome, now *threeway.Comparison) *report.FixResult {
	mask := threeway.Mask{Show: f.flags.showSecrets}
	r := plan.Result(mask, outcomes)
	r.Helmdrift, r.Time, r.DryRun = version, time.Now().UTC().Truncate(time.Second), f.flags.dryRun.word
	if now != nil {
		r.After = report.New(version, r.Time, []report.Release{now.Report(mask)})
	}
	return &r
}

// show writes the plan: as text to stdout, and to stderr if the question is asked there and stdout is not seen.
func (f fixRun) show(r *report.FixResult, asks bool) error {
	if f.flags.format == output.Text {
		if err := f.write(f.streams.out, r, output.WriteFixPlan); err != nil {
			return err
		}
	}
	if unseen := f.flags.format != output.Text || !isTerminal(f.streams.out); asks && f.streams.canAsk() && unseen {
		return f.write(f.streams.err, r, output.WriteFixPlan)
	}
	return nil
}

func (f fixRun) write(w io.Writer, r *report.FixResult, writer func(io.Writer, *report.FixResult, output.Options) error) error {
	return writer(w, r, f.streams.displayOn(w, f.flags.color, r.Time))
}

// ask asks whether the plan is to be written.
func (f fixRun) ask(ctx context.Context, r *report.FixResult) (bool, error) {
	if !f.streams.canAsk() {
		return false, hinted{error: errors.New("nothing was written: this needs somebody's consent, and there is no terminal to ask on"),
			hint: "--yes writes without asking, --dry-run only shows what would be written"}
	}
	if err := f.write(f.streams.err, r, output.WriteFixQuestion); err != nil {
		return false, err
	}
	return f.streams.yes(ctx)
}

// unconfirmed are the outcomes of a plan that was not confirmed.
func unconfirmed(r *report.FixResult) []report.FixOutcome {
	var out []report.FixOutcome
	for _, p := range r.Plan {
		out = append(out, report.FixOutcome{Object: p.Object, Status: report.FixDeclined, Reason: "not confirmed"})
	}
	return out
}

// backup saves the planned objects that exist, before the first write. Secret fields are left out of the files, and stderr names them.
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
				notes = append(notes, fmt.Sprintf("the backup of %s lacks what is secret: %s; --show-secrets keeps it",
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

// compareAgain compares again, unless the run was interrupted.
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

// tell writes the result, and returns the exit code.
func (f fixRun) tell(r *report.FixResult) error {
	if err := output.WriteFix(f.streams.out, f.flags.format, r, f.streams.display(f.flags.color, r.Time)); err != nil {
		return err
	}
	counting := *r
	counting.Results = slices.DeleteFunc(slices.Clone(r.Results), r.IsNoDrift)
	return fixStatus(&counting)
}
