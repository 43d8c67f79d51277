package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// diff is one comparison of one release.
type diff struct {
	options    diffOptions
	ignored    ignored
	connection *connection
	at         target
	cluster    *live.Cluster
	store      *release.Store
	// name of the release, and reference of the chart; empty for the stored manifest.
	name, chart string
}

// settled compares the release. Drift that is found while somebody deploys would be a lie, so the release's revisions are
// listed again before it is reported, and if they moved, the comparison is made again, once. What was loaded for it comes along.
func (d diff) settled(ctx context.Context) (*threeway.Comparison, *release.Loaded, error) {
	for range 2 {
		loaded, err := d.load(ctx)
		if err != nil {
			return nil, nil, err
		}
		comparison, still, err := d.compare(ctx, loaded)
		if err != nil || still {
			return comparison, loaded, err
		}
	}
	return nil, nil, hinted{error: fmt.Errorf("release %q changed while reading, twice", d.name), hint: "somebody is deploying it; try again when that is done"}
}

// stands tells whether the release is still at the revisions that were compared, where the comparison found anything.
func (d diff) stands(ctx context.Context, loaded *release.Loaded, c *threeway.Comparison) (bool, error) {
	if c.Quiet() {
		return true, nil
	}
	after, err := d.store.History(ctx, d.name)
	if err != nil {
		return false, fmt.Errorf("looking whether the release moved meanwhile: %w", err)
	}
	return slices.Equal(after.Entries, loaded.History.Entries), nil
}

// load reads the records. Where helm upgrade --install would install, there is no old one.
func (d diff) load(ctx context.Context) (*release.Loaded, error) {
	options := release.Options{Values: d.chart != ""}
	if to := d.options.toRevision; to != 0 {
		return d.store.LoadRollback(ctx, d.name, to, options)
	}
	loaded, err := d.store.Load(ctx, d.name, d.options.revision, options)
	_, installs := release.Installs(err)
	if !d.options.install {
		if installs {
			err = d.notInstalled(err)
		}
		return loaded, err
	}
	if err == nil && !loaded.History.Installs() || err != nil && !installs {
		return loaded, err
	}
	history, err := d.store.History(ctx, d.name)
	return &release.Loaded{History: history}, err
}

// notInstalled adds the flag that helps to the advice about a release that is not there.
func (d diff) notInstalled(err error) error {
	if d.chart == "" {
		return err
	}
	advice := "--install shows what its first installation would create"
	if more := hintOf(err); more != "" {
		advice += "; otherwise: " + more
	}
	return hinted{error: err, hint: advice}
}

// compare reads the cluster and compares, and tells whether the release stands still. With a chart, all that tells drift is
// read before the chart is rendered: should that fail, or run away, the drift is told without waiting for anybody.
func (d diff) compare(ctx context.Context, loaded *release.Loaded) (c *threeway.Comparison, still bool, err error) {
	fetched := d.fetchChart(ctx)
	defer fetched.close()
	in, err := d.stored(ctx, loaded)
	if err != nil {
		return nil, false, err
	}
	if err := d.heed(ctx, &in); err != nil {
		return nil, false, err
	}
	if in.ForceConflicts && in.ApplyMethod == "client-side" {
		return nil, false, hinted{error: errors.New("--force-conflicts needs server-side apply, and this release is applied client-side"),
			hint: "--server-side=true shows what becoming server-side would do"}
	}
	if in.ForceReplace && in.ApplyMethod == "server-side" && in.Operation != report.OperationInstall {
		return nil, false, replaceServerSide()
	}
	if in.Live, err = d.read(ctx, in); err != nil {
		return nil, false, err
	}
	in.Warnings = append(in.Warnings, d.recordElsewhere(ctx, in)...)
	if d.chart != "" {
		in.Known = &secret.Known{}
		desired, failed := d.withChart(ctx, loaded, fetched, in)
		if ctx.Err() != nil {
			return nil, false, fmt.Errorf("rendering the chart: %w", ctx.Err())
		}
		if failed != nil {
			in.Errors = append(in.Errors, d.renderError(failed, fetched.path))
		} else {
			in = desired
		}
	}
	if c, err = d.compared(ctx, in); err != nil {
		return nil, false, err
	}
	still, err = d.stands(ctx, loaded, c)
	return c, still, err
}

// read reads what the input names and does not hold yet.
func (d diff) read(ctx context.Context, in threeway.Input) (map[object.Ref]threeway.Live, error) {
	found := d.cluster.Read(ctx, slices.DeleteFunc(refs(in), func(r object.Ref) bool { _, known := in.Live[r]; return known }))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	return joined(in.Live, found), nil
}

