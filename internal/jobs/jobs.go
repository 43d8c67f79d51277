package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// These are the names of a child's jobs.
const (
	jobManifest = "manifest"
	jobChart    = "chart"
	jobIndex    = "index"
)

// These are the names of the questions that the rendering of a chart asks its parent. The parent has the credentials, the terminal
// and the user's environment.
const (
	askFile       = "file"
	askLookup     = "lookup"
	askPostRender = "post-render"
	askKnown      = "known"
)

// All returns the jobs of a child by their names, except the jobs of guests.
func All() map[string]confine.Job {
	return map[string]confine.Job{
		jobManifest: confine.NewJob(readManifest),
		jobChart:    confine.NewJob(renderChart),
		jobIndex: confine.NewJob(func(ctx context.Context, _ *confine.Parent, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
			return q.Answer(ctx)
		}),
	}
}

// FetchChart fetches a chart for drift.Chart.Fetch. The chart is fetched in this process, which has the logins, and the indexes of
// repositories are read in a child process.
func (l Limits) FetchChart(ctx context.Context, ref string, source fetch.Options) (path string, done func(), err error) {
	if l.Time > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, l.Time, l.timeExceeded("fetching the chart"))
		defer cancel()
		ctx = limited
	}
	source.MaxAnswer = l.MaxAnswer()
	l.Program.Pool = nil // the limit of time goes on while a job waits for a place
	source.ReadIndex = func(ctx context.Context, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
		return Run[fetch.IndexQuery, fetch.IndexAnswer](ctx, l, "reading the index of the repository", jobIndex, q, nil)
	}
	return fetch.Chart(ctx, ref, source)
}

// manifestOrder is a manifest to read, and the memory that its comparison may take.
type manifestOrder struct {
	Text   string
	Memory int64
}

// manifestAnswer holds the documents of a manifest. TooLarge is set if the parent could not compare them within the memory limit.
type manifestAnswer struct {
	Documents []render.Document
	TooLarge  bool
}

// ReadManifest implements drift.Options.ReadManifest. A manifest that render.NeedsNoBounds allows is read in this process. Any other
// needs a child process, whose start takes some 50 ms.
func (l Limits) ReadManifest(ctx context.Context, r *release.Record) ([]render.Document, error) {
	if render.NeedsNoBounds(r.Manifest) {
		return render.DecodeDocuments(r.Manifest), nil
	}
	name := fmt.Sprintf("the manifest of revision %d of %s", r.Revision, r.Name)
	order := manifestOrder{Text: r.Manifest, Memory: l.Memory.Value()}
	answer, err := Run[manifestOrder, manifestAnswer](ctx, l, "reading "+name, jobManifest, order, nil)
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

// tooLarge reports whether comparing the objects of documents takes more memory than limit. 0 means no limit.
func tooLarge(documents []render.Document, limit int64) bool {
	return weight(render.Objects(documents, render.ParseOptions{})) > limit && limit > 0
}

// chartOrder is a chart to render. The functions of the request cannot cross the pipe; the child replaces them by questions. PostRenders
// is set if there is a post-renderer. If Request.Server is empty, lookups find nothing.
type chartOrder struct {
	Request     drift.ChartRequest
	PostRenders bool
	Memory      int64
}

// chartAnswer is a rendered chart, or the reason why there is none.
type chartAnswer struct {
	Chart    drift.RenderedChart
	TooLarge bool
	// Known has the secrets that are known after the rendering, such as Secrets that templates looked up.
	Known *secret.Known
	// Fault says what is wrong with the chart. It is sent as a value because an error would lose its file and line.
	Fault *render.Error
}

// RenderChart implements drift.Options.Render in a child process, which asks this one for files, lookups and the post-renderer.
func (l Limits) RenderChart(ctx context.Context, q drift.ChartRequest) (*drift.RenderedChart, error) {
	return runRendering(ctx, l, jobChart, q, l.chartOrder(q))
}

// chartOrder returns the order for a request.
func (l Limits) chartOrder(q drift.ChartRequest) chartOrder {
	q.Known = nil // most renderings need no secret, so a child asks for them
	return chartOrder{Request: q, PostRenders: q.PostRender != nil, Memory: l.Memory.Value()}
}

// postOrder is a chart to render, and an order for a post-renderer that runs in the same child.
type postOrder[P any] struct {
	Chart chartOrder
	Post  P
}

// RenderPostRendered renders a chart in a child process as RenderChart does, with the post-renderer of a job of NewPostRendered.
func RenderPostRendered[P any](ctx context.Context, l Limits, job string, q drift.ChartRequest, order P) (*drift.RenderedChart, error) {
	return runRendering(ctx, l, job, q, postOrder[P]{l.chartOrder(q), order})
}

// NewPostRendered returns a job of a guest that renders a chart and passes its manifest to run with an order.
func NewPostRendered[P any](run func(ctx context.Context, order P, manifest []byte) ([]byte, error)) confine.Job {
	return confine.NewJob(func(ctx context.Context, p *confine.Parent, o postOrder[P]) (chartAnswer, error) {
		q := o.Chart.request(p)
		q.PostRender = func(ctx context.Context, manifest []byte) ([]byte, error) { return run(ctx, o.Post, manifest) }
		return renderRequest(ctx, q, o.Chart.Memory)
	})
}

// runRendering renders a chart with a job. Each function of the request becomes a question that the child may ask.
func runRendering[Order any](ctx context.Context, l Limits, job string, q drift.ChartRequest, order Order) (*drift.RenderedChart, error) {
	answer, err := Run[Order, chartAnswer](ctx, l, "rendering the chart", job, order, callsOf(q))
	if answer.Known != nil {
		(*secret.Known)(q.Known).AddLater(func() *secret.Known { return answer.Known })
	}
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
		askKnown: confine.NewCall(func(context.Context, string) (*secret.Known, error) { return (*secret.Known)(q.Known).With(nil), nil }),
		askFile:  confine.NewCall(q.ReadFile), askLookup: confine.Slow(confine.NewCall(q.Lookup)),
		askPostRender: confine.Slow(confine.NewCall(q.PostRender)), // it may start a job
	}
}

