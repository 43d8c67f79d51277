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

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/secret"
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

// readManifest reads a manifest, and makes sure that the parent can go on with it: it builds the objects as the parent will,
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

// chartOrder is render.ChartOptions for a pipe.
type chartOrder struct {
	Path                   string
	Helm4, Install         bool
	ReleaseName, Namespace string
	LastRevision           int
	Previous               release.Values
	Values                 render.ValueOptions
	Capabilities           *chartutil.Capabilities
	Undiscovered           []string
	// Known is what is known to be secret, on the way there and, with what the chart's values add, back.
	Known *secret.Known
	// Server is the address of the API server in messages; empty where lookups find nothing.
	Server                          string
	EnableDNS, SkipSchemaValidation bool
	PostRender                      bool
	Memory                          int64
}

// chartAnswer is what comes of it. The manifests come as documents.
type chartAnswer struct {
	Rendered                render.Rendered
	Manifest, Again, AtOnce []render.Document
	TooHeavy                bool
	Known                   *secret.Known
	// Fault is what is wrong with the chart.
	Fault *render.Error
}

// renderChart renders a chart and reads what it made.
func renderChart(ctx context.Context, p *confine.Parent, o chartOrder) (chartAnswer, error) {
	if log.Writer() != io.Discard {
		log.SetOutput(newHelmLog(o.Known, os.Stderr))
	}
	options, err := o.options(p)
	if err != nil {
		return chartAnswer{}, err
	}
	rendered, err := render.Chart(ctx, options)
	if fault := (*render.Error)(nil); errors.As(err, &fault) {
		return chartAnswer{Fault: fault, Known: o.Known}, nil
	}
	if err != nil {
		return chartAnswer{}, err
	}
	a := chartAnswer{
		Rendered: *rendered, Known: o.Known,
		Manifest: readIfAny(rendered.Manifest), Again: readIfAny(rendered.Again), AtOnce: readIfAny(rendered.AtOnce),
	}
	a.Rendered.Manifest, a.Rendered.Again, a.Rendered.AtOnce = "", "", ""
	if tooHeavy(slices.Concat(a.Manifest, a.Again, a.AtOnce), o.Memory) {
		return chartAnswer{TooHeavy: true, Known: o.Known}, nil
	}
	return a, nil
}

func readIfAny(manifest string) []render.Document {
	if manifest == "" {
		return nil
	}
	return render.ReadDocuments(manifest)
}

// options are the chart's options on this side of the pipe.
func (o chartOrder) options(p *confine.Parent) (render.ChartOptions, error) {
	out := render.ChartOptions{
		Path: o.Path, Helm4: o.Helm4, Install: o.Install, ReleaseName: o.ReleaseName, Namespace: o.Namespace,
		LastRevision: o.LastRevision, Values: o.Values, Capabilities: o.Capabilities, Undiscovered: o.Undiscovered, Known: o.Known,
		EnableDNS: o.EnableDNS, SkipSchemaValidation: o.SkipSchemaValidation,
	}
	config, about, err := o.Previous.Decode()
	if err != nil {
		return out, fmt.Errorf("reading the values of the old revision: %w", err)
	}
	out.Previous = render.Previous{Config: config, Metadata: about.Metadata, Values: about.Values}
	out.Values.ReadFile = func(name string) ([]byte, error) { return confine.Ask[string, []byte](p, askFile, name) }
	if o.Server != "" {
		out.Lookup = live.RemoteLookups(o.Server, func(q live.LookupRequest) (live.LookupAnswer, error) {
			return confine.Ask[live.LookupRequest, live.LookupAnswer](p, askLookup, q)
		}, o.Known)
	}
	if o.PostRender {
		out.PostRender = func(_ context.Context, manifest []byte) ([]byte, error) {
			return confine.Ask[[]byte, []byte](p, askPostRender, manifest)
		}
	}
	return out, nil
}
