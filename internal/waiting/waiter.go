package waiting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output/progress"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/rollout"
)

// waiter implements fixing.Waiter.
type waiter struct {
	wanted  bool
	timeout time.Duration
}

// New returns what waits if the user asks for it with --wait.
func New() fixing.Waiter { return &waiter{timeout: rollout.DefaultTimeout} }

// AddFlags implements fixing.Waiter.
func (w *waiter) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&w.wanted, "wait", false, "wait until what was put back is ready; if it is not, say why, with exit code 1")
	fs.DurationVar(&w.timeout, "wait-timeout", w.timeout, "how long --wait waits for each object")
}

// Check implements fixing.Waiter.
func (w *waiter) Check(flags *pflag.FlagSet, isDryRun bool) error {
	switch {
	case w.timeout <= 0:
		return fmt.Errorf("--wait-timeout %s: must be more than 0", w.timeout)
	case flags.Changed("wait-timeout") && !w.wanted:
		return errors.New("--wait-timeout needs --wait")
	case isDryRun && w.wanted:
		return errors.New("--wait and --dry-run exclude each other: a dry run writes nothing")
	}
	return nil
}

// Wait implements fixing.Waiter.
func (w *waiter) Wait(ctx context.Context, f fixing.Run, plan *repair.Plan, outcomes []report.FixOutcome) bool {
	if !w.wanted {
		return false
	}
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
	s, look := f.Streams, f.Streams.Display(f.Streams.Err, f.Color, time.Now()).Text
	versions := f.Before.Comparison.CustomVersions()
	options := rollout.Options{Timeout: w.timeout, Scrub: func(text string) string { return scrubbed(f, text) }}
	show := func([]report.FixOutcome) {}
	if terminal.IsTerminal(s.Err) && s.Env("TERM") != "dumb" {
		block := progress.NewRollout(s.Err, look, f.Before.Comparison.Input.Namespace, versions)
		defer block.Done()
		s.Err, show = block, block.Update
	}
	options.Show = func(states []rollout.State) {
		for _, state := range states {
			if state.News {
				s.Print("not up yet: ", text.RolloutReason(outcomeOf(state), f.Before.Comparison.Input.Namespace, versions, look))
			}
		}
		show(outcomesOf(states))
	}
	for _, waited := range outcomesOf(rollout.Wait(ctx, lists.Pods{Cluster: f.Cluster}, refs, options)) {
		for i := range outcomes {
			if outcomes[i].Object == waited.Object && outcomes[i].Status == report.FixFixed {
				outcomes[i].Rollout = waited.Rollout
			}
		}
	}
	return true
}

// outcomeOf returns the outcome that shows a state.
func outcomeOf(s rollout.State) report.FixOutcome {
	return report.FixOutcome{Object: report.ObjectKey{Key: s.Ref.Key}, Rollout: &s.Rollout}
}

// outcomesOf returns the outcomes that show states.
func outcomesOf(states []rollout.State) []report.FixOutcome {
	out := make([]report.FixOutcome, len(states))
	for i, s := range states {
		out[i] = outcomeOf(s)
	}
	return out
}

// scrubbed removes the secrets that a run and the release know from a text of the cluster, unless the user asked for clear values.
func scrubbed(f fixing.Run, text string) string {
	if f.ShowSecrets {
		return text
	}
	return f.Streams.Known.Scrub(f.Before.Comparison.Scrub(text))
}

// Hint implements fixing.Waiter.
func (w *waiter) Hint(f fixing.Run, r *report.FixResult) string {
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
	case f.Before.Loaded.Last.Revision > 1:
		advice += fmt.Sprintf("; helm rollback %s -n %s returns to the revision before", hint.ShellWord(r.Name), hint.ShellWord(r.Namespace))
	}
	return advice
}
