package argo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file renders the sources and marks the objects.

// rendered is what the sources make.
type rendered struct {
	answer drift.RenderedChart
	// kind is that of the first source that makes objects, or empty if none does.
	kind string
	// objects are those of the manifest, without the namespace that the sync creates. raw has objects with their nulls, if the manifest
	// lacks these.
	objects []object.Object
	raw     map[object.Key]map[string]any
	// folders are the sources, and revisions are theirs. A source whose revision is not known has "".
	folders   []*source.Folder
	revisions []string
}

// renderAll fetches and renders all sources of an Application.
func (p *Plan) renderAll(ctx context.Context, q Question) (rendered, error) {
	all, err := q.Folders(ctx, p.app, q.Tree.local, p.files.Keep)
	if err != nil {
		return rendered{}, err
	}
	return p.renderFolders(ctx, q, all)
}

// renderFolders renders the sources of an Application that are in these folders.
func (p *Plan) renderFolders(ctx context.Context, q Question, all []*source.Folder) (out rendered, err error) {
	out.folders = all
	hasAgain, hasAtOnce := false, false
	var parts []*drift.RenderedChart
	for i, f := range all {
		if f.IsRef() {
			out.revisions = append(out.revisions, f.Revision)
			continue
		}
		part, kind, replaced, err := p.renderOne(ctx, q, f, all)
		if err != nil {
			return rendered{}, source.WithNumber(i, len(all), err)
		}
		for _, earlier := range parts {
			p.drop(earlier, replaced)
		}
		out.kind = cmp.Or(out.kind, kind)
		if f.IsChart && q.Own {
			f.Revision = part.Rendered.ChartVersion
		}
		out.revisions = append(out.revisions, f.Revision)
		hasAgain, hasAtOnce = hasAgain || part.Again != nil, hasAtOnce || part.AtOnce != nil
		parts = append(parts, part)
	}
	for _, part := range parts {
		out.add(part, hasAgain, hasAtOnce)
	}
	out.objects = render.Objects(out.answer.Manifest, p.parsing()).Objects
	// A sync writes definitions before objects of their kinds, and does not miss the kinds before (gitops-engine v3.6.1
	// pkg/sync/sync_context.go hasCRDOfGroupKind).
	out.answer.Rendered.Brings = render.DefinedKinds(out.objects)
	out.raw = p.leaveOutNulls(out.answer.Manifest)
	p.leaveOutNulls(out.answer.Again)
	p.leaveOutNulls(out.answer.AtOnce)
	isNamespace := func(o object.Object) bool { return o.Key == p.namespace.Key }
	if p.creates == nil || slices.ContainsFunc(out.objects, isNamespace) { // the one of the sources counts
		p.creates = nil
		return out, nil
	}
	out.answer.Manifest = append([]render.Document{documentOf(p.creates, "")}, out.answer.Manifest...)
	return out, nil
}

// leaveOutNulls removes from documents the nulls that objects do not have once a sync has created them, and returns these objects with
// them.
func (p *Plan) leaveOutNulls(documents []render.Document) map[object.Key]map[string]any {
	sync, raw := optionsOf(p.app), map[object.Key]map[string]any{}
	for i, document := range documents {
		var was map[string]any
		if !bytes.Contains(document.JSON, []byte("null")) || utiljson.Unmarshal(document.JSON, &was) != nil {
			continue
		}
		if is := sync.Created(was); !object.Equal(was, is) {
			raw[object.RefOf(was).Key], documents[i] = was, documentOf(is, document.Source)
		}
	}
	return raw
}

// isFromTree reports whether a source is in the working tree.
func (p *Plan) isFromTree() bool {
	return slices.ContainsFunc(p.made.folders, func(f *source.Folder) bool { return f.InTree })
}

// add adds what one source makes. If a source differs with each rendering, the second rendering has the objects of all.
func (r *rendered) add(part *drift.RenderedChart, hasAgain, hasAtOnce bool) {
	a := &r.answer
	a.Manifest = append(a.Manifest, part.Manifest...)
	again, atOnce := part.Again, part.AtOnce
	if again == nil {
		again = part.Manifest
	}
	if atOnce == nil {
		atOnce = again
	}
	if hasAgain {
		a.Again = append(a.Again, again...)
	}
	if hasAtOnce {
		a.AtOnce = append(a.AtOnce, atOnce...)
	}
	first := a.Rendered
	a.Rendered = part.Rendered
	if first.ChartName != "" {
		a.Rendered.ChartName, a.Rendered.ChartVersion = first.ChartName, first.ChartVersion
	}
	a.Rendered.Hooks = slices.Concat(first.Hooks, part.Rendered.Hooks)
	a.Rendered.Warnings = slices.Concat(first.Warnings, part.Rendered.Warnings)
	a.Rendered.Undiscovered = slices.Concat(first.Undiscovered, part.Rendered.Undiscovered)
	a.Rendered.Definitions = nil // they are objects of the manifest
}

