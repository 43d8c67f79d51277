package argo

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/ignored"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Question asks what Argo CD does next with an Application.
type Question struct {
	Namespace, Name string
	source.Fetcher
	// Tree is a working tree whose Applications are asked about, or nil.
	Tree *Tree
	// Render renders a chart, and ReadManifest reads a manifest.
	Render       func(context.Context, drift.ChartRequest) (*drift.RenderedChart, error)
	ReadManifest func(context.Context, *release.Record) ([]render.Document, error)
	// Kustomize builds a kustomization, and returns its objects as a manifest.
	Kustomize func(context.Context, source.KustomizeOrder) (string, error)
	// Ignore removes from objects what Argo CD ignores of them. It is called if expressions of jq are among that, which are foreign code.
	Ignore func(context.Context, ignored.Order) (ignored.Answer, error)
	// Known learns the secrets that are read.
	Known *secret.Known
	// KubeVersion and APIVersions replace and complete what the cluster tells charts about itself. They may be empty.
	KubeVersion string
	APIVersions []string
	// Now is the time that sync windows are compared with.
	Now time.Time
}

// Plan is what Argo CD does next with an Application, and what to compare for it.
type Plan struct {
	// Target is what to compare, and Connection is what the comparison reads.
	Target     drift.Target
	Connection drift.Connection

	app      *api.Application
	settings api.Settings
	// isOwn is set if the user gave the chart, which need not be the one that Argo CD has.
	isOwn   bool
	from    drift.Connection
	cluster readCache
	// made is what the sources make, and unmade is why that is not known.
	made   rendered
	unmade error
	// creates is the namespace that the sync creates, or whose metadata it sets, or nil. namespace names it.
	creates   map[string]any
	namespace object.Ref
	deployed  deployed
	// charts are those of the sources, and kept is the one whose values absorb changes, or nil.
	charts []chartOf
	kept   *Keeper
	// left has the objects that Argo CD ignores something of: what it compares of each. selected are the rules for what expressions select.
	left     map[object.Key]argocd.Left
	selected []report.RuleText
	// unsynced are the objects of the sources that a sync leaves alone, and hooks are those that it creates besides the others.
	unsynced map[object.Key]bool
	hooks    []object.Object
	// types are those of custom kinds, as far as they were needed.
	types once.Map[schema.GroupVersion, managedfields.TypeConverter]
	// broken is why Argo CD cannot compare the Application at all, or empty.
	broken string
	// outcomes has the argocd.Outcome of each object that the comparison writes, by its key.
	outcomes sync.Map
	// hasOthers is set if Argo CD finds objects that are neither in sync nor to be pruned: those that say hook: Skip, and copies.
	hasOthers bool
	// rejected is why Argo CD does not accept the Application, or empty.
	rejected string
	// verifies is set if a sync fails unless the sources are signed, which is not looked at.
	verifies bool
	// closed is why no sync window lets the controller sync now, and forbidden why a sync fails because of the project; both may be
	// empty. projectUnread is why that is not known.
	closed        api.Closed
	forbidden     string
	projectUnread error
	warnings      []report.Message
	problems      []report.Message
	files         deployer.Fetched
}

// These are the codes of errors and warnings about what Argo CD does.
const (
	CodeIncomplete = "argocd-unknown"
	CodeWarning    = "argocd"
)

// New reads an Application and everything that decides what a sync of it writes. The caller closes the plan.
func New(ctx context.Context, from drift.Connection, q Question) (*Plan, error) {
	read := func() (*api.Application, error) { return api.Read(ctx, from.Cluster, q.Namespace, q.Name) }
	if q.Tree != nil {
		read = func() (*api.Application, error) { return q.Tree.find(ctx, from, q) }
	}
	app, err := read()
	if err != nil {
		return nil, err
	}
	p, err := newPlan(ctx, from, q, app)
	if err == nil && q.Tree != nil {
		for _, remark := range q.Tree.remarks(app) {
			add := p.warn
			if q.Tree.isInDoubt(p.Application(), remark) {
				add = p.lacks
			}
			add(q.Tree.dir + ": " + remark)
		}
	}
	return p, err
}

// newPlan reads everything else than the Application.
func newPlan(ctx context.Context, from drift.Connection, q Question, app *api.Application) (*Plan, error) {
	if err := app.CheckDestination(); err != nil {
		return nil, err
	}
	p := &Plan{app: app, isOwn: q.Own, from: from, Connection: from, cluster: readCache{from.Cluster, map[object.Ref]cluster.Live{}}}
	var err error
	if p.settings, err = api.ReadSettings(ctx, from.Cluster, app.Metadata.Namespace); err != nil {
		return nil, err
	}
	if app.Instance = p.instance(); app.Goes() == "" { // or else its sources do not matter any more
		p.findNamespace(ctx)
		p.made, p.unmade = p.renderAll(ctx, q)
	}
	if ctx.Err() != nil {
		p.Close()
		return nil, ctx.Err()
	}
	p.askProject(ctx, q)
	if p.settings.Narrows {
		p.lacks("resource.selectors of argocd-cm hides objects from Argo CD; which ones is not known")
	}
	all := p.list(ctx)
	if p.forbidden == "" && p.options().Has("FailOnSharedResource=true") {
		p.forbidden = p.shared(ctx)
	}
	p.ignore(ctx, q)
	p.deployed = p.findDeployed(ctx, q, all)
	p.Target = drift.Target{
		Namespace: app.Metadata.Namespace, Release: app.Metadata.Name,
		Chart: &drift.Chart{Ref: app.Title(), NoLookup: true, UpgradeCRDs: true},
	}
	p.Connection.Cluster = p.cluster
	p.Connection.Records = func(string) (drift.Records, error) { return records{p}, nil }
	p.Connection.Lookups = nil
	if p.settings.Namespace == "" {
		p.warn("there is no ConfigMap argocd-cm in " + app.Metadata.Namespace + " or argocd, so the defaults of Argo CD count")
	}
	if state := app.Status.OperationState; state != nil && len(state.Operation.Sync.Manifests) > 0 {
		p.warn("the last sync was one of local manifests, with which Argo CD compares until the next sync; helmdrift compares with the sources")
	}
	if app.Kept != "" {
		p.warn(app.Kept)
	}
	return p, nil
}

