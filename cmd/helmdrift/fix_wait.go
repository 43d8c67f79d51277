package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/rollout"
)

// This file waits for what a fix has written. pkg/rollout waits and finds out why an object does not come up; here is what the user sees
// meanwhile: on a terminal a line for each workload, and everywhere each problem as soon as it is known.

// wait waits until what was put back is as it should be, and adds to each of these outcomes how far its object came. It reports whether
// there was anything to wait for.
func (f fixRun) wait(ctx context.Context, plan *repair.Plan, outcomes []report.FixOutcome) bool {
	var refs []object.Ref
	for _, o := range plan.Objects {
		isFixed := func(out report.FixOutcome) bool { return out.Object.Key == o.Ref.Key && out.Status == report.FixFixed }
		if slices.ContainsFunc(outcomes, isFixed) {
			refs = append(refs, o.Ref)
		}
	}
	if len(refs) == 0 {
		return false
	}
	s, look := f.streams, f.streams.display(f.streams.err, f.flags.color, time.Now()).Text
	versions := f.before.Comparison.CustomVersions()
	options := rollout.Options{Timeout: f.flags.waitTimeout, Scrub: f.scrub}
	show := func([]report.FixOutcome) {}
	if terminal.IsTerminal(s.err) && s.env("TERM") != "dumb" {
		progress := text.NewRolloutProgress(s.err, look, f.before.Comparison.Input.Namespace, versions)
		defer progress.Done()
		s.err, show = progress, progress.Update
	}
	options.Show = func(states []rollout.State) {
		for _, state := range states {
			if state.News {
				s.print("not up yet: ", text.RolloutReason(outcomeOf(state), f.before.Comparison.Input.Namespace, versions, look))
			}
		}
		show(outcomesOf(states))
	}
	for _, waited := range outcomesOf(rollout.Wait(ctx, f.cluster, refs, options)) {
		for i := range outcomes {
			if outcomes[i].Object == waited.Object && outcomes[i].Status == report.FixFixed {
				outcomes[i].Rollout = waited.Rollout
			}
		}
	}
	return true
}

// outcomeOf returns a state in the form in which it is shown.
func outcomeOf(s rollout.State) report.FixOutcome {
	return report.FixOutcome{Object: report.ObjectKey{Key: s.Ref.Key}, Rollout: &s.Rollout}
}

// outcomesOf returns states in the form in which they are shown.
func outcomesOf(states []rollout.State) []report.FixOutcome {
	out := make([]report.FixOutcome, len(states))
	for i, s := range states {
		out[i] = outcomeOf(s)
	}
	return out
}

// scrub removes the secrets that this run and the release know from a text of the cluster, unless the user asked for clear values.
func (f fixRun) scrub(text string) string {
	if f.flags.showSecrets {
		return text
	}
	return f.streams.known.Scrub(f.before.Comparison.Scrub(text))
}

// waitHint says what to do about the first object that did not come up. It is empty if all did.
func (f fixRun) waitHint(r *report.FixResult) string {
	i := slices.IndexFunc(r.Results, func(o report.FixOutcome) bool { return !o.IsUp() })
	if i < 0 {
		return ""
	}
	key, rollout := r.Results[i].Object.Key, r.Results[i].Rollout
	name := strings.ToLower(key.GroupKind().String()) + "/" + key.Name
	if rollout.Pod != "" {
		name = "pod/" + rollout.Pod
	}
	namespace := ""
	if key.Namespace != "" {
		namespace = " -n " + hint.ShellWord(key.Namespace)
	}
	advice := fmt.Sprintf("kubectl describe %s%s says more", hint.ShellWord(name), namespace)
	switch {
	case rollout.Status == report.RolloutInterrupted:
		return "what was put back stays; " + advice
	case f.before.Loaded.Last.Revision > 1:
		advice += fmt.Sprintf("; helm rollback %s -n %s returns to the revision before", hint.ShellWord(r.Name), hint.ShellWord(r.Namespace))
	}
	return advice
}
