package absorb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file proves what a search has found: it renders the chart with the changed values file, and compares the release with the result.

// maxProofs is the greatest number of proofs. Each leaves out the changes for the fields that the previous one refuted.
const maxProofs = 4

// prove proves the changes of values. It withdraws the changes that are refuted, and proves the rest again.
func (a *Absorption) prove(ctx context.Context, chart *variantChart, p search.Problem, o Options) error {
	chart.server.renew() // the proof must not fail because the search took all the time
	for range maxProofs {
		refuted, err := a.proveOnce(ctx, chart, p, o)
		if err != nil || len(refuted) == 0 {
			return err
		}
		for _, i := range refuted {
			a.unproved[i] = true
		}
		a.found = search.Withdraw(p, a.found, a.unproved)
		a.Edits = a.found.Edits
		if len(a.Edits) == 0 {
			return nil
		}
	}
	a.refuteAll()
	return nil
}

// proveOnce renders the chart with the changed values file, now with the chart's schema, and compares the release with the result. It
// returns the fields that do not equal live.
func (a *Absorption) proveOnce(ctx context.Context, chart *variantChart, p search.Problem, o Options) (refuted []int, err error) {
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
	if refuted, err = a.refutedBy(o); err != nil || len(refuted) > 0 {
		return refuted, err
	}
	rendered, err := chart.server.render(ctx, []vary.Variant{{Values: content, Strict: chart.strict}})
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
	if a.after, err = a.Result.WithDesired(ctx, chart.list(rendered[0])); err != nil {
		return nil, err
	}
	for i, w := range a.wanted {
		if a.found.Found[i].Status == search.Absorbed && !a.unproved[i] && !a.isProved(w) {
			refuted = append(refuted, i)
		}
	}
	if len(refuted) == 0 && a.movesMore(p.Moves(chart.unchanged(), chart.read(rendered[0]))) {
		a.refuteAll()
	}
	return refuted, nil
}

// refutedBy returns the fields whose edits Options.Prove refuses.
func (a *Absorption) refutedBy(o Options) (refuted []int, err error) {
	if o.Prove == nil {
		return nil, nil
	}
	reasons, err := o.Prove()
	if err != nil {
		return nil, err
	}
	for n, why := range reasons {
		if why == "" || n >= len(a.Edits) {
			continue
		}
		for i, found := range a.found.Found {
			isPart := slices.ContainsFunc(found.Edits, func(e Edit) bool { return overlap(e.Path, a.Edits[n].Path) })
			if found.Status == search.Absorbed && !a.unproved[i] && isPart && a.refused[i] == "" {
				a.refused[i] = a.cannotTake(a.Edits[n:n+1], why)
				refuted = append(refuted, i)
			}
		}
		if len(refuted) == 0 {
			return nil, errors.New(a.cannotTake(a.Edits[n:n+1], why)) // the edits of the fields are parts of all edits
		}
	}
	return refuted, nil
}

// overlap reports whether one of two paths leads to the other.
func overlap(a, b []any) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// cannotTake says that edits cannot be made where the values live.
func (a *Absorption) cannotTake(edits []Edit, why string) string {
	where := "values file"
	if a.inTree {
		where = "working tree"
	}
	return "the " + where + " cannot take the change of " + namesOf(edits) + ": " + a.Result.Comparison.Scrub(why)
}

// movesMore reports whether the changed values file moves more than the search has seen. Each edit was found on top of earlier ones, and
// may do something else if one of those was withdrawn. Fields of objects count only then: the search has proved the edits together.
func (a *Absorption) movesMore(proved []search.Effect) bool {
	seenHooks, seenObjects := 0, 0
	for i, found := range a.found.Found {
		if found.Status == search.Absorbed && !a.unproved[i] {
			hooks, objects := search.Count(found.Effects)
			seenHooks, seenObjects = seenHooks+hooks, seenObjects+objects
		}
	}
	hooks, objects := search.Count(proved)
	return hooks > seenHooks || len(a.unproved) > 0 && objects > seenObjects
}

// refuteAll marks all fields as unproved, so that nothing is proposed.
func (a *Absorption) refuteAll() {
	for i := range a.found.Found {
		a.unproved[i] = true
	}
	a.Edits = nil
}

// isProved reports whether a field equals live in the comparison with the changed values.
func (a *Absorption) isProved(w wantedField) bool {
	if len(w.Path) == 0 {
		return !renders(a.after, w.Key)
	}
	o := objectOf(a.after, w.Key)
	return o == nil || w.IsIn(o.Desired)
}
