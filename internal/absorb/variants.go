package absorb

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/absorb/kustomize"
	"github.com/helmdrift/helmdrift/internal/absorb/reads"
	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// This file renders one chart many times, for a search of values. All renderings are one piece of work with one limit of time and memory:
// a server, in this process or in another one, renders a batch, answers, and asks for the next batch.

// VariantOrder is a batch of variants to render. Done ends the work.
type VariantOrder struct {
	Variants []vary.Variant
	// Kustomizations is empty, or has a kustomization for each variant, to post-render its manifest.
	Kustomizations []*absorption.Kustomization
	Done           bool
}

// VariantAnswer answers an order. The first answer has First and no renderings.
type VariantAnswer struct {
	First      *FirstVariant
	Renderings []vary.Rendering
	// Known has the secrets that are known by now, such as Secrets that templates looked up.
	Known *secret.Known
}

// FirstVariant is the chart with the values as they are.
type FirstVariant struct {
	// Edited is the content of the values that vary, and Values is what the templates see as .Values. Both are JSON.
	Edited, Values []byte
	Documents      []render.Document
	Templates      []render.Template
	Reads          map[string]reads.Template
	// Hooks are the hooks of the first rendering, and HooksAgain are the hooks of a second one with the same values.
	Hooks, HooksAgain []vary.Hook
}

// NextVariants takes an answer and returns the next order.
type NextVariants func(ctx context.Context, answer VariantAnswer) (VariantOrder, error)

// ServeVariants renders a chart until next says that it is done. It runs where the limits apply, usually in a child process.
func ServeVariants(ctx context.Context, q drift.ChartRequest, next NextVariants) error {
	options, err := q.RenderOptions(ctx)
	if err != nil {
		return err
	}
	v, err := vary.New(ctx, options)
	if err != nil {
		return err
	}
	first := &FirstVariant{
		Edited: v.Edited, Documents: v.Documents, Templates: v.Templates, Reads: reads.Of(v.Templates), Hooks: v.Hooks, HooksAgain: v.HooksAgain,
	}
	if first.Values, err = json.Marshal(v.Values); err != nil {
		return errors.New("the values are no JSON")
	}
	answer := VariantAnswer{First: first}
	for {
		answer.Known = (*secret.Known)(q.Known)
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
func renderAll(ctx context.Context, v *vary.Chart, all []vary.Variant) []vary.Rendering {
	out := make([]vary.Rendering, len(all))
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
