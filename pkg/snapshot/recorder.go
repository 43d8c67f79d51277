package snapshot

import (
	"context"
	"maps"
	"slices"
	"sync"

	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Recorder keeps the answers that comparisons get from a connection. The answers are in clear until Snapshot masks them.
type Recorder struct {
	connection drift.Connection
	// cluster reads the cluster and keeps the answers.
	cluster recordedCluster

	mu       sync.Mutex
	resource string
	history  release.History
	records  map[int]*release.Record
	// lastProblem says why the last record cannot be read.
	lastProblem string

	// These are the answers of the cluster, by question.
	scopes      map[schema.GroupVersionKind]bool
	objects     map[object.Ref]cluster.Live
	releases    map[object.ReleaseName]releaseAnswer
	terminating map[string]bool
	// namespacesUnread are the messages about namespaces that could not be read.
	namespacesUnread []report.Message
	definitions      map[schema.GroupKind]answer[map[string]any]
	documents        map[schema.GroupVersion]answer[[]byte]
	autoscalers      map[string]answer[map[object.Key]object.Autoscaler]
	lists            map[listed]listAnswer
	lookupServer     string
	lookups          map[live.LookupRequest]lookupAnswer
	capabilities     *chartutil.Capabilities
	// versionProblem says why there are no capabilities.
	versionProblem string
	undiscovered   map[string][]report.Message
}

// answer is what was found, or nothing, and the warnings about it.
type answer[T any] struct {
	found    T
	any      bool
	warnings []report.Message
}

// releaseAnswer says whether a release is installed, or why that could not be read.
type releaseAnswer struct {
	installed bool
	problem   string
}

// listed names a list of objects.
type listed struct {
	kind      schema.GroupVersionKind
	namespace string
}

// listAnswer is a list, or the error of reading it.
type listAnswer struct {
	items     []map[string]any
	problem   string
	forbidden bool
}

// lookupAnswer is the answer to a lookup, or the error of the request.
type lookupAnswer struct {
	live.LookupAnswer
	problem string
}

// NewRecorder returns a recorder of what is asked through its Connection.
func NewRecorder(c drift.Connection) *Recorder {
	r := &Recorder{
		connection: c, records: map[int]*release.Record{},
		scopes: map[schema.GroupVersionKind]bool{}, releases: map[object.ReleaseName]releaseAnswer{},
		objects: map[object.Ref]cluster.Live{}, terminating: map[string]bool{},
		definitions: map[schema.GroupKind]answer[map[string]any]{}, documents: map[schema.GroupVersion]answer[[]byte]{},
		autoscalers: map[string]answer[map[object.Key]object.Autoscaler]{}, lists: map[listed]listAnswer{},
		lookups: map[live.LookupRequest]lookupAnswer{}, undiscovered: map[string][]report.Message{},
	}
	r.cluster = recordedCluster{Cluster: c.Cluster, to: r}
	return r
}

// Connection returns the connection whose answers are kept. It has no dry runs.
func (r *Recorder) Connection() drift.Connection {
	out := drift.Connection{Name: r.connection.Name, Cluster: r.cluster, Records: func(namespace string) (drift.Records, error) {
		records, err := r.connection.Records(namespace)
		return recordedRecords{Records: records, to: r}, err
	}}
	if r.connection.Lookups != nil {
		out.Lookups = r.recordLookups
	}
	if r.connection.HasRelease != nil {
		out.HasRelease = r.hasRelease
	}
	return out
}

// hasRelease implements drift.Connection.HasRelease.
func (r *Recorder) hasRelease(ctx context.Context, namespace, name string) (bool, error) {
	installed, err := r.connection.HasRelease(ctx, namespace, name)
	r.keep(func() {
		r.releases[object.ReleaseName{Namespace: namespace, Name: name}] = releaseAnswer{installed, textOf(err)}
	})
	return installed, err
}

// keep runs a function that stores an answer.
func (r *Recorder) keep(store func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	store()
}

// recordLookups implements drift.Connection.Lookups.
func (r *Recorder) recordLookups(learn ...func(secret map[string]any)) (server string, ask drift.LookupFunc, err error) {
	server, send, err := r.connection.Lookups(learn...)
	if err != nil {
		return server, nil, err
	}
	r.keep(func() { r.lookupServer = server })
	return server, func(ctx context.Context, q live.LookupRequest) (live.LookupAnswer, error) {
		a, err := send(ctx, q)
		r.keep(func() { r.lookups[q] = lookupAnswer{a, textOf(err)} })
		return a, err
	}, nil
}

// textOf returns the text of an error, or "" for nil.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// recordedRecords are release records whose answers are kept.
type recordedRecords struct {
	drift.Records
	to *Recorder
}

// Resource implements drift.Records.
func (r recordedRecords) Resource() string {
	resource := r.Records.Resource()
	r.to.keep(func() { r.to.resource = resource })
	return resource
}

// History implements drift.Records.
func (r recordedRecords) History(ctx context.Context, name string) (release.History, error) {
	h, err := r.Records.History(ctx, name)
	r.to.keep(func() { r.to.history = h })
	return h, err
}

// Load implements drift.Records. It always asks for the values, which a chart may need later.
func (r recordedRecords) Load(ctx context.Context, name string, revision int, o release.Options) (*release.Loaded, error) {
	o.Values = true
	loaded, err := r.Records.Load(ctx, name, revision, o)
	return r.kept(loaded), err
}

// LoadRollback implements drift.Records.
func (r recordedRecords) LoadRollback(ctx context.Context, name string, to int, o release.Options) (*release.Loaded, error) {
	o.Values = true
	loaded, err := r.Records.LoadRollback(ctx, name, to, o)
	return r.kept(loaded), err
}

// kept keeps the records of loaded, and returns it.
func (r recordedRecords) kept(loaded *release.Loaded) *release.Loaded {
	if loaded == nil {
		return nil
	}
	r.to.keep(func() {
		r.to.history, r.to.lastProblem = loaded.History, textOf(loaded.LastProblem)
		for _, record := range []*release.Record{loaded.Old, loaded.Last, loaded.Target} {
			if record != nil {
				r.to.records[record.Revision] = record
			}
		}
	})
	return loaded
}

// recordedCluster is a cluster whose answers are kept. It asks about one thing at a time, so that a snapshot can answer for any of them.
type recordedCluster struct {
	drift.Cluster
	to *Recorder
}

// Scope implements drift.Cluster.
func (c recordedCluster) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = c.Cluster.Scope(kind)
	if known {
		c.to.keep(func() { c.to.scopes[kind] = namespaced })
	}
	return namespaced, known
}

