package helmfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// kind and controller are what a report calls a release of a helmfile and who acts on it.
const (
	kind       = "helmfile release"
	controller = "helmfile"
)

// Finish adds to the report of the comparison what helmfile does.
func (s *Step) Finish(_ *drift.Result, r *report.Release) {
	out := &report.Deployer{
		Kind: kind, Namespace: s.release.Namespace, Name: s.release.Name, Controller: controller, Action: s.action,
		PutsBack: report.PutsBackUpgrade, Inputs: s.inputs(),
	}
	n := changed(r.Objects)
	switch {
	case s.action == report.DeployerUninstall:
		out.Reason, out.PutsBack = "the helmfile has installed: false", report.PutsBackNever
	case s.action == report.DeployerInstall:
		out.Reason = "the release is not installed"
	case r.HasError():
		out.Reason = "helmfile sync does so in any case, and helmfile apply if its diff names the release"
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
	r.Deployer = out
	r.Warnings = append(r.Warnings, s.warnings...)
}

// changed returns how many objects the chart and the values change, whether or not they drifted.
func changed(objects []report.Object) (n int) {
	for _, o := range objects {
		isNew := slices.Contains([]report.Action{report.ActionCreate, report.ActionDelete, report.ActionAdopt}, o.Action) && !o.Missing
		if isNew || slices.ContainsFunc(o.Fields, func(f report.Finding) bool {
			return f.Cause != report.CauseDrift && f.Managed && !f.Silenced()
		}) {
			n++
		}
	}
	return n
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
	// Options are those of each comparison.
	Options drift.Options
	// Each calls do for each release, which is in the namespace of the same index. It may call several at the same time.
	Each func(namespaces []string, do func(i int))
	// Report returns the report of a comparison, with what Step.Finish adds to it.
	Report func(result *drift.Result, s *Step) report.Release
	// Progress is called with each report.
	Progress func(report.Release)

	// atFirst are the secrets that are known before the first comparison.
	atFirst *secret.Known
}

// Compare compares what helmfile does next with each release. If something goes wrong with one of them, its report has the error. Compare
// fails if ctx ends; even then, it returns the reports that it has.
func (f Fleet) Compare(ctx context.Context, from drift.Connection, all []Release) ([]report.Release, error) {
	namespaces, reports := make([]string, len(all)), make([]*report.Release, len(all))
	for i, r := range all {
		namespaces[i] = r.Namespace
	}
	f.atFirst = &secret.Known{}
	f.atFirst.AddKnown(f.Known)
	f.Each(namespaces, func(i int) {
		if reports[i] = f.compare(ctx, from, all[i]); reports[i] != nil {
			f.Progress(*reports[i])
		}
	})
	out := []report.Release{}
	for i, r := range reports {
		switch {
		case r != nil:
			out = append(out, *r)
		case ctx.Err() != nil:
			out = append(out, *f.failed(from, all[i], ctx.Err()))
		}
	}
	return out, ctx.Err()
}

// compare compares what helmfile does next with one release. Whatever goes wrong is an error in the report. It returns nil if there is
// nothing to compare.
func (f Fleet) compare(ctx context.Context, from drift.Connection, r Release) (out *report.Release) {
	defer func() {
		if cause := recover(); cause != nil {
			out = f.failed(from, r, fmt.Errorf("internal error: %v", cause))
		}
	}()
	step, err := New(ctx, from, f.Question, r)
	if err == errNothing { //nolint:errorlint // New does not wrap it
		return nil
	}
	if err != nil {
		return f.failed(from, r, err)
	}
	// Each comparison learns secrets of its own, and all know those of the helmfile.
	all, own := f.Known, &secret.Known{}
	own.AddKnown(f.atFirst)
	defer all.AddKnown(own)
	f.Options.Known = (*drift.Secrets)(own)
	result, err := drift.New(from, step.Adapt(f.Options)).Compare(ctx, step.Target)
	if err != nil {
		return f.failed(from, r, err)
	}
	done := f.Report(result, step)
	return &done
}

// failed returns the report of a release that could not be compared.
func (f Fleet) failed(from drift.Connection, r Release, err error) *report.Release {
	said, why := f.Known.Scrub(hint.Sentence(err)), f.Known.Scrub(err.Error())
	return &report.Release{
		Name: r.Name, Namespace: r.Namespace, StorageNamespace: r.Namespace, Cluster: from.Name,
		Operation: report.OperationDrift, Warnings: []report.Message{}, NotCompared: []report.NotCompared{}, Objects: []report.Object{},
		Errors: []report.Message{{Code: CodeIncomplete, Message: said}},
		Deployer: &report.Deployer{
			Kind: kind, Namespace: r.Namespace, Name: r.Name, Controller: controller,
			Action: report.DeployerUnknown, Reason: why, PutsBack: report.PutsBackUnknown,
		},
	}
}