// compared reads what is missing, and compares; what the comparison says it needs is read after that, once.
func (d diff) compared(ctx context.Context, in threeway.Input) (*threeway.Comparison, error) {
	var err error
	if in.Live, err = d.read(ctx, in); err != nil {
		return nil, err
	}
	in.Terminating = d.cluster.Terminating(ctx, namespacesOf(in))
	comparison := threeway.Compare(in)
	if needs := comparison.Needs(); !needs.Empty() {
		d.fetch(ctx, needs, &in)
		comparison = threeway.Compare(in)
	}
	return comparison, nil
}

// joined is a map with the entries of both.
func joined[K comparable, V any](a, b map[K]V) map[K]V {
	out := make(map[K]V, len(a)+len(b))
	for _, m := range []map[K]V{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// fetch reads what a comparison asked for.
func (d diff) fetch(ctx context.Context, needs threeway.Needs, in *threeway.Input) {
	crds, warnings := d.cluster.CRDs(ctx, needs.CRDs)
	in.Warnings = append(in.Warnings, warnings...)
	schemas := map[schema.GroupKind]*threeway.CustomSchema{}
	for _, kind := range needs.CRDs {
		schemas[kind] = nil // what could not be read is not asked for again
	}
	for kind, crd := range crds {
		known, err := threeway.NewCustomSchema(crd)
		if err != nil {
			in.Warnings = append(in.Warnings, report.Message{Code: "schema", Message: err.Error(), Object: kind.String()})
			continue
		}
		schemas[kind] = known
	}
	in.Schemas = joined(in.Schemas, schemas)
	in.ApplyTypes = joined(in.ApplyTypes, d.applyTypes(ctx, needs.ApplyTypes, in))
	if len(needs.Autoscalers) > 0 {
		scaled, warnings := d.cluster.Autoscalers(ctx, needs.Autoscalers)
		in.Autoscaled, in.AutoscalersUnseen, in.Warnings = scaled, len(warnings) > 0, append(in.Warnings, warnings...)
	}
}

// applyTypes reads what the server says of custom resources that are applied server-side. What cannot be read is remembered so.
func (d diff) applyTypes(ctx context.Context, wanted []schema.GroupVersion, in *threeway.Input) map[schema.GroupVersion]*threeway.ApplyTypes {
	documents, warnings := d.cluster.OpenAPI(ctx, wanted)
	in.Warnings = append(in.Warnings, warnings...)
	types := map[schema.GroupVersion]*threeway.ApplyTypes{}
	for _, gv := range wanted {
		types[gv] = nil
		if document, ok := documents[gv]; ok {
			known, err := threeway.NewApplyTypes(document)
			if err != nil {
				in.Warnings = append(in.Warnings, report.Message{Code: "schema", Message: gv.String() + ": " + err.Error()})
			}
			types[gv] = known
		}
	}
	return types
}

// refs lists what is to be read: every object of old and desired, at the versions they name.
func refs(in threeway.Input) []object.Ref {
	seen := map[object.Ref]bool{}
	var out []object.Ref
	for _, o := range slices.Concat(in.DesiredObjects, in.OldObjects) {
		if o.Name != "" && o.Problem == "" && !seen[o.Ref] {
			seen[o.Ref] = true
			out = append(out, o.Ref)
		}
	}
	return out
}

// namespacesOf lists the namespaces of the records and of what was read.
func namespacesOf(in threeway.Input) []string {
	out := []string{in.StorageNamespace}
	for ref := range in.Live {
		if ref.Namespace != "" {
			out = append(out, ref.Namespace)
		}
	}
	return out
}

// stored puts together what the records say: old, and as desired old again or, for a rollback, the revision to return to.
func (d diff) stored(ctx context.Context, loaded *release.Loaded) (in threeway.Input, err error) {
	old, last := loaded.Old, loaded.Last
	in = threeway.Input{
		Name: d.name, Namespace: d.at.namespace, StorageNamespace: d.at.namespace, Cluster: d.at.cluster,
		Operation: report.OperationInstall, Desired: &report.Desired{Source: "chart", Helm: d.helm(nil)},
	}
	in.Records = d.store.Resource()
	in.ApplyMethod, in.ForceConflicts = d.applyMethod(in.Desired.Helm, nil), d.options.forceConflicts
	in.Migrates, in.ForceReplace, in.TakeOwnership = true, d.options.forceReplace, d.options.takeOwnership
	if old == nil {
		return in, nil
	}
	in.Name, in.Namespace, in.Operation = old.Name, old.Namespace, report.OperationDrift
	in.Old, in.Last = revisionOf(old), revisionOf(last)
	desired, source, decides := old, "record", last
	if target := loaded.Target; target != nil {
		desired, source, decides, in.Operation = target, "revision", target, report.OperationRollback
	}
	in.Desired = &report.Desired{Source: source, Revision: desired.Revision, Chart: chartOf(desired), Helm: d.helm(last)}
	in.ApplyMethod = d.applyMethod(in.Desired.Helm, decides)
	in.Migrates = loaded.Target != nil || old.ApplyMethod != release.ApplyServerSide
	if in.OldObjects, err = d.parse(ctx, old, old.Namespace, &in); err != nil {
		return in, err
	}
	in.DesiredObjects = in.OldObjects
	if loaded.Target != nil {
		in.NotCompared = nil
		if in.DesiredObjects, err = d.parse(ctx, desired, old.Namespace, &in); err != nil {
			return in, err
		}
	}
	for _, h := range desired.Hooks {
		addHook(&in, h.Kind, h.Name, h.Events)
	}
	if problem := loaded.LastProblem; problem != nil {
		in.Warnings = append(in.Warnings, report.Message{Code: "last-unreadable", Message: problem.Error() +
			"; how Helm would write is taken from the revision that was asked for"})
		in.Last = &report.Revision{Revision: loaded.Choice.Last.Revision, Status: loaded.Choice.Last.Status}
	}
	if last.Revision != old.Revision && d.options.revision == 0 {
		in.Warnings = append(in.Warnings, report.Message{Code: "last-not-old", Message: fmt.Sprintf(
			"the last revision, %d, is %s; helm upgrade would start from revision %d, so that is compared", last.Revision, last.Status, old.Revision)})
		parsed, failed := d.parse(ctx, last, last.Namespace, &threeway.Input{})
		in.LastObjects, err = append([]object.Object{}, parsed...), failed // an empty manifest is not nil
	}
	return in, err
}

// addHook names a hook, which is not compared, and tells whether the operation runs it.
func addHook(in *threeway.Input, kind, name string, events []string) {
	in.NotCompared = append(in.NotCompared, report.NotCompared{Kind: kind, Name: name, Reason: "hook"})
	during := "-" + string(in.Operation)
	if slices.ContainsFunc(events, func(event string) bool { return event == "pre"+during || event == "post"+during }) {
		in.Hooks = append(in.Hooks, threeway.Hook{Kind: kind, Name: name})
	}
}

// parse reads the manifest of a record. One that is short and has no aliases is read here; any other takes the start of a child
// process, some 50 ms, and cannot take more than its bounds.
func (d diff) parse(ctx context.Context, r *release.Record, namespace string, in *threeway.Input) ([]object.Object, error) {
	if render.NeedsNoBounds(r.Manifest) {
		return d.objects(render.ReadDocuments(r.Manifest), namespace, in), nil
	}
	whose := fmt.Sprintf("the manifest of revision %d of %s", r.Revision, r.Name)
	o := manifestOrder{Text: r.Manifest, Memory: d.options.bounds.heap.Value()}
	answer, err := within[manifestOrder, manifestAnswer](ctx, d.options.bounds, "reading "+whose, jobManifest, o, nil)
	if err == nil && answer.TooHeavy {
		err = d.options.bounds.overweight("comparing " + whose)
	}
	if err != nil {
		return nil, err
	}
	return d.objects(answer.Documents, namespace, in), nil
}

// objects adds what documents say besides objects to the input.
func (d diff) objects(documents []render.Document, namespace string, in *threeway.Input) []object.Object {
	m := render.Objects(documents, render.ParseOptions{Namespace: namespace, Scope: d.cluster.Scope})
	in.NotCompared = append(in.NotCompared, m.NotCompared...)
	in.Warnings = append(in.Warnings, m.Warnings...)
	in.Errors = append(in.Errors, m.Errors...)
	return m.Objects
}

// helm is the Helm that is predicted: what the user says, else the one that wrote the last record, Helm 3 where that does not
// tell.
func (d diff) helm(last *release.Record) string {
	switch {
	case d.options.helm.word != "":
		return d.options.helm.word
	case last != nil && last.Writer == release.WriterHelm4:
		return "4"
	}
	return "3"
}

// applyMethod is how that Helm would write: as --server-side says. With auto, Helm 3 knows one way, and Helm 4 goes on as the
// record that decides says, and installs server-side (helm v4.3.1 pkg/action/upgrade.go getUpgradeServerSideValue, pkg/cmd/install.go).
func (d diff) applyMethod(helm string, decides *release.Record) string {
	auto := helm == "4" && (decides == nil || decides.ApplyMethod == release.ApplyServerSide)
	if d.options.serverSide.word == "true" || d.options.serverSide.word != "false" && auto {
		return "server-side"
	}
	return "client-side"
}

func revisionOf(r *release.Record) *report.Revision {
	return &report.Revision{Revision: r.Revision, Status: r.Status, Chart: chartOf(r)}
}

func chartOf(r *release.Record) string {
	if r.ChartName == "" {
		return ""
	}
	return r.ChartName + "-" + r.ChartVersion
}
