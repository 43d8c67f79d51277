package drift

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/links"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// fetchedChart is a chart that is being fetched. The other fields may be read once ready is closed.
type fetchedChart struct {
	ready chan struct{}
	path  string
	// request renders the chart; nil before that.
	request *ChartRequest
	// discard removes the files that were fetched; it may be nil.
	discard func()
	err     error
}

// fetchChart starts to fetch the chart of the target, if it has one, while the cluster is read. It turns a panic into an error, since
// a panic would end the process of the caller.
func (r run) fetchChart(ctx context.Context) *fetchedChart {
	f := &fetchedChart{ready: make(chan struct{})}
	chart := r.target.Chart
	if chart == nil || chart.Fetch == nil {
		if chart != nil {
			f.path = chart.Ref
		}
		close(f.ready)
		return f
	}
	go func() {
		defer close(f.ready)
		defer func() {
			if cause := recover(); cause != nil {
				f.err = fmt.Errorf("internal error: %v", cause)
			}
		}()
		f.path, f.discard, f.err = chart.Fetch(ctx)
	}()
	return f
}

// close waits for the fetch and removes its files.
func (f *fetchedChart) close() {
	<-f.ready
	if f.discard != nil {
		f.discard()
	}
}

// withChartOrError returns the input with the chart as the desired state. If that fails, it returns the input as it was and adds the error
// to it, so that the drift is reported together with the error. It returns an error only if the context ends.
func (r *run) withChartOrError(ctx context.Context, loaded *release.Loaded, f *fetchedChart, in threeway.Input) (threeway.Input, error) {
	in.Known = r.options.Learned.known().With(nil)
	desired, err := r.withChart(ctx, loaded, f, in)
	if ctx.Err() != nil {
		return in, fmt.Errorf("rendering the chart: %w", ctx.Err())
	}
	if err != nil {
		in.Errors = append(in.Errors, r.renderError(err, f.path))
		return in, nil
	}
	return desired, nil
}

// withChart returns the input with the objects of the rendered chart as the desired state. It sets which kinds the operation defines.
func (r *run) withChart(ctx context.Context, loaded *release.Loaded, f *fetchedChart, in threeway.Input) (threeway.Input, error) {
	r.options.Doing("fetching the chart")
	<-f.ready
	if f.err != nil {
		return in, f.err
	}
	r.options.Doing("rendering the chart")
	request, err := r.chartRequest(ctx, loaded, in, f.path)
	if err != nil {
		return in, err
	}
	f.request = &request
	answer, err := r.options.Render(ctx, request)
	if err != nil {
		return in, err
	}
	rendered := answer.Rendered
	// Another rendering of the request need not read the definitions again.
	request.WritesCRDs = false
	if request.Capabilities, err = render.OverrideCapabilities(request.Capabilities, "", rendered.NewVersions); err != nil {
		return in, err
	}
	isLost := func(version string) bool { return slices.Contains(rendered.LostVersions, version) }
	request.Capabilities.APIVersions = slices.DeleteFunc(slices.Clone(request.Capabilities.APIVersions), isLost)
	if in.Operation == report.OperationDrift {
		in.Operation = report.OperationUpgrade
	}
	in.Desired = &report.Desired{Source: "chart", Chart: rendered.ChartName + "-" + rendered.ChartVersion, Helm: in.Desired.Helm}
	in.NotCompared, in.Hooks = nil, nil
	if r.writesCRDs(loaded) {
		in.Brings, in.Definitions = rendered.Brings, r.objectsOf(rendered.Definitions, in.Namespace, &in)
		r.defined = render.DefinitionsAmong(in.Definitions)
		in.OldObjects, in.LastObjects = r.withScopes(in.OldObjects), r.withScopes(in.LastObjects)
	}
	for _, h := range rendered.Hooks {
		r.addHook(&in, h)
	}
	in.Warnings = slices.Concat(in.Warnings,
		r.connection.Cluster.Incomplete(rendered.Undiscovered), rendered.Warnings, r.target.Chart.Warnings)
	in.DesiredObjects = r.objectsOf(answer.Manifest, in.Namespace, &in)
	if loaded.Old == nil {
		in.CreateNamespace = r.target.Chart.CreateNamespace
	}
	if answer.Again != nil {
		r.addSecondRendering(in.DesiredObjects, answer, in.Namespace)
	}
	return in, nil
}

