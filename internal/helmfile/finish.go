package helmfile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// kind and controller are what a report calls a release of a helmfile and who acts on it.
const (
	kind       = "helmfile release"
	controller = "helmfile"
)

// Finish adds to the report of the comparison what helmfile does.
func (s *Step) Finish(result *drift.Result, r *report.Release) {
	out := &report.Deployer{
		Kind: kind, Namespace: s.release.Namespace, Name: s.release.Name, Controller: controller, Action: s.action,
		PutsBack: report.PutsBackUpgrade, Inputs: s.inputs(),
	}
	compared := result.Comparison.Objects
	n, forbidden := deployer.Changed(r.Objects), slices.IndexFunc(compared, func(o threeway.ObjectComparison) bool {
		return o.Action == report.ActionFail && isForbidden(o.Kind, o.Immutable())
	})
	switch {
	case s.action == report.DeployerUninstall:
		out.Reason, out.PutsBack = "the helmfile has installed: false", report.PutsBackNever
	case s.action == report.DeployerInstall:
		out.Reason = "the release is not installed"
	case r.HasError():
		out.Reason = "helmfile sync does so in any case, and helmfile apply if its diff names the release"
	case s.release.MayReinstall && forbidden >= 0:
		out.Action = report.DeployerReinstall
		out.Reason = fmt.Sprintf("updateStrategy is reinstallIfForbidden, and the API server forbids the update of %s %s",
			compared[forbidden].Kind, compared[forbidden].Name)
	case n > 0:
		out.Reason = "its chart and values change " + english.Count(n, "object")
	default:
		out.Action = report.DeployerNone
		out.Reason = "its chart and values change no object; helmfile sync upgrades it all the same, and helmfile apply if its diff names it"
	}
	if s.release.arguments != nil && s.release.arguments.atomic && slices.ContainsFunc(r.Objects, func(o report.Object) bool {
		return o.Action == report.ActionFail
	}) {
		s.warn("atomic is set, so Helm goes back to the state before when it fails")
	}
	// Helm 3 deletes the pods of all objects that it patches, whether or not they change (helm v3.22.0 pkg/action/upgrade.go recreate). An
	// installation deletes none, and before a reinstallation the upgrade fails.
	if a := s.release.arguments; a != nil && a.recreatePods && s.action == report.DeployerUpgrade && out.Action != report.DeployerReinstall {
		s.warnings = append(s.warnings, deployer.PodsGo("recreatePods"))
	}
	r.Deployer = out
	r.Warnings = append(r.Warnings, s.warnings...)
}

// isForbidden reports whether the API server refuses the change of immutable fields with "Forbidden: updates", which is what helmfile looks
// for (helmfile v1.8.0 pkg/state/state.go performSyncOrReinstallOfRelease). The server has other words for volumeBindingMode.
func isForbidden(kind string, immutable []object.Path) bool {
	return slices.ContainsFunc(immutable, func(path object.Path) bool {
		return kind == "StatefulSet" || kind == "StorageClass" && path.String() != "volumeBindingMode"
	})
}

// inputs returns what the prediction depends on.
func (s *Step) inputs() []report.DeployerInput {
	if s.release.Chart == "" {
		return nil
	}
	out := report.DeployerInput{Use: "chart", Kind: "Chart", Name: s.release.Chart}
	if a := s.release.arguments; a != nil {
		out.Version = a.source.Version
	}
	return []report.DeployerInput{out}
}

// Fleet says how to compare the releases of a helmfile. Several goroutines call its functions.
type Fleet struct {
	Question
	*Loaded
	// On is the cluster.
	On deployer.Scanned
}

// Compare compares what helmfile does next with each release of the namespace of On. If something goes wrong with one of them, its report
// has the error. Compare fails if ctx ends; even then, it returns the reports that it has. Loaded.Finish takes those of all namespaces.
func (f Fleet) Compare(ctx context.Context) ([]report.Release, error) {
	all := slices.DeleteFunc(slices.Clone(f.Releases), func(r Release) bool { return f.On.Namespace != "" && r.Namespace != f.On.Namespace })
	var fetched deployer.Fetched
	defer fetched.Close()
	f.Fetch = fetched.Charts(f.Fetch)
	reports := deployer.Fleet[Release]{
		Title:   func(r Release) report.Release { return titled(f.On.Name, r) },
		Compare: func(own *secret.Known, r Release) (report.Release, error) { return f.compare(ctx, own, r) },
		Anew: func(own *secret.Known, r Release) (report.Release, error) {
			anew := f
			anew.On.Connection = f.On.Alone
			return anew.compare(ctx, own, r)
		},
		Code: CodeIncomplete, Known: f.Known, Each: f.On.Each, Progress: f.On.Show, Changed: f.On.ChangedUntil(ctx),
	}.Start().All(all)
	f.shared.addReports(reports)
	return reports, ctx.Err()
}

// compare compares what helmfile does next with one release. Own has its secrets.
func (f Fleet) compare(ctx context.Context, own *secret.Known, r Release) (report.Release, error) {
	step, err := New(ctx, f.On.Connection, f.Question, r)
	if errors.Is(err, errNothing) {
		return report.Release{}, deployer.ErrNothing
	}
	if err != nil {
		return report.Release{}, err
	}
	f.On.Options.Known = (*drift.Secrets)(own.With(nil))
	result, err := drift.New(f.On.Connection, step.Adapt(f.On.Options)).Compare(ctx, step.Target)
	if err != nil {
		return report.Release{}, err
	}
	if step.Target.Chart != nil {
		f.shared.add(r, result.Comparison.Input)
	}
	return f.On.Report(result, step.Finish), nil
}

// titled returns a report that says which release it is about.
func titled(cluster string, r Release) report.Release {
	return report.Release{
		Name: r.Name, Namespace: r.Namespace, StorageNamespace: r.Namespace, Cluster: cluster, Operation: report.OperationDrift,
		Deployer: &report.Deployer{Kind: kind, Namespace: r.Namespace, Name: r.Name, Controller: controller},
	}
}
