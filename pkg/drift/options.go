package drift

import (
	"cmp"
	"context"

	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Target is one release and what to compare it with. By default that is its stored manifest, which shows drift. At most one of RollbackTo
// and Chart may be set.
type Target struct {
	// Namespace is the namespace of the release records, and Release is the name of the release.
	Namespace, Release string
	// Revision is the stored revision to start from. 0 means the revision that helm upgrade would start from. A rollback ignores it.
	Revision int
	// RollbackTo predicts helm rollback to this revision instead of helm upgrade. A negative number counts back from the last revision; 0
	// means no rollback.
	RollbackTo int
	// Chart predicts helm upgrade with this chart. Nil compares only with stored manifests.
	Chart *Chart
}

// Chart is a chart to compare with, and what its templates see. Fields without a comment are the flags of helm upgrade of the same name.
type Chart struct {
	// Ref names the chart in messages. Without Fetch, it is a directory or an archive on this machine.
	Ref string
	// Fetch brings a chart from elsewhere. It returns its path on this machine, and a function that removes the files, which may be nil.
	// fetch.Chart does that for everything that Helm takes as CHART: a URL, repo/name, oci://….
	Fetch  func(ctx context.Context) (path string, done func(), err error)
	Values render.ValueOptions
	// ReadFile reads a values file. If it is nil, os.ReadFile does.
	ReadFile func(ctx context.Context, name string) ([]byte, error)
	// Warnings are added to the report of a comparison with the chart.
	Warnings []report.Message
	// Install predicts helm upgrade --install if the release is not installed. Without it, such a release is an error. SkipCRDs and
	// CreateNamespace are flags of that installation. An upgrade writes the folder crds/ only with UpgradeCRDs and without SkipCRDs.
	Install, SkipCRDs, CreateNamespace, UpgradeCRDs bool
	// KubeVersion replaces the version of Kubernetes that templates see. APIVersions are added to those of the cluster.
	KubeVersion string
	APIVersions []string
	// NoLookup makes lookups find nothing instead of reading the cluster.
	NoLookup, EnableDNS, SkipSchemaValidation bool
	// AllowOutsideLinks follows symbolic links of the chart and of values files that lead out of the Git working tree that they are in.
	AllowOutsideLinks bool
	// PostRender passes the rendered manifest through a post-renderer. If it is nil, there is none.
	PostRender func(ctx context.Context, manifest []byte) ([]byte, error)
}

// Options say how releases are compared. The zero value compares as helmdrift diff does without flags.
type Options struct {
	// Helm is the major version of Helm to predict, "3" or "4". The default is the version that wrote the last revision.
	Helm string
	// ApplyMethod is how Helm applies; empty means as it did for the last revision.
	ApplyMethod report.ApplyMethod
	// ForceConflicts, ForceReplace and TakeOwnership are flags of helm upgrade. Flux always forces conflicts, so an upgrade of its releases
	// is predicted with ForceConflicts.
	ForceConflicts, ForceReplace, TakeOwnership bool
	// By is who makes the operation, even if the objects do not show that. It is nil for the helm command.
	By *threeway.Deployment
	// NoHooks predicts an operation that runs no hooks.
	NoHooks bool
	// DryRun also lets the API server try every predicted write. The report says where the server disagrees.
	DryRun bool

	// Ignore lists ignore rules in addition to the built-in ones. A rule that cannot be read is a warning in the report.
	Ignore []report.RuleText
	// NoBuiltInRules leaves out the built-in rules, and FromFlux adds those of the HelmRelease that deploys the release.
	NoBuiltInRules, FromFlux bool
	// Managers lists names of field managers by group, in addition to those that are built in. They may begin or end in *.
	Managers map[report.ManagerGroup][]string
	// ShowControllers lists fields that controllers wrote and no manifest names, instead of counting them.
	ShowControllers bool

	// Unknown is a text that stands in the values of the chart for values that are not known. A field that has it is of class unknown.
	Unknown string
	// GivenValues reads the values that the user gave the release into Result.Loaded.
	GivenValues bool

	// Warnings are added to every report.
	Warnings []report.Message

	// Doing is called with what Compare is doing, such as "reading 42 objects", and with "" when it has ended. The texts hold no foreign
	// words. It may be nil. Comparisons that run at the same time call it at the same time, so one may end while others go on.
	Doing func(what string)

	// Known holds the known secrets. Comparisons add to it, and remove the secrets from their errors. If it is nil, each Comparer has its
	// own; a program that shares one can scrub its log with it.
	Known *Secrets
	// Learned are secrets besides those of the objects, such as those that the values come from. Everything that is shown of a comparison
	// masks them. It may be nil.
	Learned *Secrets

	// Forecast predicts what the writes mean for pods and data. If it is nil, the report has no effects.
	Forecast effect.Forecast

	// ReadManifest reads the manifest of a record, and Render renders a chart. If ReadManifest is nil, Connection.ReadManifest
	// or else render.ReadDocuments does it in this process; if Render is nil, RenderChart does. See the package comment.
	ReadManifest func(ctx context.Context, r *release.Record) ([]render.Document, error)
	Render       func(ctx context.Context, q ChartRequest) (*RenderedChart, error)
}

// withDefaults returns the options with a default for every function that is nil, and for Known.
func (o Options) withDefaults() Options {
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	o.Known = cmp.Or(o.Known, &Secrets{})
	if o.ReadManifest == nil {
		o.ReadManifest = ReadManifest
	}
	if o.Render == nil {
		o.Render = RenderChart
	}
	return o
}
