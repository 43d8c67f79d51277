package drift

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/helmrelease"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// storedInput returns the input from the records alone. Desired is the same manifest as old or, for a rollback, the manifest of the
// revision to return to. Without records it is the input of an installation.
func (r run) storedInput(ctx context.Context, loaded *release.Loaded) (in threeway.Input, err error) {
	in = r.baseInput()
	old, last := loaded.Old, loaded.Last
	if old == nil {
		return in, nil
	}
	in.Name, in.Namespace, in.Operation = old.Name, old.Namespace, report.OperationDrift
	in.Old, in.Last = revisionOf(old), revisionOf(last)
	if in.By.Syncs() {
		in.Operation = report.OperationSync
	}
	desired, source, decisive := old, "record", last
	if target := loaded.Target; target != nil {
		desired, source, decisive, in.Operation = target, "revision", target, report.OperationRollback
	}
	in.Desired = &report.Desired{Source: source, Revision: desired.Revision, Chart: desired.Chart(), Helm: r.helmVersion(last)}
	in.ApplyMethod = r.applyMethod(in.Desired.Helm, decisive)
	in.Migrates = loaded.Target != nil || old.ApplyMethod != report.ApplyServerSide
	if in.OldObjects, err = r.readManifest(ctx, old, old.Namespace, &in); err != nil {
		return in, err
	}
	in.ForceConflicts = in.ForceConflicts || in.By != nil && in.By.ForcesConflicts && in.ServerSide() || forcesAsFlux(in)
	in.DesiredObjects = in.OldObjects
	if loaded.Target != nil {
		in.NotCompared = nil
		if in.DesiredObjects, err = r.readManifest(ctx, desired, old.Namespace, &in); err != nil {
			return in, err
		}
	}
	for _, h := range desired.Hooks {
		r.addHook(&in, render.Hook{
			Kind: h.Kind, Name: h.Name, Path: h.Path, Weight: h.Weight, Events: h.Events, DeletePolicies: h.DeletePolicies, Text: h.Manifest,
		})
	}
	return in, r.addLast(ctx, loaded, &in)
}

// forcesAsFlux reports whether the next upgrade forces conflicts although no option says so: Flux deploys the release, and the
// helm-controller forces whatever it applies server-side (fluxcd/helm-controller v1.6.0 internal/action/upgrade.go Upgrade). A rollback is
// predicted as one by the helm command.
func forcesAsFlux(in threeway.Input) bool {
	if !in.ServerSide() || in.Operation == report.OperationRollback {
		return false
	}
	name, _ := helmrelease.Owner(in.OldObjects)
	return name != ""
}

// baseInput returns the input of an installation. storedInput replaces what the records say differently.
func (r run) baseInput() threeway.Input {
	o := r.options
	helm := r.helmVersion(nil)
	return threeway.Input{
		Name: r.target.Release, Namespace: r.target.Namespace, StorageNamespace: r.target.Namespace, Cluster: r.connection.Name,
		Operation: report.OperationInstall, Desired: &report.Desired{Source: "chart", Helm: helm}, ApplyMethod: r.applyMethod(helm, nil),
		Migrates: true, ForceConflicts: o.ForceConflicts, ForceReplace: o.ForceReplace, TakeOwnership: o.TakeOwnership,
		Records: r.records.Resource(), Unknown: o.Unknown, By: o.By, Known: o.Learned.known(),
	}
}

// addLast adds the last revision to the input if it is not old, as after a failed upgrade. What it wrote explains live values.
func (r run) addLast(ctx context.Context, loaded *release.Loaded, in *threeway.Input) error {
	old, last := loaded.Old, loaded.Last
	if problem := loaded.LastProblem; problem != nil {
		in.Warnings = append(in.Warnings, report.Message{Code: "last-unreadable", Message: problem.Error() +
			"; how Helm would write is taken from the revision that was asked for"})
		in.Last = &report.Revision{Revision: loaded.Choice.Last.Revision, Status: loaded.Choice.Last.Status}
	}
	if last.Revision == old.Revision || r.target.Revision != 0 {
		return nil
	}
	in.Warnings = append(in.Warnings, report.Message{Code: "last-not-old", Message: fmt.Sprintf(
		"the last revision, %d, is %s; helm upgrade would start from revision %d, so that is compared",
		last.Revision, last.Status, old.Revision)})
	parsed, err := r.readManifest(ctx, last, last.Namespace, &threeway.Input{})
	in.LastObjects = append([]object.Object{}, parsed...) // an empty manifest is not nil
	return err
}

