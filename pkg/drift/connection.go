package drift

import (
	"context"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/cluster"
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
	// HasRelease reports whether a release with records in a namespace is installed, with whatever driver of Helm in the cluster. It is called
	// only if the annotations of a live object name another release. If it is nil, that is not known.
	HasRelease func(ctx context.Context, namespace, release string) (bool, error)
	// Cluster answers everything else.
	Cluster Cluster
	// Lookups starts to answer the lookups of one chart's templates. It returns the address of the server for messages, and calls each of
	// learn with the Secrets among the answers. If it is nil, lookups find nothing.
	Lookups func(learn ...func(secret map[string]any)) (server string, answer LookupFunc, err error)
	// DryRun lets the API server try writes without storing them. It is nil if there is no server to ask; then Options.DryRun is an
	// error.
	DryRun func(ctx context.Context, requests []cluster.Request, manager string) map[object.Ref]cluster.Answer
	// ReadManifest reads the manifest of a record of this connection, if the text in the record does not serve, as in a snapshot.
	// Options.ReadManifest takes precedence.
	ReadManifest func(ctx context.Context, r *release.Record) ([]render.Document, error)
	// Masking is set if tokens replace the secrets in the answers, as in a snapshot. If a chart has a clear value and the answers have a
	// token, the value is not compared.
	Masking Masking
	// Time is when the answers were given, if they were saved; zero means now.
	Time time.Time
}

// Masking knows what cannot be compared with answers that have tokens instead of secrets.
type Masking interface {
	// LeaveOut changes the desired objects of a chart where they cannot be compared, and adds these places to NotCompared.
	LeaveOut(in *threeway.Input)
	// Mark marks the findings of a report at the places that LeaveOut has changed.
	Mark(r *report.Release)
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
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live
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

// Connect connects to a cluster that stores release records in Secrets, as is Helm's default. Reports name the cluster by its address. It
// sends the requests of [live.Connect] and returns its errors.
func Connect(ctx context.Context, config *rest.Config) (Connection, error) {
	cluster, err := live.Connect(ctx, config, live.Options{})
	if err != nil {
		return Connection{}, err
	}
	storage, err := release.Open("", cluster.Metadata(), cluster.Core())
	if err != nil {
		return Connection{}, err
	}
	return LiveConnection(cluster, config.Host, storage), nil
}

// LiveConnection returns the connection to a cluster that [live.Connect] has connected to, and to the records of its releases, which
// [release.Open], or Open of package postgres, has opened. Name is that of the cluster in reports. All of it is safe for concurrent use.
func LiveConnection(cluster *live.Cluster, name string, storage *release.Storage) Connection {
	return Connection{
		Name: name, Cluster: cluster, Lookups: cluster.Lookups, DryRun: cluster.DryRun,
		Records: func(namespace string) (Records, error) { return storage.Namespace(namespace) },
		HasRelease: func(ctx context.Context, namespace, name string) (bool, error) {
			for _, s := range append([]*release.Storage{storage}, storage.Others(cluster.Metadata(), cluster.Core())...) {
				if found, err := s.Has(ctx, namespace, name); found || err != nil {
					return found, err
				}
			}
			return false, nil
		},
	}
}
