package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// The names of the jobs of a child.
const (
	jobManifest = "manifest"
	jobChart    = "chart"
	jobIndex    = "index"
	jobVariants = "variants"
)

// The names of the questions that the rendering of a chart asks its parent, which has the credentials, the terminal and the user's
// environment.
const (
	askFile       = "file"
	askLookup     = "lookup"
	askPostRender = "post-render"
	askVariants   = "variants"
)

// All returns the jobs of a child by their names.
func All() map[string]confine.Job {
	return map[string]confine.Job{
		jobManifest: confine.NewJob(readManifest),
		jobChart:    confine.NewJob(renderChart),
		jobVariants: confine.NewJob(renderVariants),
		jobIndex: confine.NewJob(func(ctx context.Context, _ *confine.Parent, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
			return q.Answer(ctx)
		}),
	}
}

// FetchChart implements drift.Options.Fetch. The chart is fetched in this process, which has the logins, and the indexes of repositories
// are read in a child process.
func (l Limits) FetchChart(ctx context.Context, ref string, source fetch.Options) (path string, done func(), err error) {
	if l.Time > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, l.Time, l.timeExceeded("fetching the chart"))
		defer cancel()
		ctx = limited
	}
	source.MaxAnswer = l.MaxAnswer()
	source.ReadIndex = func(ctx context.Context, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
		return runJob[fetch.IndexQuery, fetch.IndexAnswer](ctx, l, "reading the index of the repository", jobIndex, q, nil)
	}
	return fetch.Chart(ctx, ref, source)
}

// manifestOrder is a manifest to read, and the memory that its comparison may take.
type manifestOrder struct {
	Text   string
	Memory int64
}

// manifestAnswer holds the documents of a manifest. TooLarge says that the parent could not compare them within the memory limit.
type manifestAnswer struct {
	Documents []render.Document
	TooLarge  bool
}

// ReadManifest implements drift.Options.ReadManifest. A manifest that is short and has no aliases is read in this process. Any other needs
// a child process, whose start takes some 50 ms.
func (l Limits) ReadManifest(ctx context.Context, r *release.Record) ([]render.Document, error) {
	if render.NeedsNoBounds(r.Manifest) {
		return render.ReadDocuments(r.Manifest), nil
	}
	name := fmt.Sprintf("the manifest of revision %d of %s", r.Revision, r.Name)
	order := manifestOrder{Text: r.Manifest, Memory: l.Memory.Value()}
	answer, err := runJob[manifestOrder, manifestAnswer](ctx, l, "reading "+name, jobManifest, order, nil)
	if err == nil && answer.TooLarge {
		err = l.memoryExceeded("comparing " + name)
	}
	return answer.Documents, err
}

// readManifest reads a manifest in a child. It also makes sure that the parent can continue with the documents: it builds the objects as
// the parent will, and estimates the memory that comparing them takes.
func readManifest(_ context.Context, _ *confine.Parent, o manifestOrder) (manifestAnswer, error) {
	documents := render.ReadDocuments(o.Text)
	if tooLarge(documents, o.Memory) {
		return manifestAnswer{TooLarge: true}, nil
	}
	return manifestAnswer{Documents: documents}, nil
}

// Bounded returns a function that reads a manifest, and fails if its comparison would exceed the limit of memory. It is for manifests that
// are read without a child, such as those of a snapshot.
func (l Limits) Bounded(
	read func(context.Context, *release.Record) ([]render.Document, error),
) func(context.Context, *release.Record) ([]render.Document, error) {
	return func(ctx context.Context, r *release.Record) ([]render.Document, error) {
		documents, err := read(ctx, r)
		if err == nil && tooLarge(documents, l.Memory.Value()) {
			err = l.memoryExceeded(fmt.Sprintf("comparing the manifest of revision %d of %s", r.Revision, r.Name))
		}
		return documents, err
	}
}

// tooLarge reports whether comparing the objects of documents takes more memory than limit; a limit of 0 means none.
func tooLarge(documents []render.Document, limit int64) bool {
	return render.Objects(documents, render.ParseOptions{}).Weight() > limit && limit > 0
}

// chartOrder is a chart to render. The functions of the request cannot cross the pipe; the child replaces them by questions. PostRenders
// says that there is a post-renderer, and an empty Request.Server says that lookups find nothing.
type chartOrder struct {
	Request     drift.ChartRequest
	PostRenders bool
	Memory      int64
}