// renderOne renders one of all sources, and returns its kind and the objects that it replaces by hooks.
func (p *Plan) renderOne(
	ctx context.Context, q Question, f *source.Folder, all []*source.Folder,
) (out *drift.RenderedChart, kind string, replaced map[object.Key]bool, err error) {
	if text, _ := json.Marshal(f.Source); f.InTree && bytes.Contains(text, []byte("ARGOCD_APP_REVISION")) {
		return nil, "", nil, errors.New("it uses ARGOCD_APP_REVISION, and the commit of the working tree is yet to come")
	}
	if kind, err = f.Kind(); err != nil {
		return nil, "", nil, hint.New(err, builtByUser)
	}
	switch kind {
	case source.KindDirectory:
		out, err = readDirectory(f)
	case source.KindKustomize:
		out, err = p.buildKustomization(ctx, q, f)
	default:
		out, err = p.renderChart(ctx, q, f, all)
	}
	if err != nil {
		return nil, "", nil, err
	}
	hooks := out.Rendered.Hooks
	for _, documents := range []*[]render.Document{&out.Again, &out.AtOnce, &out.Manifest} {
		if *documents == nil {
			continue
		}
		if *documents, out.Rendered.Hooks, replaced, err = p.marked(*documents, hooks); err != nil {
			return nil, "", nil, err
		}
	}
	return out, kind, replaced, nil
}

// builtByUser is advice for a source that helmdrift does not build.
const builtByUser = "for a part of the answer, compare what you have built: helmdrift diff app/NAME CHART with a folder of manifests"

// buildKustomization builds a kustomization. The path of the source stands for the name of a chart.
func (p *Plan) buildKustomization(ctx context.Context, q Question, f *source.Folder) (*drift.RenderedChart, error) {
	if p.settings.NoKustomize {
		return nil, errors.New("it is a kustomization, and kustomize.enable of argocd-cm is false: Argo CD takes its files for manifests")
	}
	order, err := f.Kustomize(f.Variables(p.app, p.instance()), p.settings.BuildOptions)
	if err != nil {
		return nil, hint.New(err, builtByUser)
	}
	text, err := q.Kustomize(ctx, order)
	switch {
	case err != nil && hint.Of(err) != "":
		return nil, err
	case err != nil:
		return nil, hint.New(fmt.Errorf("kustomize: %w", err), builtByUser)
	}
	documents, err := q.ReadManifest(ctx, &release.Record{Manifest: text})
	if err != nil {
		return nil, err
	}
	return &drift.RenderedChart{Manifest: documents, Rendered: render.Rendered{ChartName: cmp.Or(f.Source.Path, ".")}}, nil
}

// readDirectory reads a folder of manifests.
func readDirectory(f *source.Folder) (*drift.RenderedChart, error) {
	files, err := f.Manifests()
	if err != nil {
		return nil, err
	}
	out := &drift.RenderedChart{Manifest: []render.Document{}, Rendered: render.Rendered{ChartName: cmp.Or(f.Source.Path, ".")}}
	for _, file := range files {
		for _, text := range file.Objects {
			out.Manifest = append(out.Manifest, render.Document{Source: file.Name, JSON: text})
		}
	}
	return out, nil
}

