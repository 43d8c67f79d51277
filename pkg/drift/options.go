package drift

import (
	"context"
	"time"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Target is one release and what it is compared with. By default that is its stored manifest, which shows drift. At most one of RollbackTo
// and Chart is set; both are an error.
type Target struct {
	// Namespace is the namespace of the release records, and Release the name of the release.
	Namespace, Release string
	// Revision is the stored revision to start from; 0 means the one that helm upgrade would start from. A rollback ignores it.
	Revision int
	// RollbackTo predicts helm rollback to this revision instead of helm upgrade. A negative number counts back from the last revision; 0 is
	// no rollback.
	RollbackTo int
	// Chart predicts helm upgrade with this chart; nil compares with stored manifests alone.
	Chart *Chart
}

// Chart is a chart to compare with, and what its templates see. Fields without a comment are the flags of helm upgrade of the same name.
type Chart struct {
	// Ref is what Helm takes as CHART: a directory, an archive, a URL, repo/name or oci://….
	Ref    string
	Source fetch.Options
	Values render.ValueOptions
	// ReadFile reads a values file. If it is nil, fetch.ReadFile does, without standard input.
	ReadFile func(ctx context.Context, name string) ([]byte, error)
	// Install predicts helm upgrade --install if the release is not installed. Without it, such a release is an error. SkipCRDs and
	// CreateNamespace are flags of that installation; an upgrade ignores them.
	Install, SkipCRDs, CreateNamespace bool
	// KubeVersion replaces the version of Kubernetes that templates see. APIVersions are added to those of the cluster.
	KubeVersion string
	APIVersions []string
	// NoLookup makes lookups find nothing instead of reading the cluster.
	NoLookup, EnableDNS, SkipSchemaValidation bool
	// AllowOutsideLinks follows symbolic links of the chart and of values files that lead out of the Git working tree that they are in.
	AllowOutsideLinks bool
	// PostRender returns what a post-renderer makes of the rendered manifest. If it is nil, there is none.
	PostRender func(ctx context.Context, manifest []byte) ([]byte, error)
}

// Options say how releases are compared. The zero value compares as helmdrift diff does without flags.
type Options struct {
	// Helm is the major version of Helm that is predicted, "3" or "4"; by default the one that wrote the last revision.
	Helm string
	// ServerSide says whether Helm applies server-side; nil means as it did for the last revision.
	ServerSide *bool
	// ForceConflicts, ForceReplace and TakeOwnership are flags of helm upgrade. Flux always forces conflicts, so an upgrade of its releases
	// is predicted with ForceConflicts.
	ForceConflicts, ForceReplace, TakeOwnership bool
	// NoHooks predicts an operation that runs no hooks.
	NoHooks bool
	// DryRun also lets the API server try every predicted write. The report says where the server disagrees.
	DryRun bool

	// Ignore lists rules of what to ignore, in addition to the built-in ones. A rule that cannot be read is a warning in the report.
	Ignore []report.RuleText
	// NoBuiltInRules leaves out the built-in rules, and FromFlux adds those of the HelmRelease that deploys the release.
	NoBuiltInRules, FromFlux bool
	// Managers lists names of field managers by group, in addition to those that are built in. They may begin or end in *.
	Managers map[report.ManagerGroup][]string
	// ShowControllers lists fields that controllers wrote and no manifest names, instead of counting them.
	ShowControllers bool

	// Rules are ignore rules that the caller has read already, and Warnings are added to every report, such as those about reading Rules. The
	// rules have a type of an internal package. Other modules use Ignore.
	Rules    []ignore.Rule
	Warnings []report.Message

	// Doing is called with what a comparison is doing, such as "reading 42 objects". The texts hold no foreign words. It may be nil. If
	// several comparisons run at the same time, so do its calls.
	Doing func(what string)

	// Known is what is known to be secret. Comparisons add to it, and it is removed from their errors. The commands of this module share it
	// with their log. Its type is internal, so other modules leave it nil; each Comparer then has its own.
	Known *secret.Known

	// Fetch fetches a chart and returns its path, ReadManifest reads the manifest of a record, and Render renders a chart. If one is nil,
	// fetch.Chart, Connection.ReadManifest or else render.ReadDocuments, or RenderChart does it in this process. See the package comment.
	Fetch        func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)
	ReadManifest func(ctx context.Context, r *release.Record) ([]render.Document, error)
	Render       func(ctx context.Context, q ChartRequest) (*RenderedChart, error)
	// RenderVariants renders a chart with many values for Absorb, as ServeVariants does, which is the default.
	RenderVariants func(ctx context.Context, q ChartRequest, next NextVariants) error
	// RenderTime is the time that all renderings of a search for values may take together; 0 means no limit. A single candidate is given up
	// after a part of it.
	RenderTime time.Duration
}

// withDefaults returns the options with a default for every function that is nil, and for Known.
func (o Options) withDefaults() Options {
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	if o.Known == nil {
		o.Known = &secret.Known{}
	}
	if o.Fetch == nil {
		o.Fetch = fetch.Chart
	}
	if o.ReadManifest == nil {
		o.ReadManifest = func(_ context.Context, r *release.Record) ([]render.Document, error) {
			return render.ReadDocuments(r.Manifest), nil
		}
	}
	if o.Render == nil {
		o.Render = RenderChart
	}
	if o.RenderVariants == nil {
		o.RenderVariants = ServeVariants
	}
	return o
}
