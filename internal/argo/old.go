package argo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file finds out what Argo CD deployed. It stores no record, but each object shows a part of it: the annotation of a client-side
// apply, or the fields that Argo CD still owns; for the others, the sources of the last sync are rendered again (synced.go). The prediction
// of a sync does not depend on it; the causes do.

// deployed is what Argo CD deployed last.
type deployed struct {
	documents []render.Document
	from      map[object.Key]report.OldFrom
}

// listed is an object that the controller has found in the sources or in the cluster, besides hooks. Desired is nil if the sources do not
// have it.
type listed struct {
	ref     object.Ref
	desired *object.Object
	live    cluster.Live
}

// list returns the objects of status.resources.
func (p *Plan) list(ctx context.Context) []listed {
	desired := byKey(p.made.objects)
	var out []listed
	var refs []object.Ref
	for _, r := range p.app.Status.Resources {
		if r.Hook {
			continue
		}
		key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		one := listed{ref: object.Ref{Key: key, Version: r.Version}, desired: desired[key]}
		if one.desired != nil {
			one.ref = one.desired.Ref
		}
		out, refs = append(out, one), append(refs, one.ref)
	}
	live := p.cluster.Read(ctx, refs)
	for i := range out {
		out[i].live = live[out[i].ref]
	}
	return slices.DeleteFunc(out, func(one listed) bool {
		isLeft := p.app.Goes() == "" && one.desired == nil && p.settings.Tracking != "label" && isCopied(one.live.Object)
		p.hasOthers = p.hasOthers || isLeft
		return p.unsynced[one.ref.Key] || isLeft
	})
}

// shared says which object of the sources another Application has marked, so that a sync with FailOnSharedResource=true fails, or returns
// "" (argo-cd v3.6.1 controller/state.go CompareAppState, util/argo/resource_tracking.go GetAppName).
func (p *Plan) shared(ctx context.Context) string {
	var refs []object.Ref
	for _, o := range p.made.objects {
		refs = append(refs, o.Ref)
	}
	live := p.cluster.Read(ctx, refs) // which the comparison reads, too
	for _, ref := range refs {
		is := live[ref].Object
		by, _, _ := strings.Cut(argocd.Annotation(is, trackingID), ":")
		switch {
		case p.settings.Tracking == "label":
			by, _ = object.Child(object.Child(is, "metadata"), "labels")[p.settings.Label].(string)
		case p.settings.Installation != "" && argocd.Annotation(is, installationID) != p.settings.Installation:
			by = "" // of another Argo CD
		}
		if by != "" && by != p.instance() {
			return fmt.Sprintf("%s belongs to Application %s too, so with FailOnSharedResource=true a sync fails", ref.Key, by)
		}
	}
	return ""
}

// isCopied reports whether a live object has the mark of another object. Some controllers copy objects with their annotations, and a sync
// leaves such a copy alone. It goes with the Application, though (argo-cd v3.6.1 controller/state.go isSelfReferencedObj).
func isCopied(live map[string]any) bool {
	parts := strings.SplitN(argocd.Annotation(live, trackingID), ":", 3)
	if len(parts) < 3 {
		return false
	}
	key := object.RefOf(live).Key
	namespace, name, _ := strings.Cut(parts[2], "/")
	return parts[1] != key.Group+"/"+key.Kind || name != key.Name || key.Namespace != "" && namespace != key.Namespace
}

// byKey returns objects by their keys.
func byKey(all []object.Object) map[object.Key]*object.Object {
	out := map[object.Key]*object.Object{}
	for i := range all {
		out[all[i].Key] = &all[i]
	}
	return out
}

