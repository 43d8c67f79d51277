package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// CodeNotInSnapshot is the code of errors and warnings about what was not read when the snapshot was made.
const CodeNotInSnapshot = "not-in-snapshot"

// Player answers the questions of comparisons from a snapshot.
type Player struct {
	from *Snapshot
	// scopes has the served kinds, with whether their objects live in namespaces, and versions has the served versions of each kind.
	scopes   map[schema.GroupVersionKind]bool
	versions map[schema.GroupKind]bool
	objects  map[object.Ref]Object
}

// NewPlayer returns a player of a snapshot that Read returned.
func NewPlayer(s *Snapshot) *Player {
	p := &Player{from: s, scopes: map[schema.GroupVersionKind]bool{}, versions: map[schema.GroupKind]bool{}, objects: map[object.Ref]Object{}}
	for _, k := range s.Server.Kinds {
		kind := schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
		p.scopes[kind], p.versions[kind.GroupKind()] = k.Namespaced, true
	}
	for _, o := range s.Objects {
		p.objects[o.ref()] = o
	}
	return p
}

// Connection returns the connection for comparing the release of the snapshot. It has no dry runs.
func (p *Player) Connection() drift.Connection {
	out := drift.Connection{
		Name: p.from.Cluster, Cluster: p, Lookups: p.lookups, Time: p.from.Time,
		ReadManifest: p.ReadManifest, HasRelease: p.hasRelease,
		Records: func(namespace string) (drift.Records, error) {
			if namespace != p.from.Namespace {
				return nil, fmt.Errorf("the snapshot is of namespace %q", p.from.Namespace)
			}
			return playedRecords{p}, nil
		},
	}
	if p.from.Masked {
		out.Masking = masking{}
	}
	return out
}

// hasRelease implements drift.Connection.HasRelease.
func (p *Player) hasRelease(_ context.Context, namespace, name string) (bool, error) {
	i := slices.IndexFunc(p.from.Releases, func(r Release) bool { return r.Namespace == namespace && r.Name == name })
	switch {
	case i < 0:
		return false, errors.New("it is not in the snapshot")
	case p.from.Releases[i].Problem != "":
		return false, errors.New(p.from.Releases[i].Problem)
	}
	return p.from.Releases[i].Installed, nil
}

// Scope implements drift.Cluster.
func (p *Player) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = p.scopes[kind]
	return namespaced, known
}

// Read implements drift.Cluster.
func (p *Player) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = p.read(ref)
	}
	return out
}

// read returns the answer about one object. An object that was not asked for is an error, unless the server did not serve its kind.
func (p *Player) read(ref object.Ref) cluster.Live {
	o, asked := p.objects[ref]
	switch {
	case asked:
		content, _ := decode(o.Object) // validate has decoded it
		return cluster.Live{Object: content, Absence: cluster.Absence(o.Absence), PlainStatus: o.PlainStatus, Err: o.Error}
	case !p.versions[ref.GroupKind()] && !slices.Contains(p.Undiscovered(), ref.Group) && p.from.Server.Problem == "":
		return cluster.Live{Absence: cluster.AbsentKind}
	}
	return cluster.Live{Err: &report.ObjectError{Code: CodeNotInSnapshot,
		Message: fmt.Sprintf("%s is not in the snapshot, so nobody knows whether it exists", ref.Key)}}
}

// Terminating implements drift.Cluster. The result lacks namespaces that were not asked for, and unread ones, which have messages.
func (p *Player) Terminating(_ context.Context, namespaces []string) (map[string]bool, []report.Message) {
	out := map[string]bool{}
	for _, name := range namespaces {
		if slices.Contains(p.from.Terminating, name) {
			out[name] = true
		}
	}
	return out, p.from.NamespacesUnread
}

// CRDs implements drift.Cluster.
func (p *Player) CRDs(_ context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	out := map[schema.GroupKind]map[string]any{}
	var warnings []report.Message
	for _, kind := range kinds {
		i := slices.IndexFunc(p.from.Definitions, func(d Definition) bool { return d.Group == kind.Group && d.Kind == kind.Kind })
		switch {
		case i < 0 && p.versions[kind]:
			warnings = append(warnings, report.Message{Code: CodeNotInSnapshot, Object: kind.String(),
				Message: "the definition of " + kind.String() + " is not in the snapshot; its objects are compared without a schema"})
		case i >= 0:
			warnings = append(warnings, p.from.Definitions[i].Warnings...)
			if text := p.from.Definitions[i].Object; len(text) > 0 {
				out[kind], _ = decode(text) // validate has decoded it
			}
		}
	}
	return out, warnings
}