// Read implements drift.Cluster.
func (c recordedCluster) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	found := c.Cluster.Read(ctx, wanted)
	c.to.keep(func() { maps.Copy(c.to.objects, found) })
	return found
}

// Terminating implements drift.Cluster.
func (c recordedCluster) Terminating(ctx context.Context, namespaces []string) (map[string]bool, []report.Message) {
	found, unread := c.Cluster.Terminating(ctx, namespaces)
	c.to.keep(func() {
		maps.Copy(c.to.terminating, found)
		for _, w := range unread {
			if !slices.Contains(c.to.namespacesUnread, w) {
				c.to.namespacesUnread = append(c.to.namespacesUnread, w)
			}
		}
	})
	return found, unread
}

// CRDs implements drift.Cluster.
func (c recordedCluster) CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	return collect(c.to, c.to.definitions, kinds, func(kind schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
		return c.Cluster.CRDs(ctx, []schema.GroupKind{kind})
	})
}

// OpenAPI implements drift.Cluster.
func (c recordedCluster) OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return collect(c.to, c.to.documents, wanted, func(gv schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
		return c.Cluster.OpenAPI(ctx, []schema.GroupVersion{gv})
	})
}

// collect asks about each key and keeps the answers. A key that was answered before is not asked again.
func collect[K comparable, T any](
	to *Recorder, kept map[K]answer[T], keys []K, ask func(K) (map[K]T, []report.Message),
) (map[K]T, []report.Message) {
	out := map[K]T{}
	var warnings []report.Message
	for _, key := range keys {
		a, known := kept[key]
		if !known {
			found, about := ask(key)
			a.found, a.any = found[key]
			a.warnings = about
			to.keep(func() { kept[key] = a })
		}
		if a.any {
			out[key] = a.found
		}
		warnings = append(warnings, a.warnings...)
	}
	return out, warnings
}

// Autoscalers implements drift.Cluster.
func (c recordedCluster) Autoscalers(ctx context.Context, namespaces []string) (map[object.Key]object.Autoscaler, []report.Message) {
	out := map[object.Key]object.Autoscaler{}
	var warnings []report.Message
	for _, namespace := range namespaces {
		found, about := c.Cluster.Autoscalers(ctx, []string{namespace})
		c.to.keep(func() {
			c.to.autoscalers[namespace] = answer[map[object.Key]object.Autoscaler]{found: found, any: true, warnings: about}
		})
		maps.Copy(out, found)
		warnings = append(warnings, about...)
	}
	return out, warnings
}

// List implements drift.Cluster.
func (c recordedCluster) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	items, err := c.Cluster.List(ctx, kind, namespace)
	c.to.keep(func() {
		c.to.lists[listed{kind, namespace}] = listAnswer{items, textOf(err), apierrors.IsForbidden(err)}
	})
	return items, err
}

// Capabilities implements drift.Cluster.
func (c recordedCluster) Capabilities(ctx context.Context) (*chartutil.Capabilities, error) {
	found, err := c.Cluster.Capabilities(ctx)
	c.to.keep(func() { c.to.capabilities, c.to.versionProblem = found, textOf(err) })
	return found, err
}