// writesCRDs reports whether the operation writes the folder crds/ of the chart.
func (r run) writesCRDs(loaded *release.Loaded) bool {
	return (loaded.Old == nil || r.target.Chart.UpgradeCRDs) && !r.target.Chart.SkipCRDs
}

// chartRequest returns the chart to render and everything that its templates see.
func (r run) chartRequest(ctx context.Context, loaded *release.Loaded, in threeway.Input, path string) (ChartRequest, error) {
	chart := r.target.Chart
	capabilities, err := r.connection.Cluster.Capabilities(ctx)
	if err != nil {
		return ChartRequest{}, err
	}
	if capabilities, err = render.OverrideCapabilities(capabilities, chart.KubeVersion, chart.APIVersions); err != nil {
		return ChartRequest{}, err
	}
	addSecrets(in, r.options.Known.known())
	q := ChartRequest{
		Path: path, Helm4: in.Desired.Helm == "4", Install: loaded.Old == nil, ReleaseName: in.Name, Namespace: in.Namespace,
		WritesCRDs: r.writesCRDs(loaded), ReplacesCRDs: in.ServerSide(),
		Values: chart.Values, Capabilities: capabilities, Undiscovered: r.connection.Cluster.Undiscovered(), Known: r.options.Known,
		EnableDNS: chart.EnableDNS, SkipSchemaValidation: chart.SkipSchemaValidation, AllowOutsideLinks: chart.AllowOutsideLinks,
		PostRender: chart.PostRender,
	}
	q.ReadFile = func(ctx context.Context, name string) ([]byte, error) {
		// With a symbolic link out of a Git working tree, whoever proposes a change to the tree could read what the user can read.
		if err := links.CheckAllowed(name, chart.AllowOutsideLinks); err != nil {
			return nil, err
		}
		if chart.ReadFile != nil {
			return chart.ReadFile(ctx, name)
		}
		return os.ReadFile(name)
	}
	if n := len(loaded.History.Entries); n > 0 {
		q.LastRevision = loaded.History.Entries[n-1].Revision
	}
	if old := loaded.Old; old != nil && old.Values != nil {
		q.Previous = *old.Values
	}
	if !chart.NoLookup && r.connection.Lookups != nil {
		q.Server, q.Lookup, err = r.connection.Lookups(learns(in.Known), learns(r.options.Known.known()))
	}
	return q, err
}

// renderError returns the error of a chart for a report, with file and line if a template failed. It replaces the temporary path of a
// fetched chart by the name that the user gave.
func (r run) renderError(err error, path string) report.Message {
	m := report.Message{Code: report.ErrorRender, Message: err.Error()}
	if failed, isOne := errors.AsType[*render.Error](err); isOne {
		m.File, m.Line, m.Message = failed.File, failed.Line, failed.Message
	}
	if hint := Hint(err); hint != "" {
		separator := "; "
		if strings.Contains(m.Message, "\n") {
			separator = "\n\n" // the last line may be a command, and the hint would look like a part of it
		}
		m.Message += separator + hint
	}
	if path != "" {
		m.Message = strings.ReplaceAll(m.Message, path, r.target.Chart.Ref)
	}
	return m
}

// addSecondRendering adds to each object its second rendering, if that differs. Such differences are volatile: they say nothing about
// the cluster.
func (r run) addSecondRendering(objects []object.Object, answer *RenderedChart, namespace string) {
	contents := func(documents []render.Document) map[object.Key]map[string]any {
		out := map[object.Key]map[string]any{}
		for _, o := range render.Objects(documents, render.ParseOptions{Namespace: namespace, Scope: r.scope}).Objects {
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
