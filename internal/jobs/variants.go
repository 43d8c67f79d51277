package jobs

import (
	"context"
	"errors"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// jobVariants is the name of the job, and askVariants is the name of the question for the next batch of values.
const (
	jobVariants = "variants"
	askVariants = "variants"
)

// Variants returns the child's job for absorb.
func Variants() map[string]confine.Job {
	return map[string]confine.Job{jobVariants: confine.NewJob(renderVariants)}
}

// RenderVariants implements absorb.Options.RenderVariants in one child process: the limits hold for all renderings together. If a
// rendering ends the child, internal/absorb starts another one within Options.RenderTime.
func (l Limits) RenderVariants(ctx context.Context, q drift.ChartRequest, next absorb.NextVariants) error {
	calls := callsOf(q)
	calls[askVariants] = confine.NewCall(next)
	answer, err := Run[chartOrder, chartAnswer](ctx, l, "trying values of the chart", jobVariants, l.chartOrder(q), calls)
	if err == nil && answer.Fault != nil {
		return answer.Fault
	}
	return err
}

// renderVariants renders variants in a child, which asks its parent for each batch.
func renderVariants(ctx context.Context, p *confine.Parent, o chartOrder) (chartAnswer, error) {
	q := o.request(p)
	defer scrubLog((*secret.Known)(q.Known))()
	err := absorb.ServeVariants(ctx, q, func(_ context.Context, answer absorb.VariantAnswer) (absorb.VariantOrder, error) {
		return confine.Ask[absorb.VariantAnswer, absorb.VariantOrder](p, askVariants, answer)
	})
	if fault := (*render.Error)(nil); errors.As(err, &fault) {
		return chartAnswer{Fault: fault}, nil
	}
	return chartAnswer{}, err
}