// renderChart renders a chart as helm template does: it is always an installation, and lookups find nothing.
func (p *Plan) renderChart(ctx context.Context, q Question, f *source.Folder, all []*source.Folder) (*drift.RenderedChart, error) {
	refs := source.Refs(all)
	values, err := f.Values(refs, f.Variables(p.app, p.instance()))
	if err != nil {
		return nil, err
	}
	if p.settings.NoHelm {
		return nil, errors.New("it is a chart, and helm.enable of argocd-cm is false: Argo CD takes its files for manifests")
	}
	h := f.Source.Helm
	if h == nil {
		h = &api.HelmSource{}
	}
	if !slices.Contains([]string{"", "v3", "v4"}, h.Version) {
		return nil, fmt.Errorf("helm.version is %q, and Argo CD knows only v3 and v4", h.Version)
	}
	capabilities, err := p.capabilities(ctx, h, q)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(h.ReleaseName, p.app.Metadata.Name)
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return nil, hint.New(fmt.Errorf("the release of the chart cannot have the name %s: %w", name, err), "set helm.releaseName in the source")
	}
	request := drift.ChartRequest{
		Path: f.Dir, Helm4: true, Install: true, ReleaseName: name,
		Namespace: cmp.Or(h.Namespace, p.app.Spec.Destination.Namespace, "default"), Values: values.Options, Capabilities: capabilities,
		Undiscovered: p.from.Cluster.Undiscovered(), Known: (*drift.Secrets)(q.Known), SkipSchemaValidation: h.SkipSchemaValidation,
		AllowOutsideLinks: f.OfCommit, // of the chart, but not of the commit
		ReadFile:          values.ReadFile(all, q.FetchRemote(p.app)),
	}
	p.charts = append(p.charts, chartOf{folder: f, others: refs, request: request})
	out, err := q.Render(ctx, request)
	if err != nil {
		if failed, isOfTemplate := errors.AsType[*render.Error](err); isOfTemplate {
			failed.Message = strings.ReplaceAll(failed.Message, f.Dir, ".")
		}
		return nil, err
	}
	if h.SkipTests {
		out.Rendered.Hooks = slices.DeleteFunc(out.Rendered.Hooks, func(hook render.Hook) bool { return slices.Contains(hook.Events, "test") })
	}
	if !h.SkipCRDs {
		out.Rendered.Definitions = slices.DeleteFunc(out.Rendered.Definitions, func(d render.Document) bool { return d.Fault == render.NoObject })
		out.Manifest = slices.Concat(out.Rendered.Definitions, out.Manifest)
		if out.Again != nil {
			out.Again = slices.Concat(out.Rendered.Definitions, out.Again)
		}
	}
	return out, nil
}

// capabilities returns what templates see of the cluster: its version without what a vendor adds to it, and its API versions, or those of
// the Application, besides those that Helm knows (gitops-engine v3.6.1 pkg/utils/kube/ctl.go GetServerVersion, repository.go helmTemplate).
func (p *Plan) capabilities(ctx context.Context, h *api.HelmSource, q Question) (*chartutil.Capabilities, error) {
	found, err := p.from.Cluster.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	of := cmp.Or(h.KubeVersion, q.KubeVersion, found.KubeVersion.Version)
	plain, err := version.ParseGeneric(of)
	if err != nil {
		return nil, fmt.Errorf("%q is not a version of Kubernetes: %w", of, err)
	}
	extra := h.APIVersions
	if len(extra) == 0 {
		extra = append(slices.DeleteFunc(slices.Clone([]string(found.APIVersions)), isUnwatched), q.APIVersions...)
	}
	out := *found
	out.APIVersions = chartutil.DefaultVersionSet
	return render.OverrideCapabilities(&out, plain.String(), extra)
}

// These can only be read or created. Argo CD tells charts about kinds that it can list and watch (gitops-engine v3.6.1
// pkg/utils/kube/ctl.go GetAPIResources), and discovery as helmdrift reads it does not say which they are.
var (
	unwatchedGroups = []string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io", "packages.operators.coreos.com"}
	unwatchedKinds  = []string{
		"Binding", "ComponentStatus", "Eviction", "LocalSubjectAccessReview", "NodeProxyOptions", "PodAttachOptions", "PodExecOptions",
		"PodPortForwardOptions", "PodProxyOptions", "Scale", "SelfSubjectAccessReview", "SelfSubjectReview", "SelfSubjectRulesReview",
		"ServiceProxyOptions", "SubjectAccessReview", "TokenRequest", "TokenReview",
	}
)

// isUnwatched reports whether no kind of an API version can be watched, or the kind that it ends with cannot. A group of Kubernetes itself
// has no dot, or ends with .k8s.io.
func isUnwatched(version string) bool {
	group, rest, _ := strings.Cut(version, "/")
	isOwn := !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
	return slices.Contains(unwatchedGroups, group) || isOwn && slices.Contains(unwatchedKinds, rest[strings.LastIndex(rest, "/")+1:])
}

// parsing says how the documents of the Application are read.
func (p *Plan) parsing() render.ParseOptions {
	return render.ParseOptions{Namespace: p.app.Spec.Destination.Namespace, Scope: p.from.Cluster.Scope}
}