// OpenAPI implements drift.Cluster.
func (p *Player) OpenAPI(_ context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	out := map[schema.GroupVersion][]byte{}
	var warnings []report.Message
	for _, gv := range wanted {
		i := slices.IndexFunc(p.from.Documents, func(d Document) bool { return d.Group == gv.Group && d.Version == gv.Version })
		if i < 0 {
			warnings = append(warnings, report.Message{Code: CodeNotInSnapshot,
				Message: "the OpenAPI document of " + gv.String() + " is not in the snapshot; verdicts on its objects are not certain"})
			continue
		}
		warnings = append(warnings, p.from.Documents[i].Warnings...)
		if text := p.from.Documents[i].Document; len(text) > 0 {
			out[gv] = text
		}
	}
	return out, warnings
}

// Autoscalers implements drift.Cluster.
func (p *Player) Autoscalers(_ context.Context, namespaces []string) (map[object.Key]object.Autoscaler, []report.Message) {
	out := map[object.Key]object.Autoscaler{}
	var warnings []report.Message
	for _, namespace := range namespaces {
		i := slices.IndexFunc(p.from.Autoscalers, func(a Autoscalers) bool { return a.Namespace == namespace })
		if i < 0 {
			warnings = append(warnings, report.Message{Code: CodeNotInSnapshot,
				Message: fmt.Sprintf("the autoscalers of namespace %q are not in the snapshot; "+
					"replicas that the manifest names count as drift also where an autoscaler sets them", namespace)})
			continue
		}
		warnings = append(warnings, p.from.Autoscalers[i].Warnings...)
		for _, a := range p.from.Autoscalers[i].Found {
			key := object.Key{Group: a.Group, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}
			fromZero := a.FromZero || strings.HasPrefix(a.Autoscaler, "ScaledObject ") // a snapshot of an older helmdrift does not say it
			out[key] = object.Autoscaler{Name: a.Autoscaler, ToZero: a.ToZero, FromZero: fromZero, Paused: a.Paused}
		}
	}
	return out, warnings
}

// List implements drift.Cluster.
func (p *Player) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	i := slices.IndexFunc(p.from.Lists, func(l List) bool { return gvkOf(l) == kind && l.Namespace == namespace })
	switch {
	case i < 0:
		return nil, fmt.Errorf("the list of %s in namespace %q is not in the snapshot", kind.GroupKind(), namespace)
	case p.from.Lists[i].Forbidden:
		return nil, apierrors.NewForbidden(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, "", errors.New(p.from.Lists[i].Error))
	case p.from.Lists[i].Error != "":
		return nil, errors.New(p.from.Lists[i].Error)
	}
	var items []map[string]any
	for _, text := range p.from.Lists[i].Items {
		item, _ := decode(text) // validate has decoded it
		items = append(items, item)
	}
	return items, nil
}

// Capabilities implements drift.Cluster.
func (p *Player) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	s := p.from.Server
	if s.Problem != "" {
		return nil, errors.New(s.Problem)
	}
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: s.Version, Major: s.Major, Minor: s.Minor}, APIVersions: s.APIVersions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}

// Undiscovered implements drift.Cluster.
func (p *Player) Undiscovered() []string {
	var out []string
	for _, u := range p.from.Server.Undiscovered {
		out = append(out, u.Group)
	}
	return out
}

// Incomplete implements drift.Cluster.
func (p *Player) Incomplete(groups []string) (out []report.Message) {
	for _, u := range p.from.Server.Undiscovered {
		if slices.Contains(groups, u.Group) {
			out = append(out, u.Warnings...)
		}
	}
	return out
}

// noServer is the address of the server for lookups if the snapshot was made without a chart.
const noServer = "https://snapshot.invalid"

// lookups implements drift.Connection.Lookups. A lookup that is not in the snapshot is an error.
func (p *Player) lookups(learn ...func(secret map[string]any)) (server string, ask drift.LookupFunc, err error) {
	server = p.from.LookupServer
	if !strings.HasPrefix(server, "https://") && !strings.HasPrefix(server, "http://") {
		server = noServer
	}
	saved := map[live.LookupRequest]Lookup{}
	for _, l := range p.from.Lookups {
		saved[live.LookupRequest{Path: l.Path, Accept: l.Accept}] = l
	}
	return server, func(_ context.Context, q live.LookupRequest) (live.LookupAnswer, error) {
		l, found := saved[q]
		switch {
		case !found:
			return live.LookupAnswer{}, errors.New("the answer to this lookup is not in the snapshot: helmdrift snapshot RELEASE CHART " +
				"captures what the chart looks up, and --no-lookup lets lookups find nothing")
		case l.Error != "":
			return live.LookupAnswer{}, errors.New(l.Error)
		}
		passSecrets(l, learn)
		return live.SavedAnswer(l.Code, l.Status, l.ContentType, []byte(l.Body)), nil
	}, nil
}

// passSecrets passes on the Secrets in the answer to a lookup.
func passSecrets(l Lookup, learn []func(map[string]any)) {
	found, _ := decode([]byte(l.Body)) // nil if it is no object
	kind, _ := found["kind"].(string)
	if !secret.Kind("", kind) {
		return
	}
	for _, o := range append(object.Items(found, "items"), found) {
		for _, learn := range learn {
			learn(o)
		}
	}
}
