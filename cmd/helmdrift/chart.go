package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// fetched is a chart on its way to this machine.
type fetched struct {
	ready chan struct{}
	path  string
	// discard removes what was fetched.
	discard func()
	err     error
}

// fetchChart begins to bring the chart, if there is one to bring, while the cluster is read.
func (d diff) fetchChart(ctx context.Context) *fetched {
	f := &fetched{ready: make(chan struct{}), discard: func() {}}
	if d.chart == "" {
		close(f.ready)
		return f
	}
	go func() {
		defer close(f.ready)
		defer caught(&f.err)
		if limit := d.options.bounds; limit.time > 0 {
			bounded, cancel := context.WithTimeoutCause(ctx, limit.time, limit.overtime("fetching"))
			defer cancel()
			ctx = bounded
		}
		f.path, f.discard, f.err = fetch.Chart(ctx, d.chart, d.options.source)
	}()
	return f
}

// close waits for the chart and removes what was fetched.
func (f *fetched) close() {
	<-f.ready
	if f.discard != nil {
		f.discard()
	}
}

// renderError puts the failure of a chart into the words of the report, with file and line where a template failed. A chart
// that was fetched is called what the user called it, not what it is on this machine.
func (d diff) renderError(err error, path string) threeway.Message {
	m := threeway.Message{Code: "render", Message: err.Error()}
	var failed *render.Error
	if errors.As(err, &failed) {
		m.File, m.Line, m.Message = failed.File, failed.Line, failed.Message
	}
	if hint := hintOf(err); hint != "" {
		gap := "; "
		if strings.Contains(m.Message, "\n") {
			gap = "\n\n" // what ends with a command would take the hint for a part of it
		}
		m.Message += gap + hint
	}
	if path != "" {
		m.Message = strings.ReplaceAll(m.Message, path, d.chart)
	}
	return m
}

// withChart makes the chart the desired state.
func (d diff) withChart(ctx context.Context, loaded *release.Loaded, chart *fetched, in threeway.Input) (threeway.Input, error) {
	<-chart.ready
	if chart.err != nil {
		return in, chart.err
	}
	options, err := d.chartOptions(ctx, loaded, in, chart.path)
	if err != nil {
		return in, err
	}
	rendered, err := within(ctx, d.options.bounds, func(ctx context.Context) (*render.Rendered, error) { return render.Chart(ctx, options) })
	if err != nil {
		return in, err
	}
	if in.Operation == threeway.OperationDrift {
		in.Operation = threeway.OperationUpgrade
	}
	in.Desired = &threeway.Desired{Source: "chart", Chart: rendered.ChartName + "-" + rendered.ChartVersion, Helm: in.Desired.Helm}
	in.NotCompared, in.Hooks = nil, nil
	for _, h := range rendered.Hooks {
		addHook(&in, h.Kind, h.Name, h.Events)
	}
	in.Warnings = slices.Concat(in.Warnings, d.cluster.Incomplete(rendered.Undiscovered), rendered.Warnings)
	if d.options.source.RepoURL != "" && fetch.Local(d.chart) {
		in.Warnings = append(in.Warnings, threeway.Message{Code: "local-chart",
			Message: "a chart of this name is on this machine, and wins over --repo, as it does for helm"})
	}
	in.DesiredObjects = d.parse(rendered.Manifest, in.Namespace, &in)
	if options.Install {
		in.Brings = rendered.Brings
	}
	if rendered.Again != "" {
		d.addAgain(in.DesiredObjects, rendered, in.Namespace)
	}
	return in, nil
}

// chartOptions are all that the chart's templates can see.
func (d diff) chartOptions(ctx context.Context, loaded *release.Loaded, in threeway.Input, path string) (render.ChartOptions, error) {
	seen, err := d.cluster.Capabilities(ctx)
	if err != nil {
		return render.ChartOptions{}, err
	}
	if seen, err = render.Override(seen, d.options.kubeVersion, d.options.apiVersions); err != nil {
		return render.ChartOptions{}, err
	}
	o := render.ChartOptions{
		Path: path, Helm4: in.Desired.Helm == "4", Install: loaded.Old == nil, ReleaseName: in.Name, Namespace: in.Namespace,
		Values: d.options.valueOptions(func(name string) ([]byte, error) {
			return fetch.Read(ctx, name, d.options.stdin)
		}),
		Capabilities: seen, Undiscovered: d.cluster.Undiscovered(), Lookup: d.lookups(in.Known), Known: d.knownFor(in),
		EnableDNS: d.options.enableDNS, SkipSchemaValidation: d.options.skipSchema,
	}
	if n := len(loaded.History.Entries); n > 0 {
		o.LastRevision = loaded.History.Entries[n-1].Revision
	}
	if old := loaded.Old; old != nil {
		o.Previous.Config = old.Config
		if old.Chart != nil {
			o.Previous.Metadata, o.Previous.Values = old.Chart.Metadata, old.Chart.Values
		}
	}
	if d.options.postRenderer != "" {
		o.PostRender = postRenderer{command: d.options.postRenderer, args: d.options.postRendererArgs}.run
	}
	return o, nil
}

// knownFor is what is known to be secret of the run and of the release: a chart may say any of it, and Helm may log it.
func (d diff) knownFor(in threeway.Input) *secret.Known {
	known := d.connection.known
	for _, o := range in.OldObjects {
		known.AddObject(o.Group, o.Kind, o.Content)
	}
	for ref, l := range in.Live {
		known.AddObject(ref.Group, ref.Kind, l.Object)
	}
	return known
}

// lookups is how templates read the cluster; nil where they shall find nothing. The Secrets that they read become known.
func (d diff) lookups(known *secret.Known) *rest.Config {
	if d.options.noLookup {
		return nil
	}
	return live.Lookups(d.at.config, d.connection.options(), known, d.connection.known)
}

// addAgain adds to each object what a second rendering made of it, where that is another text.
func (d diff) addAgain(objects []threeway.Object, rendered *render.Rendered, namespace string) {
	contents := func(manifest string) map[threeway.Key]map[string]any {
		out := map[threeway.Key]map[string]any{}
		for _, o := range render.Parse(manifest, render.ParseOptions{Namespace: namespace, Scope: d.cluster.Scope}).Objects {
			out[o.Key] = o.Content
		}
		return out
	}
	second, atOnce := contents(rendered.Again), contents(rendered.AtOnce)
	for i := range objects {
		o := &objects[i]
		again, found := second[o.Key]
		switch {
		case !found && o.Name != "":
			o.Note = "each rendering gives this object another name"
		case found && !reflect.DeepEqual(again, o.Content):
			o.Again, o.AtOnce = again, atOnce[o.Key]
		}
	}
}
