package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"slices"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// childName is the argv[0] of a child process; see internal/confine. No file is called so.
const childName = "helmdrift-confined"

// The jobs of a child.
const (
	jobManifest = "manifest"
	jobChart    = "chart"
	jobIndex    = "index"
)

// The questions that a chart has for the parent, which has the credentials, the terminal and the user's environment.
const (
	askFile       = "file"
	askLookup     = "lookup"
	askPostRender = "post-render"
)

// childEnv is the environment of a child: what says where it is, and how to reach the network for the schemas that charts refer
// to. No credentials of the cluster are in it.
func childEnv(env func(string) string) []string {
	var out []string
	for _, name := range []string{
		"TZ", "ZONEINFO", "TMPDIR", "TMP", "TEMP", "GODEBUG", "GOCOVERDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	} {
		if value := env(name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// serveParent is main for a child.
func serveParent() int {
	debug.SetTraceback("single")
	quiet()
	log.SetOutput(os.Stderr) // the parent decides who reads it
	out := os.Stdout
	os.Stdout = os.Stderr // what a library prints must not get between the answers
	in := io.Reader(os.Stdin)
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		in = eof{} // whoever started this is no parent
	}
	return confine.Child{
		In: in, Out: out, Err: os.Stderr, Exit: os.Exit, Quiet: func() { log.SetOutput(io.Discard) },
		Jobs: map[string]confine.Job{
			jobManifest: confine.NewJob(readManifest),
			jobChart:    confine.NewJob(renderChart),
			jobIndex: confine.NewJob(func(ctx context.Context, _ *confine.Parent, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
				return q.Answer(ctx)
			}),
		},
	}.Serve()
}

// eof is empty.
type eof struct{}

// Read returns the end.
func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// fetchChart is drift.Options.Fetch within the bounds. Indexes of repositories are read in a child process.
func (b bounds) fetchChart(ctx context.Context, ref string, source fetch.Options) (path string, done func(), err error) {
	if b.time > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, b.time, b.overtime("fetching the chart"))
		defer cancel()
		ctx = bounded
	}
	source.MaxAnswer = b.maxAnswer()
	source.ReadIndex = func(ctx context.Context, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
		return within[fetch.IndexQuery, fetch.IndexAnswer](ctx, b, "reading the index of the repository", jobIndex, q, nil)
	}
	return fetch.Chart(ctx, ref, source)
}

// manifestOrder is a manifest to read, and the memory that there is for its comparison.
type manifestOrder struct {
	Text   string
	Memory int64
}

// manifestAnswer is what it holds. TooHeavy says that the parent could not compare it within its memory.
type manifestAnswer struct {
	Documents []render.Document
	TooHeavy  bool
}

// readManifest is drift.Options.ReadManifest within the bounds. A manifest that is short and has no aliases is read here; any other
// takes the start of a child process, some 50 ms.
func (b bounds) readManifest(ctx context.Context, r *release.Record) ([]render.Document, error) {
	if render.NeedsNoBounds(r.Manifest) {
		return render.ReadDocuments(r.Manifest), nil
	}
	name := fmt.Sprintf("the manifest of revision %d of %s", r.Revision, r.Name)
	order := manifestOrder{Text: r.Manifest, Memory: b.heap.Value()}
	answer, err := within[manifestOrder, manifestAnswer](ctx, b, "reading "+name, jobManifest, order, nil)
	if err == nil && answer.TooHeavy {
		err = b.overweight("comparing " + name)
	}
	return answer.Documents, err
}

// readManifest reads a manifest in a child, and makes sure that the parent can go on with it: it builds the objects as the parent will,
// and weighs what comparing them takes.
func readManifest(_ context.Context, _ *confine.Parent, o manifestOrder) (manifestAnswer, error) {
	documents := render.ReadDocuments(o.Text)
	if tooHeavy(documents, o.Memory) {
		return manifestAnswer{TooHeavy: true}, nil
	}
	return manifestAnswer{Documents: documents}, nil
}

func tooHeavy(documents []render.Document, most int64) bool {
	return render.Objects(documents, render.ParseOptions{}).Weight() > most && most > 0
}

// chartOrder is a chart to render. The functions of the request do not cross; PostRenders says that there is a post-renderer, and an
// empty Server that lookups find nothing.
type chartOrder struct {
	Request     drift.ChartRequest
	PostRenders bool
	Memory      int64
}

// chartAnswer is what comes of it.
type chartAnswer struct {
	Chart    drift.RenderedChart
	TooHeavy bool
	// Known is what is known to be secret now.
	Known *secret.Known
	// Fault is what is wrong with the chart.
	Fault *render.Error
}

// renderChart is drift.Options.Render within the bounds: in a child process, which asks this one for files, lookups and the post-renderer.
func (b bounds) renderChart(ctx context.Context, q drift.ChartRequest) (*drift.RenderedChart, error) {
	calls := map[string]confine.Call{
		askFile: confine.NewCall(q.ReadFile), askLookup: confine.NewCall(q.Lookup), askPostRender: confine.NewCall(q.PostRender),
	}
	order := chartOrder{Request: q, PostRenders: q.PostRender != nil, Memory: b.heap.Value()}
	answer, err := within[chartOrder, chartAnswer](ctx, b, "rendering the chart", jobChart, order, calls)
	q.Known.AddKnown(answer.Known)
	switch {
	case err != nil:
		return nil, err
	case answer.TooHeavy:
		return nil, b.overweight("comparing what the chart renders")
	case answer.Fault != nil:
		return nil, answer.Fault
	}
	return &answer.Chart, nil
}

// renderChart renders a chart in a child.
func renderChart(ctx context.Context, p *confine.Parent, o chartOrder) (chartAnswer, error) {
	known := o.Request.Known
	if log.Writer() != io.Discard {
		log.SetOutput(newHelmLog(known, os.Stderr))
	}
	rendered, err := drift.RenderChart(ctx, o.request(p))
	if fault := (*render.Error)(nil); errors.As(err, &fault) {
		return chartAnswer{Fault: fault, Known: known}, nil
	}
	if err != nil {
		return chartAnswer{}, err
	}
	if tooHeavy(slices.Concat(rendered.Manifest, rendered.Again, rendered.AtOnce), o.Memory) {
		return chartAnswer{TooHeavy: true, Known: known}, nil
	}
	return chartAnswer{Chart: *rendered, Known: known}, nil
}

// request is the request with functions that ask the parent.
func (o chartOrder) request(p *confine.Parent) drift.ChartRequest {
	q := o.Request
	q.ReadFile = func(_ context.Context, name string) ([]byte, error) {
		return confine.Ask[string, []byte](p, askFile, name)
	}
	if q.Server != "" {
		q.Lookup = func(_ context.Context, l live.LookupRequest) (live.LookupAnswer, error) {
			return confine.Ask[live.LookupRequest, live.LookupAnswer](p, askLookup, l)
		}
	}
	if o.PostRenders {
		q.PostRender = func(_ context.Context, manifest []byte) ([]byte, error) {
			return confine.Ask[[]byte, []byte](p, askPostRender, manifest)
		}
	}
	return q
}