// addHook adds a hook to NotCompared, and to the hooks of the operation if the operation runs it. Helm never deletes a definition (helm
// v3.22.0 pkg/action/hooks.go execHook, deleteHookByPolicy).
func (r run) addHook(in *threeway.Input, h render.Hook) {
	in.NotCompared = append(in.NotCompared, report.NotCompared{Kind: h.Kind, Name: h.Name, Reason: report.NotComparedHook})
	out := threeway.Hook{Kind: h.Kind, Name: h.Name, Path: h.Path, Weight: h.Weight, Event: "pre-" + string(in.Operation), First: true}
	if !slices.Contains(h.Events, out.Event) {
		out.Event, out.First = "post-"+string(in.Operation), false
	}
	if deletable := h.Kind != "CustomResourceDefinition"; deletable {
		out.DeletedBefore = len(h.DeletePolicies) == 0 || slices.Contains(h.DeletePolicies, "before-hook-creation")
		out.DeletedAfter = slices.Contains(h.DeletePolicies, "hook-succeeded")
	}
	if slices.Contains(h.Events, out.Event) && !r.options.NoHooks {
		o := h.Object(render.ParseOptions{Namespace: in.Namespace, Scope: r.scope})
		out.Key, out.Content = o.Key, o.Content
		in.Hooks = append(in.Hooks, out)
	}
}

// readManifest returns the objects of the manifest of a record, and adds what else the manifest says to the input.
func (r run) readManifest(ctx context.Context, record *release.Record, namespace string, in *threeway.Input) ([]object.Object, error) {
	documents, err := r.options.ReadManifest(ctx, record)
	if err != nil {
		return nil, err
	}
	return r.objectsOf(documents, namespace, in), nil
}

// objectsOf returns the objects of the documents of a manifest. Hooks, warnings and errors of the documents are added to the input.
func (r run) objectsOf(documents []render.Document, namespace string, in *threeway.Input) []object.Object {
	m := render.Objects(documents, render.ParseOptions{Namespace: namespace, Scope: r.scope})
	in.NotCompared = append(in.NotCompared, m.NotCompared...)
	in.Warnings = append(in.Warnings, m.Warnings...)
	in.Errors = append(in.Errors, m.Errors...)
	return m.Objects
}

// withScopes returns the objects of a record without the namespaces of those that live in none. It matters for a kind that the cluster does
// not serve, and that only the chart shows to be cluster-scoped.
func (r run) withScopes(objects []object.Object) []object.Object {
	objects = slices.Clone(objects)
	for i := range objects {
		o := &objects[i]
		if namespaced, known := r.scope(o.GVK()); known && !namespaced && o.Namespace != "" {
			o.Namespace = ""
			o.Content, _ = object.Without(o.Content, object.Path{{Name: "metadata"}, {Name: "namespace"}}).(map[string]any)
		}
	}
	return objects
}

// scope reports whether objects of a kind live in namespaces. The chart says it of a kind that the cluster does not serve yet.
func (r run) scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	if namespaced, known = r.connection.Cluster.Scope(kind); known {
		return namespaced, true
	}
	i := slices.IndexFunc(r.defined, func(d render.Definition) bool { return d.GroupKind == kind.GroupKind() })
	return i >= 0 && r.defined[i].Namespaced, i >= 0
}

// helmVersion returns the major version of Helm to predict: the version in the options, or else the one that wrote the last record. It is
// 3 if the record does not show it.
func (r run) helmVersion(last *release.Record) string {
	switch {
	case r.options.Helm != "":
		return r.options.Helm
	case last != nil && last.Writer == release.WriterHelm4:
		return "4"
	}
	return "3"
}

// applyMethod returns how that Helm writes, unless the options decide: Helm 3 applies client-side. Helm 4 applies as the decisive record
// says, which is the last one or the target of a rollback, and installs server-side (helm v4.3.1 pkg/action/upgrade.go
// getUpgradeServerSideValue, pkg/cmd/install.go).
func (r run) applyMethod(helm string, decisive *release.Record) report.ApplyMethod {
	switch {
	case r.options.ApplyMethod != "":
		return r.options.ApplyMethod
	case helm == "4" && (decisive == nil || decisive.ApplyMethod == report.ApplyServerSide):
		return report.ApplyServerSide
	}
	return report.ApplyClientSide
}

// revisionOf returns what a report says about a revision.
func revisionOf(r *release.Record) *report.Revision {
	return &report.Revision{Revision: r.Revision, Status: r.Status, Chart: r.Chart()}
}
