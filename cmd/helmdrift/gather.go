package main

import (
	"context"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// diff is one comparison of one release.
type diff struct {
	options diffOptions
	at      target
	cluster *live.Cluster
	store   *release.Store
	// name of the release, and path of the chart; empty for the stored manifest.
	name, chart string
}

// settled compares the release. Drift that is found while somebody deploys would be a lie, so the release's revisions are
// listed again before it is reported, and if they moved, the comparison is made again, once.
func (d diff) settled(ctx context.Context) (*threeway.Comparison, error) {
	for range 2 {
		loaded, err := d.store.Load(ctx, d.name, d.options.revision, release.Options{Values: d.chart != ""})
		if err != nil {
			return nil, err
		}
		comparison, err := d.compare(ctx, loaded)
		if err != nil {
			return nil, err
		}
		if comparison.Quiet() {
			return comparison, nil
		}
		after, err := d.store.History(ctx, d.name)
		if err != nil {
			return nil, fmt.Errorf("looking whether the release moved meanwhile: %w", err)
		}
		if slices.Equal(after.Entries, loaded.History.Entries) {
			return comparison, nil
		}
	}
	return nil, hinted{error: fmt.Errorf("release %q changed while reading, twice", d.name), hint: "somebody is deploying it; try again when that is done"}
}

// compare reads the cluster and compares; what the comparison says it needs is read after that, once.
func (d diff) compare(ctx context.Context, loaded *release.Loaded) (*threeway.Comparison, error) {
	in, err := d.input(ctx, loaded)
	if err != nil {
		return nil, err
	}
	in.Live = d.cluster.Read(ctx, refs(in))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	comparison := threeway.Compare(in)
	needs := comparison.Needs()
	if needs.Empty() {
		return comparison, nil
	}
	d.fetch(ctx, needs, &in)
	return threeway.Compare(in), nil
}

// fetch reads what a comparison asked for.
func (d diff) fetch(ctx context.Context, needs threeway.Needs, in *threeway.Input) {
	crds, warnings := d.cluster.CRDs(ctx, needs.CRDs)
	in.Warnings = append(in.Warnings, warnings...)
	in.Schemas = map[schema.GroupKind]*threeway.CustomSchema{}
	for kind, crd := range crds {
		known, err := threeway.NewCustomSchema(crd)
		if err != nil {
			in.Warnings = append(in.Warnings, threeway.Message{Code: "schema", Message: err.Error(), Object: kind.String()})
			continue
		}
		in.Schemas[kind] = known
	}
	if len(needs.Autoscalers) > 0 {
		scaled, warnings := d.cluster.Autoscalers(ctx, needs.Autoscalers)
		in.Autoscaled, in.Warnings = scaled, append(in.Warnings, warnings...)
	}
}

// refs lists what is to be read: every object of old and desired, at the versions they name.
func refs(in threeway.Input) []threeway.Ref {
	seen := map[threeway.Ref]bool{}
	var out []threeway.Ref
	for _, o := range slices.Concat(in.DesiredObjects, in.OldObjects) {
		if o.Name != "" && o.Problem == "" && !seen[o.Ref] {
			seen[o.Ref] = true
			out = append(out, o.Ref)
		}
	}
	return out
}

// input puts together what the records and the chart say.
func (d diff) input(ctx context.Context, loaded *release.Loaded) (threeway.Input, error) {
	old, last := loaded.Old, loaded.Last
	in := threeway.Input{
		Name: old.Name, Namespace: old.Namespace, StorageNamespace: d.at.namespace, Cluster: d.at.cluster,
		Operation: threeway.OperationDrift, Old: revisionOf(old), Last: revisionOf(last), ApplyMethod: "client-side",
		Desired: &threeway.Desired{Source: "record", Revision: old.Revision, Chart: chartOf(old), Helm: helmOf(last)},
	}
	if last.ApplyMethod == release.ApplyServerSide {
		in.ApplyMethod = "server-side"
	}
	parse := func(manifest string) []threeway.Object { return d.parse(manifest, old.Namespace, &in) }
	in.OldObjects = parse(old.Manifest)
	in.DesiredObjects = in.OldObjects
	for _, h := range old.Hooks {
		in.NotCompared = append(in.NotCompared, threeway.NotCompared{Kind: h.Kind, Name: h.Name, Reason: "hook"})
	}
	if last.Revision != old.Revision && d.options.revision == 0 {
		in.Warnings = append(in.Warnings, threeway.Message{Code: "last-not-old", Message: fmt.Sprintf(
			"the last revision, %d, is %s; helm upgrade would start from revision %d, so that is compared", last.Revision, last.Status, old.Revision)})
		in.LastObjects = render.Parse(last.Manifest, render.ParseOptions{Namespace: last.Namespace, Scope: d.cluster.Scope}).Objects
	}
	if d.chart == "" {
		return in, nil
	}
	return d.withChart(ctx, loaded, in)
}

// parse adds what the text says besides objects to the input.
func (d diff) parse(manifest, namespace string, in *threeway.Input) []threeway.Object {
	m := render.Parse(manifest, render.ParseOptions{Namespace: namespace, Scope: d.cluster.Scope})
	in.NotCompared = append(in.NotCompared, m.NotCompared...)
	in.Warnings = append(in.Warnings, m.Warnings...)
	in.Errors = append(in.Errors, m.Errors...)
	return m.Objects
}

// withChart makes the chart the desired state. A chart that does not render is an error of the report; the drift is still told.
func (d diff) withChart(ctx context.Context, loaded *release.Loaded, in threeway.Input) (threeway.Input, error) {
	caps, err := d.cluster.Capabilities(ctx)
	if err != nil {
		return in, err
	}
	rendered, err := render.Chart(ctx, render.ChartOptions{
		Path: d.chart, ReleaseName: loaded.Old.Name, Namespace: loaded.Old.Namespace, LastRevision: loaded.Last.Revision,
		Config: loaded.Old.Config, Values: d.options.values, Capabilities: caps, Engine: engine.New(d.at.config),
	})
	if err != nil {
		in.Errors = append(in.Errors, threeway.Message{Code: "render", Message: err.Error()})
		return in, nil
	}
	in.Operation = threeway.OperationUpgrade
	in.Desired = &threeway.Desired{Source: "chart", Chart: rendered.ChartName + "-" + rendered.ChartVersion, Helm: in.Desired.Helm}
	in.NotCompared = nil
	for _, h := range rendered.Hooks {
		in.NotCompared = append(in.NotCompared, threeway.NotCompared{Kind: h.Kind, Name: h.Name, Reason: "hook"})
	}
	in.Warnings = slices.Concat(in.Warnings, d.cluster.Incomplete(), rendered.Warnings)
	in.DesiredObjects = d.parse(rendered.Manifest, loaded.Old.Namespace, &in)
	return in, nil
}

func revisionOf(r *release.Record) *threeway.Revision {
	return &threeway.Revision{Revision: r.Revision, Status: r.Status, Chart: chartOf(r)}
}

func chartOf(r *release.Record) string {
	if r.ChartName == "" {
		return ""
	}
	return r.ChartName + "-" + r.ChartVersion
}

// helmOf is the Helm that is predicted: the one that wrote the last record, Helm 3 where that does not tell.
func helmOf(last *release.Record) string {
	if last.Writer == release.WriterHelm4 {
		return "4"
	}
	return "3"
}
