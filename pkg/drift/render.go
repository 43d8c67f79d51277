package drift

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// ChartRequest is a chart to render and everything that its templates see. encoding/gob can encode all of it except the functions, so that
// another process can render the chart. Fields without a comment are the fields of render.ChartOptions with the same name.
type ChartRequest struct {
	// Path is a chart directory or an archive on this machine.
	Path                     string
	Helm4, Install           bool
	WritesCRDs, ReplacesCRDs bool
	ReleaseName, Namespace   string
	LastRevision             int
	// Previous are the values of the old revision. They are still text, because decoded values take several times the memory.
	Previous     release.Values
	Values       render.ValueOptions
	Capabilities *chartutil.Capabilities
	Undiscovered []string
	// Known holds the known secrets, and rendering adds to it. Options.Render gets it and passes it on.
	Known                                              *Secrets
	EnableDNS, SkipSchemaValidation, AllowOutsideLinks bool

	// ReadFile reads a values file. It must be set if Values names files.
	ReadFile func(ctx context.Context, name string) ([]byte, error)
	// Server is the address of the API server in messages. Lookup answers lookups; if it is nil, they find nothing.
	Server string
	Lookup LookupFunc
	// PostRender changes the rendered manifest; nil changes nothing.
	PostRender func(ctx context.Context, manifest []byte) ([]byte, error)
}

// RenderedChart is a rendered chart with parsed manifests.
type RenderedChart struct {
	// Rendered lacks the texts of the manifests.
	Rendered render.Rendered
	// Manifest, Again and AtOnce are the documents of those texts; see render.Rendered. They are nil if the text is empty.
	Manifest, Again, AtOnce []render.Document
}

// ReadManifest reads the manifest of a record in this process. It is the default of Options.ReadManifest.
func ReadManifest(_ context.Context, r *release.Record) ([]render.Document, error) {
	return render.DecodeDocuments(r.Manifest), nil
}

// RenderChart renders a chart and reads its manifests in this process. It is the default of Options.Render. If the chart or its values are
// wrong, the error is a *render.Error with the file and line.
func RenderChart(ctx context.Context, q ChartRequest) (*RenderedChart, error) {
	options, err := q.RenderOptions(ctx)
	if err != nil {
		return nil, err
	}
	rendered, err := render.Chart(ctx, options)
	if err != nil {
		return nil, err
	}
	out := &RenderedChart{
		Rendered: *rendered, Manifest: render.ReadDocuments(rendered.Manifest),
		Again: render.ReadDocuments(rendered.Again), AtOnce: render.ReadDocuments(rendered.AtOnce),
	}
	out.Rendered.Manifest, out.Rendered.Again, out.Rendered.AtOnce = "", "", ""
	return out, nil
}

// RenderOptions returns the request in the form of pkg/render. An error is about the stored values of the release.
func (q ChartRequest) RenderOptions(ctx context.Context) (render.ChartOptions, error) {
	out := render.ChartOptions{
		Path: q.Path, Helm4: q.Helm4, Install: q.Install, WritesCRDs: q.WritesCRDs, ReplacesCRDs: q.ReplacesCRDs,
		ReleaseName: q.ReleaseName, Namespace: q.Namespace,
		LastRevision: q.LastRevision, Values: q.Values, Capabilities: q.Capabilities, Undiscovered: q.Undiscovered, Known: q.Known.known(),
		EnableDNS: q.EnableDNS, SkipSchemaValidation: q.SkipSchemaValidation, AllowOutsideLinks: q.AllowOutsideLinks, PostRender: q.PostRender,
	}
	config, about, err := q.Previous.Decode()
	if err != nil {
		return out, fmt.Errorf("reading the values of the old revision: %w", err)
	}
	out.Previous = render.Previous{Config: config, Metadata: about.Metadata, Values: about.Values}
	out.Values.ReadFile = func(name string) ([]byte, error) { return q.ReadFile(ctx, name) }
	if q.Lookup != nil {
		lookup := func(l live.LookupRequest) (live.LookupAnswer, error) { return q.Lookup(ctx, l) }
		out.Lookup = live.RemoteLookups(q.Server, lookup, learns(q.Known.known()))
	}
	return out, nil
}