// marked returns documents with one object each, in their namespaces, with the marks of Argo CD. Hooks are not among them: hooks are those
// of the chart, and those that it finds are added. Of several objects with the same name, Argo CD takes the last, and the hooks of a chart
// come last. Replaced has those whose last one is a hook or is not synced (argo-cd v3.6.1 controller/state.go NormalizeTargetObjects). A
// document that cannot be read stays as it is.
func (p *Plan) marked(
	documents []render.Document, hooks []render.Hook,
) (out []render.Document, found []render.Hook, replaced map[object.Key]bool, err error) {
	var all []render.Document
	var keys []object.Key
	replaced = map[object.Key]bool{}
	if p.unsynced == nil {
		p.unsynced = map[object.Key]bool{}
	}
	found = slices.Clone(hooks)
	withHooks := slices.Clone(documents)
	for _, h := range hooks {
		withHooks = append(withHooks, render.ReadDocuments(h.Text)...)
	}
	for i, document := range withHooks {
		parsed := render.Objects([]render.Document{document}, p.parsing())
		if len(parsed.Errors) > 0 {
			all, keys = append(all, document), append(keys, object.Key{})
			continue
		}
		for _, o := range parsed.Objects {
			content, err := p.mark(o, document) // a hook that cannot be marked keeps Argo CD from making manifests, too
			if err != nil {
				return nil, nil, nil, err
			}
			p.unsynced[o.Key] = p.isUnsynced(o)
			replaced[o.Key] = p.unsynced[o.Key] || isHook(o.Content)
			if replaced[o.Key] && !p.unsynced[o.Key] && runsInSync(o.Content) {
				p.hooks = append(p.hooks, o)
			}
			switch {
			case !replaced[o.Key]:
				all, keys = append(all, documentOf(content, o.Source)), append(keys, o.Key)
			case !p.unsynced[o.Key] && i < len(documents):
				found = append(found, render.Hook{Kind: o.Kind, Name: o.Name, Path: o.Source})
			}
		}
	}
	out = []render.Document{}
	for i, document := range all {
		if !replaced[keys[i]] {
			out = append(out, document)
		}
	}
	return out, found, replaced, nil
}

// drop removes the objects from what a source makes that a later source replaces.
func (p *Plan) drop(part *drift.RenderedChart, replaced map[object.Key]bool) {
	for _, documents := range []*[]render.Document{&part.Manifest, &part.Again, &part.AtOnce} {
		*documents = slices.DeleteFunc(*documents, func(d render.Document) bool {
			parsed := render.Objects([]render.Document{d}, p.parsing())
			return slices.ContainsFunc(parsed.Objects, func(o object.Object) bool { return replaced[o.Key] })
		})
	}
}

// documentOf returns a document with an object.
func documentOf(content map[string]any, from string) render.Document {
	text, err := json.Marshal(content)
	if err != nil {
		return render.Document{Source: from, Fault: "cannot be written as JSON"}
	}
	return render.Document{Source: from, JSON: text}
}

// isHook reports whether a sync runs an object in a phase of its own (gitops-engine v3.6.1 pkg/sync/hook/hook.go IsHook), unless it is
// unsynced.
func isHook(content map[string]any) bool {
	annotations := object.Child(object.Child(content, "metadata"), "annotations")
	if _, found := annotations["argocd.argoproj.io/hook"].(string); found {
		return true
	}
	text, found := annotations["helm.sh/hook"].(string)
	return found && text != "crd-install"
}

// runsInSync reports whether a sync creates a hook. A phase of its own annotation counts before those of Helm (gitops-engine v3.6.1
// pkg/sync/hook/hook.go Types, pkg/sync/sync_phase.go syncPhases).
func runsInSync(content map[string]any) bool {
	isOne := func(of string, phases ...string) bool {
		return slices.ContainsFunc(api.Listed(argocd.Annotation(content, of)), func(phase string) bool { return slices.Contains(phases, phase) })
	}
	const own = "argocd.argoproj.io/hook"
	if isOne(own, "PreSync", "Sync", "PostSync", "SyncFail", "Skip") {
		return isOne(own, "PreSync", "Sync", "PostSync", "SyncFail")
	}
	return isOne("helm.sh/hook", "pre-install", "pre-upgrade", "post-install", "post-upgrade")
}

// isUnsynced reports whether a sync leaves an object of the sources alone: argocd-cm excludes its kind (argo-cd v3.6.1 controller/state.go
// CompareAppState), or the object says so (gitops-engine v3.6.1 pkg/sync/sync_phase.go syncPhases).
func (p *Plan) isUnsynced(o object.Object) bool {
	if p.settings.Excludes(o.Group, o.Kind) {
		p.warn(o.Key.String() + " is not synced: argocd-cm excludes its kind, or it is one that Argo CD never writes")
		return true
	}
	isSkipped := strings.TrimSpace(argocd.Annotation(o.Content, "argocd.argoproj.io/hook")) == "Skip"
	p.hasOthers = p.hasOthers || isSkipped
	return isSkipped
}

