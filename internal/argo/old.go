package argo

import (
	"context"
	"errors"
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

// This file finds out what Argo CD deployed. It stores no record, but each object shows a part of it: the annotation of a client-side apply, or
// the fields that Argo CD still owns. The prediction of a sync does not depend on it; the causes do.

// deployed is what Argo CD deployed last.
type deployed struct {
	documents []render.Document
	from      map[object.Key]report.OldFrom
}

// findDeployed returns what Argo CD deployed. Made is what the sources make now, or nil if that is not known.
func (p *Plan) findDeployed(ctx context.Context, made *rendered) deployed {
	out := deployed{from: map[object.Key]report.OldFrom{}}
	desired := map[object.Key]*object.Object{}
	if made != nil {
		for i := range made.objects {
			desired[made.objects[i].Key] = &made.objects[i]
		}
	}
	isSame := made != nil && !p.isOwn && p.isSynced(made)
	var refs []object.Ref
	for _, r := range p.app.Status.Resources {
		if r.Hook {
			continue
		}
		key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		ref := object.Ref{Key: key, Version: r.Version}
		if d := desired[key]; d != nil {
			ref = d.Ref
		}
		refs = append(refs, ref)
	}
	live := p.cluster.Read(ctx, refs)
	for _, ref := range refs {
		content, from := p.deployedOf(ref, desired[ref.Key], live[ref], isSame)
		if content == nil {
			continue
		}
		source := ""
		if d := desired[ref.Key]; d != nil {
			source = d.Source
		}
		out.documents = append(out.documents, documentOf(content, source))
		out.from[ref.Key] = from
	}
	p.addNamespace(ctx, &out)
	return out
}

// addNamespace adds the namespace if an earlier sync has set its metadata. The controller does not list it.
func (p *Plan) addNamespace(ctx context.Context, out *deployed) {
	if p.creates == nil || len(p.app.Status.History) == 0 || out.from[p.namespace.Key] != "" {
		return
	}
	live := p.cluster.Read(ctx, []object.Ref{p.namespace})[p.namespace].Object
	if live == nil {
		return
	}
	out.documents = append(out.documents, documentOf(argocd.Owned(p.namespace, p.creates, live, argocd.Manager), ""))
	out.from[p.namespace.Key] = report.OldOwned
}

// deployedOf returns what Argo CD deployed of an object, or nil if it deployed none as far as that is known.
func (p *Plan) deployedOf(ref object.Ref, desired *object.Object, live cluster.Live, isSame bool) (map[string]any, report.OldFrom) {
	wanted := map[string]any{
		"apiVersion": ref.APIVersion(), "kind": ref.Kind, "metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace},
	}
	if desired != nil {
		wanted = desired.Content
	}
	if live.Object == nil {
		switch {
		case desired == nil && live.Err == nil, live.Err == nil && !isSame && !p.wasSynced(ref.Key):
			return nil, ""
		case isSame:
			return wanted, report.OldRendered
		}
		return wanted, report.OldOwned
	}
	if isOwnAnnotation(live.Object) {
		if applied := argocd.Applied(live.Object); applied != nil {
			return applied, report.OldApplied
		}
	}
	if isSame && desired != nil {
		return wanted, report.OldRendered
	}
	return argocd.Owned(ref, wanted, live.Object, argocd.Manager), report.OldOwned
}

// isSynced reports whether the last full sync that succeeded had the same sources at the same revisions.
func (p *Plan) isSynced(made *rendered) bool {
	sources, revisions, found := p.app.Synced()
	return found && !p.isFromTree() && api.HaveSameSources(sources, p.app.Sources()) && slices.Equal(revisions, made.revisions)
}

// wasSynced reports whether Argo CD has written an object that is in status.resources, which also has what the sources are to create. A full
// sync names all objects that it wrote. After a partial one the others are not known, and count as written: an object that somebody deleted
// must not look like a new one.
func (p *Plan) wasSynced(key object.Key) bool {
	state := p.app.Status.OperationState
	if state == nil || len(p.app.Status.History) == 0 {
		return false
	}
	return state.SyncResult == nil || len(state.Operation.Sync.Resources) > 0 ||
		slices.ContainsFunc(state.SyncResult.Resources, func(r api.SyncedResource) bool {
			return r.HookType == "" && key == object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		})
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
	return release.History{Release: r.p.app.Metadata.Name, Namespace: r.p.app.Metadata.Namespace, Entries: []release.Entry{{Revision: r.p.record().Revision}}}, nil
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
	} else {
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
	var missing []object.Ref
	for _, ref := range wanted {
		if _, found := c.known[ref]; !found {
			missing = append(missing, ref)
		}
	}
	if len(missing) > 0 {
		for ref, live := range c.Cluster.Read(ctx, missing) {
			c.known[ref] = live
		}
	}
	out := make(map[object.Ref]cluster.Live, len(wanted))
	for _, ref := range wanted {
		if live, found := c.known[ref]; found {
			out[ref] = live
		}
	}
	return out
}