// chartAnswer is a rendered chart, or the reason why there is none.
type chartAnswer struct {
	Chart    drift.RenderedChart
	TooLarge bool
	// Known is what is known to be secret after the rendering, such as Secrets that templates looked up.
	Known *secret.Known
	// Fault says what is wrong with the chart. It is sent as a value because an error would lose its file and line.
	Fault *render.Error
}

// RenderChart implements drift.Options.Render in a child process, which asks this one for files, lookups and the post-renderer.
func (l Limits) RenderChart(ctx context.Context, q drift.ChartRequest) (*drift.RenderedChart, error) {
	// Each function of the request becomes a question that the child may ask.
	calls := callsOf(q)
	order := chartOrder{Request: q, PostRenders: q.PostRender != nil, Memory: l.Memory.Value()}
	answer, err := runJob[chartOrder, chartAnswer](ctx, l, "rendering the chart", jobChart, order, calls)
	q.Known.AddKnown(answer.Known)
	switch {
	case err != nil:
		return nil, err
	case answer.TooLarge:
		return nil, l.memoryExceeded("comparing what the chart renders")
	case answer.Fault != nil:
		return nil, answer.Fault
	}
	return &answer.Chart, nil
}

// callsOf returns the calls that answer the questions of a child about a request.
func callsOf(q drift.ChartRequest) map[string]confine.Call {
	return map[string]confine.Call{
		askFile: confine.NewCall(q.ReadFile), askLookup: confine.NewCall(q.Lookup), askPostRender: confine.NewCall(q.PostRender),
	}
}

// RenderVariants implements drift.Options.RenderVariants in one child process: the limits are those of all renderings together. If a rendering
// ends the child, pkg/drift starts another one within drift.Options.RenderTime.
func (l Limits) RenderVariants(ctx context.Context, q drift.ChartRequest, next drift.NextVariants) error {
	calls := callsOf(q)
	calls[askVariants] = confine.NewCall(next)
	order := chartOrder{Request: q, PostRenders: q.PostRender != nil, Memory: l.Memory.Value()}
	answer, err := runJob[chartOrder, chartAnswer](ctx, l, "trying values of the chart", jobVariants, order, calls)
	if err == nil && answer.Fault != nil {
		return answer.Fault
	}
	return err
}

// renderVariants renders variants in a child, which asks its parent for each batch.
func renderVariants(ctx context.Context, p *confine.Parent, o chartOrder) (chartAnswer, error) {
	scrubLog(o.Request.Known)
	err := drift.ServeVariants(ctx, o.request(p), func(_ context.Context, answer drift.VariantAnswer) (drift.VariantOrder, error) {
		return confine.Ask[drift.VariantAnswer, drift.VariantOrder](p, askVariants, answer)
	})
	if fault := (*render.Error)(nil); errors.As(err, &fault) {
		return chartAnswer{Fault: fault}, nil
	}
	return chartAnswer{}, err
}

// scrubLog removes from the log of a child what is known to be secret, if anybody reads that log.
func scrubLog(known *secret.Known) {
	if to := log.Writer(); to != io.Discard {
		log.SetOutput(LogWriter(known, to))
	}
}

// renderChart renders a chart in a child. Helm logs while it renders, so the log is scrubbed there, where the values are known.
func renderChart(ctx context.Context, p *confine.Parent, o chartOrder) (chartAnswer, error) {
	known := o.Request.Known
	scrubLog(known)
	rendered, err := drift.RenderChart(ctx, o.request(p))
	if fault := (*render.Error)(nil); errors.As(err, &fault) {
		return chartAnswer{Fault: fault, Known: known}, nil
	}
	if err != nil {
		return chartAnswer{}, err
	}
	if tooLarge(slices.Concat(rendered.Manifest, rendered.Again, rendered.AtOnce), o.Memory) {
		return chartAnswer{TooLarge: true, Known: known}, nil
	}
	return chartAnswer{Chart: *rendered, Known: known}, nil
}

// request returns the request with functions that ask the parent.
func (o chartOrder) request(p *confine.Parent) drift.ChartRequest {
	q := o.Request
	q.ReadFile = func(_ context.Context, name string) ([]byte, error) {
		return confine.Ask[string, []byte](p, askFile, name)
	}
	if q.Server != "" {
		q.Lookup = func(_ context.Context, r live.LookupRequest) (live.LookupAnswer, error) {
			return confine.Ask[live.LookupRequest, live.LookupAnswer](p, askLookup, r)
		}
	}
	if o.PostRenders {
		q.PostRender = func(_ context.Context, manifest []byte) ([]byte, error) {
			return confine.Ask[[]byte, []byte](p, askPostRender, manifest)
		}
	}
	return q
}