// findDeployed returns what Argo CD deployed.
func (p *Plan) findDeployed(ctx context.Context, q Question, all []listed) deployed {
	out := deployed{from: map[object.Key]report.OldFrom{}}
	isAsked := q.KubeVersion != "" || len(q.APIVersions) > 0 // then a chart may make something else than at the last sync
	last := lastSync{isSame: p.unmade == nil && !p.isOwn && !isAsked && p.isSynced()}
	if last.isSame {
		last.random = p.random()
	} else {
		last.objects = p.lastObjects(ctx, q, all)
	}
	for _, one := range all {
		content, from := p.deployedOf(one, last)
		if content == nil {
			continue
		}
		source := ""
		if one.desired != nil {
			source = one.desired.Source
		}
		out.documents = append(out.documents, documentOf(optionsOf(p.app).Created(content), source))
		out.from[one.ref.Key] = from
	}
	p.addNamespace(ctx, &out)
	return out
}

// addNamespace adds the namespace if an earlier sync has set its metadata. The controller does not list it.
func (p *Plan) addNamespace(ctx context.Context, out *deployed) {
	if _, _, found := p.app.Synced(); p.creates == nil || !found || out.from[p.namespace.Key] != "" {
		return
	}
	live := p.cluster.Read(ctx, []object.Ref{p.namespace})[p.namespace].Object
	if live == nil {
		return
	}
	out.documents = append(out.documents, documentOf(argocd.Owned(p.namespace, p.creates, live, argocd.Manager), ""))
	out.from[p.namespace.Key] = report.OldOwned
}

// deployedOf returns what Argo CD deployed of an object, or nil if it deployed none as far as that is known. What the last sync made of the
// sources counts only for fields that Argo CD does not own any more: it may have written others since, by a partial sync or by one that
// failed.
func (p *Plan) deployedOf(o listed, last lastSync) (map[string]any, report.OldFrom) {
	wanted := map[string]any{
		"apiVersion": o.ref.APIVersion(), "kind": o.ref.Kind, "metadata": map[string]any{"name": o.ref.Name, "namespace": o.ref.Namespace},
	}
	from := report.OldOwned
	if o.desired != nil {
		wanted = o.desired.Content
	}
	then := last.objects[o.ref.Key]
	if then != nil {
		wanted, from = then.Content, report.OldRendered
	}
	if o.live.Object == nil {
		switch {
		case o.live.Err == nil && (o.desired == nil || !last.isSame && !p.hadObject(o.ref.Key, last)):
			return nil, ""
		case last.isSame:
			return wanted, report.OldRendered
		}
		return wanted, from
	}
	if isOwnAnnotation(o.live.Object) {
		if applied := argocd.Applied(o.live.Object); applied != nil {
			return applied, report.OldApplied
		}
	}
	switch {
	case last.isSame && o.desired != nil && !last.random[o.ref.Key]:
		return wanted, report.OldRendered
	case last.objects != nil && then == nil && o.desired != nil && !isWritten(o.live.Object):
		return nil, "" // somebody else made it, and the sources have it only since
	}
	return argocd.Owned(o.ref, wanted, o.live.Object, argocd.Manager), from
}

// random returns the objects of the sources that each rendering makes with other values.
func (p *Plan) random() map[object.Key]bool {
	out := map[object.Key]bool{}
	if p.made.answer.Again == nil {
		return out
	}
	first := byKey(p.made.objects)
	for _, o := range render.Objects(p.made.answer.Again, p.parsing()).Objects {
		if was := first[o.Key]; was != nil && !object.Equal(was.Content, o.Content) {
			out[o.Key] = true
		}
	}
	return out
}

// isWritten reports whether Argo CD owns a field of a live object.
func isWritten(live map[string]any) bool {
	return slices.ContainsFunc(owners.Entries(live, nil), func(e owners.Entry) bool { return e.Manager == argocd.Manager })
}

// isSynced reports whether the last full sync that succeeded had the same sources at the same revisions.
func (p *Plan) isSynced() bool {
	sources, revisions, found := p.app.Synced()
	return found && !p.isFromTree() && api.HaveSameSources(sources, p.app.Sources()) && slices.Equal(revisions, p.made.revisions)
}

