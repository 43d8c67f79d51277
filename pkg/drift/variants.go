package drift

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"

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
	// Hooks are those of the first rendering, and HooksAgain those of another one with the same values.
	Hooks, HooksAgain []render.HookDocument
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
	first.Hooks, first.HooksAgain = v.Hooks()
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
