package drift

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file renders one chart many times, for a search of values. All renderings are one piece of work with one limit of time and memory: a
// server renders, in this process or in another one, and asks for the next batch when it has answered the last one.

// VariantOrder is a batch of variants to render. Done ends the work.
type VariantOrder struct {
	Variants []render.Variant
	// Kustomizations is empty, or has a kustomization for each variant, with which its manifest is post-rendered.
	Kustomizations []*report.Kustomization
	Done           bool
}

// VariantAnswer answers an order. The first answer has First and no renderings.
type VariantAnswer struct {
	First      *FirstVariant
	Renderings []render.VariantRendering
	// Known is what is known to be secret by now, such as Secrets that templates looked up.
	Known *secret.Known
}

// FirstVariant is the chart with the values as they are.
type FirstVariant struct {
	// Edited is the content of the values that vary, and Values what the templates see as .Values; both are JSON.
	Edited, Values []byte
	Documents      []render.Document
	Templates      []render.Template
	Reads          map[string]render.Reads
}

// NextVariants takes an answer and returns the next order.
type NextVariants func(ctx context.Context, answer VariantAnswer) (VariantOrder, error)

// ServeVariants renders a chart until next says that this is all. It is the part of the work that runs where the limits are.
func ServeVariants(ctx context.Context, q ChartRequest, next NextVariants) error {
	options, err := q.options(ctx)
	if err != nil {
		return err
	}
	v, err := render.NewVariants(ctx, options)
	if err != nil {
		return err
	}
	first := &FirstVariant{Documents: v.Documents(), Templates: v.Templates(), Reads: v.Reads()}
	if first.Edited, err = json.Marshal(v.Edited()); err != nil {
		return errors.New("the values are no JSON")
	}
	if first.Values, err = json.Marshal(v.Values()); err != nil {
		return errors.New("the values are no JSON")
	}
	answer := VariantAnswer{First: first}
	for {
		answer.Known = q.Known
		order, err := next(ctx, answer)
		if err != nil || order.Done {
			return err
		}
		for i, k := range order.Kustomizations {
			order.Variants[i].PostRender = func(manifest []byte) ([]byte, error) { return kustomize.Apply(k, manifest) }
		}
		answer = VariantAnswer{Renderings: renderAll(ctx, v, order.Variants)}
	}
}

// renderAll renders variants on all processors.
func renderAll(ctx context.Context, v *render.Variants, all []render.Variant) []render.VariantRendering {
	out := make([]render.VariantRendering, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() error {
			out[i] = v.Render(ctx, all[i])
			return nil
		})
	}
	_ = group.Wait() // no rendering returns an error
	return out
}

// VariantServer is the other end of ServeVariants: it sends orders and waits for their answers.
type VariantServer struct {
	First   FirstVariant
	orders  chan VariantOrder
	answers chan VariantAnswer
	// ended is closed when the serving has ended, for the reason err.
	ended chan struct{}
	err   error
	known *secret.Known
}

// StartVariants starts to render a chart. Serve is ServeVariants or does the same in another process.
func StartVariants(
	ctx context.Context, q ChartRequest, serve func(context.Context, ChartRequest, NextVariants) error,
) (*VariantServer, error) {
	s := &VariantServer{
		orders: make(chan VariantOrder), answers: make(chan VariantAnswer), ended: make(chan struct{}), known: q.Known,
	}
	go func() {
		defer close(s.ended)
		s.err = serve(ctx, q, s.next)
	}()
	answer, err := s.wait(ctx)
	if err != nil {
		return nil, err
	}
	s.First = *answer.First
	return s, nil
}

// next passes an answer on and waits for the next order.
func (s *VariantServer) next(ctx context.Context, answer VariantAnswer) (VariantOrder, error) {
	select {
	case s.answers <- answer:
	case <-ctx.Done():
		return VariantOrder{}, context.Cause(ctx)
	}
	select {
	case order := <-s.orders:
		return order, nil
	case <-ctx.Done():
		return VariantOrder{}, context.Cause(ctx)
	}
}

// wait waits for an answer.
func (s *VariantServer) wait(ctx context.Context) (VariantAnswer, error) {
	select {
	case answer := <-s.answers:
		s.known.AddKnown(answer.Known)
		return answer, nil
	case <-s.ended:
		if s.err != nil {
			return VariantAnswer{}, s.err
		}
		return VariantAnswer{}, errors.New("the rendering ended early")
	case <-ctx.Done():
		return VariantAnswer{}, context.Cause(ctx)
	}
}

// Render renders a batch. An error means that the work has ended, such as at its time limit.
func (s *VariantServer) Render(ctx context.Context, all []render.Variant) ([]render.VariantRendering, error) {
	return s.order(ctx, VariantOrder{Variants: all})
}

// Patch renders a variant once with each of some kustomizations as the post-renderer.
func (s *VariantServer) Patch(ctx context.Context, one render.Variant, all []*report.Kustomization) ([]render.VariantRendering, error) {
	return s.order(ctx, VariantOrder{Variants: slices.Repeat([]render.Variant{one}, len(all)), Kustomizations: all})
}

// order sends an order and waits for its answer.
func (s *VariantServer) order(ctx context.Context, order VariantOrder) ([]render.VariantRendering, error) {
	select {
	case s.orders <- order:
	case <-s.ended:
		return nil, cmpErr(s.err)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	answer, err := s.wait(ctx)
	if err == nil && len(answer.Renderings) != len(order.Variants) {
		err = errors.New("the rendering ended early")
	}
	return slices.Clone(answer.Renderings), err
}

// cmpErr returns err, or an error for work that ended without one.
func cmpErr(err error) error {
	if err != nil {
		return err
	}
	return errors.New("the rendering ended early")
}

// Close ends the work.
func (s *VariantServer) Close() {
	select {
	case s.orders <- VariantOrder{Done: true}:
	case <-s.ended:
	}
	<-s.ended
}