// hadObject reports whether Argo CD has written an object that is in status.resources, which also has what the sources are to create. After
// a partial sync, what the last full one made of the sources decides. If that is not known, the object counts as written: one that somebody
// deleted must not look like a new one.
func (p *Plan) hadObject(key object.Key, last lastSync) bool {
	was, isKnown := p.wasSynced(key)
	if !isKnown && last.objects != nil {
		return last.objects[key] != nil
	}
	return was || !isKnown
}

// wasSynced reports whether the last sync wrote an object. A full sync names all objects that it wrote. After a partial one, nothing is
// known of those that it does not name, and after a dry run of none.
func (p *Plan) wasSynced(key object.Key) (was, isKnown bool) {
	state := p.app.Status.OperationState
	if _, _, found := p.app.Synced(); state == nil || !found {
		return false, true
	}
	if state.Operation.Sync.DryRun {
		return false, false
	}
	was = state.SyncResult != nil && slices.ContainsFunc(state.SyncResult.Resources, func(r api.SyncedResource) bool {
		return r.HookType == "" && key == object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	})
	return was, was || state.SyncResult != nil && len(state.Operation.Sync.Resources) == 0
}

// isOwnAnnotation reports whether Argo CD wrote the annotation of kubectl apply. Somebody else may have applied the object since.
func isOwnAnnotation(live map[string]any) bool {
	path := object.Path{}.Field("metadata").Field("annotations").Field(argocd.LastApplied)
	for _, entry := range owners.Entries(live, nil) {
		if owners.OwnsWithin(entry.Fields, path) {
			return entry.Manager == argocd.Manager
		}
	}
	return false
}

// records are what stands for the records of Helm. They implement drift.Records.
type records struct{ p *Plan }

func (r records) Resource() string { return "" }

func (r records) History(context.Context, string) (release.History, error) {
	return release.History{
		Release: r.p.app.Metadata.Name, Namespace: r.p.app.Metadata.Namespace,
		Entries: []release.Entry{{Revision: r.p.record().Revision}},
	}, nil
}

func (r records) Load(ctx context.Context, name string, _ int, _ release.Options) (*release.Loaded, error) {
	history, err := r.History(ctx, name)
	record := r.p.record()
	record.Manifest = r.p.deployed.manifest()
	return &release.Loaded{History: history, Old: record, Last: record}, err
}

func (r records) LoadRollback(context.Context, string, int, release.Options) (*release.Loaded, error) {
	return nil, errors.New("an Application has no revisions of Helm")
}

// record returns what stands for the record of the last sync. Its number is that of the sync in status.history.
func (p *Plan) record() *release.Record {
	out := &release.Record{Name: p.app.Metadata.Name, Namespace: p.app.Spec.Destination.Namespace, Status: "synced"}
	if n := len(p.app.Status.History); n > 0 {
		out.Revision = p.app.Status.History[n-1].ID
	} else if _, _, found := p.app.Synced(); !found {
		out.Status = "never synced"
	}
	return out
}

// manifest returns what was deployed as text, as the record of a release has it.
func (d deployed) manifest() string {
	var out strings.Builder
	for _, document := range d.documents {
		text, err := yaml.JSONToYAML(document.Text())
		if err != nil {
			continue
		}
		out.WriteString("---\n")
		if document.Source != "" {
			out.WriteString("# Source: " + document.Source + "\n")
		}
		out.Write(text)
	}
	return out.String()
}

// readCache is a cluster that reads each object once.
type readCache struct {
	drift.Cluster
	known map[object.Ref]cluster.Live
}

// Read implements drift.Cluster.
func (c readCache) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	missing := object.Filter(wanted, func(ref object.Ref) bool { _, found := c.known[ref]; return !found })
	if len(missing) > 0 {
		maps.Copy(c.known, c.Cluster.Read(ctx, missing))
	}
	out := make(map[object.Ref]cluster.Live, len(wanted))
	for _, ref := range wanted {
		if live, found := c.known[ref]; found {
			out[ref] = live
		}
	}
	return out
}
