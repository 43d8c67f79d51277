package drift

import (
	"context"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Target is one release, and what it is compared with: by default its stored manifest.
type Target struct {
	// Namespace is that of the release records.
	Namespace, Release string
	// Revision is the stored revision to start from; 0 is the one that helm upgrade would start from.
	Revision int
	// RollbackTo is the revision that helm rollback would go back to, instead of an upgrade; a negative number counts back from the last.
	RollbackTo int
	// Chart is the chart that helm upgrade would install; nil for none.
	Chart *Chart
}

// Chart is a chart to compare with, and what its templates see. Fields without a comment are Helm's flags of their name.
type Chart struct {
	// Ref is what Helm takes as CHART: a directory, an archive, a URL, repo/name or oci://….
	Ref    string
	Source fetch.Options
	Values render.ValueOptions
	// ReadFile reads a values file; fetch.ReadFile without standard input if it is nil.
	ReadFile func(ctx context.Context, name string) ([]byte, error)
	// Install shows what helm upgrade --install would create if the release is not installed.
	Install bool
	// KubeVersion replaces the version of Kubernetes that templates see, and APIVersions are added to those of the cluster.
	KubeVersion string
	APIVersions []string
	// NoLookup lets lookups find nothing.
	NoLookup, EnableDNS, SkipSchemaValidation bool
	// PostRender changes the rendered manifest; nil changes nothing.
	PostRender func(ctx context.Context, manifest []byte) ([]byte, error)
}

// Options say how releases are compared. The zero value compares as helmdrift diff does without flags.
type Options struct {
	// Helm is the major version whose upgrade is predicted, "3" or "4"; by default the one that wrote the last revision.
	Helm string
	// ServerSide says whether Helm applies server-side; nil does as the last revision did.
	ServerSide *bool
	// ForceConflicts, ForceReplace and TakeOwnership are flags of helm upgrade.
	ForceConflicts, ForceReplace, TakeOwnership bool
	// DryRun also lets the API server try every write that is predicted.
	DryRun bool

	// Ignore says what to ignore, beside the built-in rules; a rule that cannot be read is a warning in the report. Rules are such rules that
	// were read already. FromFlux adds the rules of the HelmRelease that owns the release.
	Ignore         []report.RuleText
	Rules          []ignore.Rule
	NoBuiltInRules bool
	FromFlux       bool
	// Managers are names of field managers beside those that are known; they may begin or end in *.
	Managers map[report.ManagerGroup][]string
	// ShowControllers lists what controllers wrote and no manifest names.
	ShowControllers bool
	// Warnings go into every report, such as those about the reading of Rules.
	Warnings []report.Message

	// Known is what is known to be secret: comparisons add to it, and errors are freed of it. A nil Known is replaced by an empty one.
	Known *secret.Known

	// Fetch brings a chart to this machine, ReadManifest reads the manifest of a record, and Render renders a chart. A nil function is
	// replaced by one that works in this process: fetch.Chart, render.Read and RenderChart. See the package comment.
	Fetch        func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)
	ReadManifest func(ctx context.Context, r *release.Record) ([]render.Document, error)
	Render       func(ctx context.Context, q ChartRequest) (*RenderedChart, error)
}

// withDefaults replaces what is nil.
func (o Options) withDefaults() Options {
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
	return o
}
