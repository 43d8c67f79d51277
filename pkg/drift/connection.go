package drift

import (
	"context"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Connection is everything that comparisons read. LiveConnection returns one to a cluster. Records and Cluster must be set; the other
// fields may be empty.
type Connection struct {
	// Name is the name of the cluster in reports.
	Name string
	// Records opens the release records of a namespace.
	Records func(namespace string) (Records, error)
	// HasRelease reports whether a release is installed whose records are in a namespace. It is asked only if the annotations of a live object
	// name another release than the one that is compared. If it is nil, that is not known.
	HasRelease func(ctx context.Context, namespace, release string) (bool, error)
	// Cluster answers everything else.
	Cluster Cluster
	// Lookups starts to answer what the templates of one chart look up in the cluster. It returns the address of the server for messages,
	// and adds the Secrets among the answers to known. If it is nil, lookups find nothing. Its parameters have a type of an internal
	// package, so other modules can only pass on the method of *live.Cluster.
	Lookups func(known ...*secret.Known) (server string, answer LookupFunc, err error)
	// DryRun lets the API server try writes that store nothing. It is nil if there is no server to ask; Options.DryRun is an error then.
	DryRun func(ctx context.Context, requests []threeway.Request, manager string) map[object.Ref]threeway.Answer
	// ReadManifest reads the manifest of a record of this connection, if the text in the record is not what is to be compared, as in a
	// snapshot. Options.ReadManifest takes precedence.
	ReadManifest func(ctx context.Context, r *release.Record) ([]render.Document, error)
	// Masked says that secrets in the answers are replaced by tokens, as in a snapshot. Where a chart has a clear value and the answers a
	// token, the value is not compared.
	Masked bool
	// Time is when the answers were given, if they were saved; zero means now.
	Time time.Time
}

// now returns the time of the answers.
func (c Connection) now() time.Time {
	if c.Time.IsZero() {
		return time.Now()
	}
	return c.Time
}

// LookupFunc answers one lookup of a template.
type LookupFunc = func(context.Context, live.LookupRequest) (live.LookupAnswer, error)

// Records are the release records of one namespace. *release.Store implements it, and documents each method.
type Records interface {
	// Resource is the resource that the records are stored in: secrets or configmaps, or empty if they are not in the cluster.
	Resource() string
	History(ctx context.Context, release string) (release.History, error)
	Load(ctx context.Context, release string, revision int, o release.Options) (*release.Loaded, error)
	LoadRollback(ctx context.Context, release string, to int, o release.Options) (*release.Loaded, error)
}

// Cluster is everything that a comparison reads apart from the records. *live.Cluster implements it, and documents each method.
type Cluster interface {
	Scope(kind schema.GroupVersionKind) (namespaced, known bool)
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]threeway.Live
	Terminating(ctx context.Context, namespaces []string) (map[string]bool, []report.Message)

	// The following methods are called only if the comparison needs them; see threeway.Needs.

	CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message)
	OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message)
	Autoscalers(ctx context.Context, namespaces []string) (map[object.Key]object.Autoscaler, []report.Message)

	// List is called only if something is written that may matter to pods.

	List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error)

	// The following methods are called only if a chart is rendered.

	Capabilities(ctx context.Context) (*chartutil.Capabilities, error)
	Undiscovered() []string
	Incomplete(groups []string) []report.Message
}

// LiveConnection returns the connection to a cluster that [live.Connect] has connected to, and to the records of its releases, which
// [release.Open] has opened. Name is the name of the cluster in reports. All of it is safe for concurrent use.
func LiveConnection(cluster *live.Cluster, name string, storage *release.Storage) Connection {
	return Connection{
		Name: name, Cluster: cluster, Lookups: cluster.Lookups, DryRun: cluster.DryRun,
		Records:    func(namespace string) (Records, error) { return storage.Namespace(namespace) },
		HasRelease: storage.Has,
	}
}
