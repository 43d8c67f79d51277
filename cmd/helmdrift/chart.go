package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
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
			bounded, cancel := context.WithTimeoutCause(ctx, limit.time, limit.overtime("fetching the chart"))
			defer cancel()
			ctx = bounded
		}
		source := d.options.source
		source.MaxAnswer, source.ReadIndex = d.options.bounds.maxAnswer(), d.readIndex
		f.path, f.discard, f.err = fetch.Chart(ctx, d.chart, source)
	}()
	return f
}

// readIndex reads indexes of repositories in a child process.
func (d diff) readIndex(ctx context.Context, q fetch.IndexQuery) (fetch.IndexAnswer, error) {
	return within[fetch.IndexQuery, fetch.IndexAnswer](ctx, d.options.bounds, "reading the index of the repository", jobIndex, q, nil)
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
func (d diff) renderError(err error, path string) report.Message {
	m := report.Message{Code: "render", Message: err.Error()}
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
	answer, err := d.render(ctx, loaded, in, chart.path)
	if err != nil {
		return in, err
	}
	rendered := answer.Rendered
	if in.Operation == report.OperationDrift {
		in.Operation = report.OperationUpgrade
	}
	in.Desired = &report.Desired{Source: "chart", Chart: rendered.ChartName + "-" + rendered.ChartVersion, Helm: in.Desired.Helm}
	in.NotCompared, in.Hooks = nil, nil
	for _, h := range rendered.Hooks {
		addHook(&in, h.Kind, h.Name, h.Events)
	}
	in.Warnings = slices.Concat(in.Warnings, d.cluster.Incomplete(rendered.Undiscovered), rendered.Warnings)
	if d.options.source.RepoURL != "" && fetch.IsLocal(d.chart) {
		in.Warnings = append(in.Warnings, report.Message{Code: "local-chart",
			Message: "a chart of this name is on this machine, and wins over --repo, as it does for helm"})
	}
	in.DesiredObjects = d.objects(answer.Manifest, in.Namespace, &in)
	if loaded.Old == nil {
		in.Brings = rendered.Brings
	}
	if answer.Again != nil {
		d.addAgain(in.DesiredObjects, answer, in.Namespace)
	}
	return in, nil
}

// render renders the chart in a child process, which asks this one for files, lookups and the post-renderer.
func (d diff) render(ctx context.Context, loaded *release.Loaded, in threeway.Input, path string) (chartAnswer, error) {
	const doing = "rendering the chart"
	o, err := d.chartOrder(ctx, loaded, in, path)
	if err != nil {
		return chartAnswer{}, err
	}
	calls := map[string]confine.Call{
		askFile: confine.NewCall(func(ctx context.Context, name string) ([]byte, error) {
			return fetch.ReadFile(ctx, name, d.options.stdin)
		}),
		askPostRender: confine.NewCall(postRenderer{
			command: d.options.postRenderer, args: d.options.postRendererArgs, most: d.options.bounds.maxAnswer(),
		}.run),
	}
	if !d.options.noLookup {
		server, send, err := live.LookupSender(live.Lookups(d.at.config, d.connection.options(), in.Known, d.connection.known))
		if err != nil {
			return chartAnswer{}, err
		}
		o.Server, calls[askLookup] = server, confine.NewCall(send)
	}
	answer, err := within[chartOrder, chartAnswer](ctx, d.options.bounds, doing, jobChart, o, calls)
	d.connection.known.AddKnown(answer.Known)
	switch {
	case err != nil:
		return answer, err
	case answer.TooHeavy:
		return answer, d.options.bounds.overweight("comparing what the chart renders")
	case answer.Fault != nil:
		return answer, answer.Fault
	}
	return answer, nil
}

// chartOrder is all that the chart's templates can see.
func (d diff) chartOrder(ctx context.Context, loaded *release.Loaded, in threeway.Input, path string) (chartOrder, error) {
	seen, err := d.cluster.Capabilities(ctx)
	if err != nil {
		return chartOrder{}, err
	}
	if seen, err = render.OverrideCapabilities(seen, d.options.kubeVersion, d.options.apiVersions); err != nil {
		return chartOrder{}, err
	}
	o := chartOrder{
		Path: path, Helm4: in.Desired.Helm == "4", Install: loaded.Old == nil, ReleaseName: in.Name, Namespace: in.Namespace,
		Values: d.options.valueOptions(), Capabilities: seen, Undiscovered: d.cluster.Undiscovered(), Known: d.knownFor(in),
		EnableDNS: d.options.enableDNS, SkipSchemaValidation: d.options.skipSchema,
		PostRender: d.options.postRenderer != "", Memory: d.options.bounds.heap.Value(),
	}
	if n := len(loaded.History.Entries); n > 0 {
		o.LastRevision = loaded.History.Entries[n-1].Revision
	}
	if old := loaded.Old; old != nil && old.Values != nil {
		o.Previous = *old.Values
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

// addAgain adds to each object what a second rendering made of it, where that is another text.
func (d diff) addAgain(objects []object.Object, answer chartAnswer, namespace string) {
	contents := func(documents []render.Document) map[object.Key]map[string]any {
		out := map[object.Key]map[string]any{}
		for _, o := range render.Objects(documents, render.ParseOptions{Namespace: namespace, Scope: d.cluster.Scope}).Objects {
			out[o.Key] = o.Content
		}
		return out
	}
	second, atOnce := contents(answer.Again), contents(answer.AtOnce)
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
