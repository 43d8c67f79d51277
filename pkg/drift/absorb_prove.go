package drift

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file proves what a search has found: the changed values file itself is rendered, and the release is compared with the result.

// maxProofs is how often the changes are proved, each time without those of the fields that the proof before has refuted.
const maxProofs = 4

// prove proves the changes of values. What is refuted is withdrawn, and the rest is proved again.
func (r run) prove(ctx context.Context, a *Absorption, chart *variantChart, p absorb.Problem, o AbsorbOptions) error {
	chart.server.renew() // the proof must not fail because the search took all the time
	for range maxProofs {
		refuted, err := r.proveOnce(ctx, a, chart, p, o)
		if err != nil || len(refuted) == 0 {
			return err
		}
		for _, i := range refuted {
			a.unproved[i] = true
		}
		a.found = absorb.Withdraw(p, a.found, a.unproved)
		a.Edits = a.found.Edits
		if len(a.Edits) == 0 {
			return nil
		}
	}
	a.refuteAll()
	return nil
}

// proveOnce renders the changed values file, now with the schema of the chart, and compares the release with the result. It returns the
// fields that are not as live has them.
func (r run) proveOnce(
	ctx context.Context, a *Absorption, chart *variantChart, p absorb.Problem, o AbsorbOptions,
) (refuted []int, err error) {
	content, err := json.Marshal(a.found.Edited)
	if err != nil {
		return nil, errors.New("the changed values are no JSON")
	}
	if o.Rewrite != nil {
		rewritten, err := o.Rewrite(a.Edits, a.Edited)
		if err != nil {
			return nil, fmt.Errorf("changing the values file: %w", err)
		}
		if rewritten != nil {
			content = rewritten
		}
	}
	a.Content = content
	rendered, err := chart.server.render(ctx, []render.Variant{{Values: content, Strict: !r.target.Chart.SkipSchemaValidation}})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && rendered[0].Fault != "" {
		err = errors.New(rendered[0].Fault)
	}
	if err != nil {
		a.refuted = true
		a.refuteAll()
		a.warnings = append(a.warnings, report.Message{Code: report.ErrorRender,
			Message: a.Result.Comparison.Scrub("the changed values are not proved: " + err.Error())})
		return nil, nil
	}
	in := a.Result.Comparison.Input
	in.DesiredObjects = chart.list(rendered[0])
	if a.after, err = r.compareInput(ctx, in); err != nil {
		return nil, err
	}
	for i, w := range a.wanted {
		if a.found.Found[i].Status == absorb.Absorbed && !a.unproved[i] && !a.isProved(w) {
			refuted = append(refuted, i)
		}
	}
	if len(refuted) == 0 && a.movesMoreHooks(p.Hooks.Effects(chart.hooks(chart.server.first.Hooks), chart.hooks(rendered[0].Hooks))) {
		a.refuteAll()
	}
	return refuted, nil
}

// movesMoreHooks reports whether the changed values file moves more in hooks than the search has seen. Each edit was found on top of those
// before it, and without one that was withdrawn it may do something else.
func (a *Absorption) movesMoreHooks(proved []absorb.Effect) bool {
	seen := 0
	for i, found := range a.found.Found {
		if found.Status == absorb.Absorbed && !a.unproved[i] {
			seen += absorb.CountHooks(found.Effects)
		}
	}
	return absorb.CountHooks(proved) > seen
}

// refuteAll marks all fields as unproved, so that nothing is proposed.
func (a *Absorption) refuteAll() {
	for i := range a.found.Found {
		a.unproved[i] = true
	}
	a.Edits = nil
}

// isProved reports whether the comparison with the changed values has a field as live has it.
func (a *Absorption) isProved(w wantedField) bool {
	o := objectOf(a.after, w.Key)
	if o == nil {
		return true
	}
	if len(w.Path) == 0 {
		return o.Action != report.ActionCreate
	}
	return w.IsIn(o.Desired)
}