// Close removes the files of the plan.
func (p *Plan) Close() { p.files.Close() }

// warn and lacks add a warning, and an error that makes the report incomplete.
func (p *Plan) warn(message string) { p.warnAs(CodeWarning, message) }

// warnAs warns with a code, unless the warning is there already.
func (p *Plan) warnAs(code, message string) {
	if one := (report.Message{Code: code, Message: message}); !slices.Contains(p.warnings, one) {
		p.warnings = append(p.warnings, one)
	}
}

func (p *Plan) lacks(message string) {
	p.problems = append(p.problems, report.Message{Code: CodeIncomplete, Message: message})
}

// askProject finds out whether the project lets Argo CD sync.
func (p *Plan) askProject(ctx context.Context, q Question) {
	project, err := api.ReadProject(ctx, p.from.Cluster, p.app, p.settings)
	if err == nil {
		p.closed, err = project.Closed(p.app, q.Now)
	}
	if err == nil {
		p.rejected, p.verifies = project.Rejects(p.app, p.settings), project.Verifies(p.app)
	}
	if p.projectUnread = err; err == nil && p.unmade == nil {
		all := p.made.objects
		if p.creates != nil {
			all = slices.Concat(all, render.Objects([]render.Document{documentOf(p.creates, "")}, p.parsing()).Objects)
		}
		if !p.heals() { // a sync of some objects runs no hooks
			all = slices.Concat(all, p.hooks)
		}
		p.forbidden = project.Forbids(p.app, p.settings, all)
	}
}

// findNamespace finds out whether the sync creates the namespace of the objects, or sets its metadata by a server-side apply (argo-cd
// v3.6.1 controller/sync_namespace.go syncNamespace).
func (p *Plan) findNamespace(ctx context.Context) {
	name := p.app.Spec.Destination.Namespace
	if name == "" || !slices.Contains(p.app.Spec.SyncPolicy.SyncOptions, "CreateNamespace=true") {
		return
	}
	ref := object.NamespaceRef(name)
	live := p.cluster.Read(ctx, []object.Ref{ref})[ref]
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	managed := p.app.Spec.SyncPolicy.ManagedNamespaceMetadata
	p.namespace = ref
	if managed != nil {
		if len(managed.Labels) > 0 {
			namespace.SetLabels(managed.Labels)
		}
		annotations := nonNil(managed.Annotations)
		annotations["argocd.argoproj.io/sync-options"] = "ServerSideApply=true"
		namespace.SetAnnotations(annotations)
	}
	switch {
	case live.Err != nil:
		p.lacks("whether the sync creates namespace " + name + " is not known: " + live.Err.Message)
	case managed != nil, live.Object == nil:
		p.creates = namespace.Object
	}
}

// options returns the options of the next sync. A sync by hand prunes if the user says so, and is predicted without that until it is under
// way. Then it has its own options (argo-cd v3.6.1 controller/sync.go SyncAppState).
func (p *Plan) options() argocd.Options {
	out := optionsOf(p.app)
	if is := p.app.UnderWay(); is != nil && !out.Removes {
		out.List, out.Prune = is.Sync.SyncOptions, is.Sync.Prune
	}
	out.Migrated = p.app.Metadata.Annotations["argocd.argoproj.io/client-side-apply-migration-manager"]
	out.Left, out.Raw = p.left, p.made.raw
	out.ComparesServerSide, out.Known = p.comparesServerSide(), p.settings.Known
	out.Learn = func(key object.Key, is argocd.Outcome) { p.outcomes.Store(key, is) }
	if p.heals() {
		out.List = append(slices.Clone(out.List), "ApplyOutOfSyncOnly=true")
	}
	return out
}

// heals reports whether the next sync is one of selfHeal, which names the objects that are out of sync and writes no other (argo-cd v3.6.1
// controller/appcontroller.go autoSync). If the metadata of the namespace has changed, it may name none, and then it writes all.
func (p *Plan) heals() bool {
	if p.unmade != nil || p.app.HasChangedNamespace() || !p.app.IsAutomated() || !p.app.Spec.SyncPolicy.Automated.SelfHeal {
		return false
	}
	attempted, phase := p.attempted(p.made.revisions)
	return attempted && phase == "Succeeded"
}

// Adapt changes options so that they compare what a sync writes.
func (p *Plan) Adapt(o drift.Options) drift.Options {
	sync := p.options()
	o.By, o.Helm, o.ApplyMethod = (*threeway.Deployment)(sync.Deployment()), "4", report.ApplyClientSide
	if sync.Has("ServerSideApply=true") {
		o.ApplyMethod = report.ApplyServerSide
	}
	o.TakeOwnership, o.ForceConflicts, o.ForceReplace, o.FromFlux = false, false, false, false
	o.Ignore = slices.Concat(p.rules(), o.Ignore)
	o.Forecast = p.forecast(o.Forecast)
	o.ReadManifest = func(context.Context, *release.Record) ([]render.Document, error) { return p.deployed.documents, nil }
	o.Render = func(context.Context, drift.ChartRequest) (*drift.RenderedChart, error) {
		if p.unmade != nil {
			return nil, p.unmade
		}
		return &p.made.answer, nil
	}
	return o
}