// scrubLog removes known secrets from the log of a child, if anybody reads that log, until done is called.
func scrubLog(known *secret.Known) (done func()) {
	to := log.Writer()
	if to != io.Discard {
		log.SetOutput(LogWriter(known, to))
	}
	return func() { log.SetOutput(to) }
}

// renderChart renders a chart in a child.
func renderChart(ctx context.Context, p *confine.Parent, o chartOrder) (chartAnswer, error) {
	return renderRequest(ctx, o.request(p), o.Memory)
}

// renderRequest renders a chart in a child. Helm logs while it renders, so the log is scrubbed there, where the values are known.
func renderRequest(ctx context.Context, q drift.ChartRequest, memory int64) (chartAnswer, error) {
	known := (*secret.Known)(q.Known)
	defer scrubLog(known)()
	rendered, err := drift.RenderChart(ctx, q)
	if fault := (*render.Error)(nil); errors.As(err, &fault) {
		return chartAnswer{Fault: fault, Known: known}, nil
	}
	if err != nil {
		return chartAnswer{}, err
	}
	if tooLarge(slices.Concat(rendered.Manifest, rendered.Again, rendered.AtOnce), memory) {
		return chartAnswer{TooLarge: true, Known: known}, nil
	}
	return chartAnswer{Chart: *rendered, Known: known}, nil
}

// request returns the request with functions that ask the parent.
func (o chartOrder) request(p *confine.Parent) drift.ChartRequest {
	q, known := o.Request, &secret.Known{}
	q.Known = (*drift.Secrets)(known)
	known.AddLater(func() *secret.Known {
		found, err := confine.Ask[string, *secret.Known](p, askKnown, "")
		if err != nil {
			panic(err) // without the secrets, no text may be shown
		}
		return found
	})
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

// Limits are the time and the memory that work on foreign text may take. A limit of zero means no limit.
type Limits struct {
	Time   time.Duration
	Memory resource.Quantity
	// Program says how to start this program as a child.
	Program confine.Program
}

// answerShare limits one answer of the network to this fraction of the memory limit, because the process holds several copies of
// it at once.
const answerShare = 4

// MaxAnswer returns the largest size of one answer of the network in bytes. 0 leaves the decision to the package that reads it.
func (l Limits) MaxAnswer() int64 { return l.Memory.Value() / answerShare }

// Run runs a job in a child process within the limits. Doing names the work in messages, such as "rendering the chart". The child asks
// its questions through calls.
func Run[In, Out any](ctx context.Context, l Limits, doing, job string, in In, calls map[string]confine.Call) (Out, error) {
	// A fault is the error of the job itself, and says what the job was doing. Other errors come from the way to and from the child.
	out, err := confine.Run[In, Out](ctx, l.Program, confine.Limits{Time: l.Time, Memory: l.Memory.Value()}, job, in, calls)
	var fault *confine.Fault
	switch {
	case errors.Is(err, confine.ErrTime):
		err = l.timeExceeded(doing)
	case errors.Is(err, confine.ErrMemory):
		err = l.memoryExceeded(doing)
	case err != nil && ctx.Err() == nil && !errors.As(err, &fault):
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return out, err
}

func (l Limits) timeExceeded(doing string) error {
	return hint.New(fmt.Errorf("%s takes longer than %s", doing, l.Time), "--render-timeout allows more")
}

func (l Limits) memoryExceeded(doing string) error {
	return hint.New(fmt.Errorf("%s takes more memory than %s", doing, l.Memory.String()), "--render-memory allows more")
}

// logWriter is the destination of what Helm's libraries log. Helm 3 writes to log, and Helm 4 writes to log and to slog, which ends in log
// too.
type logWriter struct {
	known *secret.Known
	to    io.Writer
}

// LogWriter returns a writer that removes secrets and values from Helm's log. A secret must not be split over two writes; loggers write one
// line at a time.
func LogWriter(known *secret.Known, to io.Writer) io.Writer { return logWriter{known, to} }

// loggedValue matches the value that Helm logs if a chart has a table where the values have none, or the other way around
// (helm v3.22.0 pkg/chartutil/coalesce.go, v4.3.1 pkg/chart/common/util/coalesce.go coalesceTablesFullKey).
var loggedValue = regexp.MustCompile(`(?s)(cannot overwrite table with non table for .*?|Ignoring non-table value) \(.*\)`)

// Write writes one line of the log, without values of the release and without secrets.
func (l logWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(l.to, l.known.Scrub(loggedValue.ReplaceAllString(string(p), "$1 (…)"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