// instance returns the name of the Application in the marks. One in another namespace than Argo CD has that in front, but helmdrift does
// not know the namespace of Argo CD: it is that of the ConfigMap argocd-cm (argo-cd v3.6.1 util/argo/argo.go InstanceName).
func (p *Plan) instance() string {
	if p.settings.Namespace == "" || p.settings.Namespace == p.app.Metadata.Namespace {
		return p.app.Metadata.Name
	}
	return p.app.Metadata.Namespace + "_" + p.app.Metadata.Name
}

// These annotations mark an object: with its Application, and with the identity of its Argo CD.
const (
	trackingID     = "argocd.argoproj.io/tracking-id"
	installationID = "argocd.argoproj.io/installation-id"
)

// mark returns an object of a document with its namespace and the marks of Argo CD (argo-cd v3.6.1 util/argo/resource_tracking.go
// SetAppInstance, controller/state.go NormalizeTargetObjects). A definition has no marks, unless it says a namespace, which Argo CD
// removes. If one of the others cannot be marked, there is no manifest at all.
func (p *Plan) mark(o object.Object, from render.Document) (map[string]any, error) {
	content, _ := object.Copy(o.Content).(map[string]any)
	u := unstructured.Unstructured{Object: content}
	if object.Child(content, "metadata") == nil {
		return content, nil
	}
	u.SetNamespace(o.Namespace)
	if o.IsDefinition() && !saysNamespace(from, o) {
		return content, nil
	}
	hasTemplate := slices.Contains([]string{"apps", "extensions", "batch"}, o.Group) &&
		object.Child(object.Child(content, "spec"), "template") != nil
	if hasTemplate && p.settings.Label == legacyLabel && p.marks("labels") {
		return nil, fmt.Errorf("application.instanceLabelKey of argocd-cm is %s: Argo CD also sets it in the template of %s, "+
			"which helmdrift does not do", legacyLabel, o.Key)
	}
	for _, field := range []string{"annotations", "labels"} {
		_, _, err := unstructured.NestedStringMap(content, "metadata", field)
		if err != nil && p.marks(field) && object.Child(content, "metadata")[field] != nil {
			return nil, hint.New(
				fmt.Errorf("%s of %s: Argo CD cannot mark the object, so it makes no manifests of the Application: %w", field, o.Key, err),
				"quote numbers and true and false in its template")
		}
	}
	annotations, labels := nonNil(u.GetAnnotations()), nonNil(u.GetLabels())
	if p.settings.Tracking != "label" {
		namespace := cmp.Or(o.Namespace, p.app.Spec.Destination.Namespace)
		annotations[trackingID] = fmt.Sprintf("%s:%s/%s:%s/%s", p.instance(), o.Group, o.Kind, namespace, o.Name)
		if delete(annotations, installationID); p.settings.Installation != "" {
			annotations[installationID] = p.settings.Installation
		}
		u.SetAnnotations(annotations)
	}
	switch p.settings.Tracking {
	case "label":
		labels[p.settings.Label] = p.instance()
		u.SetLabels(labels)
	case "annotation+label":
		labels[p.settings.Label] = shortened(p.instance())
		u.SetLabels(labels)
	}
	return u.Object, nil
}

// saysNamespace reports whether an object of a document has a namespace there.
func saysNamespace(from render.Document, o object.Object) bool {
	return slices.ContainsFunc(render.Objects([]render.Document{from}, render.ParseOptions{}).Objects, func(is object.Object) bool {
		return is.Kind == o.Kind && is.Name == o.Name && is.Namespace != ""
	})
}

// legacyLabel is the key of the label that Argo CD also sets in the templates of pods (argo-cd v3.6.1 util/kube/kube.go
// SetAppInstanceLabel).
const legacyLabel = "applications.argoproj.io/app-name"

// marks reports whether Argo CD marks objects in their annotations, or in their labels.
func (p *Plan) marks(field string) bool {
	return p.settings.Tracking == "annotation+label" || (p.settings.Tracking == "label") == (field == "labels")
}

// shortened returns a text as the value of a label: at most 63 letters. The last one is a letter or a digit.
func shortened(text string) string {
	const most = 63
	if len(text) <= most {
		return text
	}
	return strings.TrimRight(text[:most], "-_.")
}
