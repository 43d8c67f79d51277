package terraform

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// kind and controller are what a report calls the resource and who acts on it.
const (
	kind       = "helm_release"
	controller = "Terraform"
)

// Finish adds to the report of the comparison what Terraform does. If that is nothing, it also finds out whether the chart and the values
// of the plan are what is deployed.
func (s *Step) Finish(ctx context.Context, result *drift.Result, r *report.Release) {
	d := s.decision
	notRolledOut := 0
	if s.preview.Chart != nil {
		if notRolledOut = s.notRolledOut(ctx, result); notRolledOut > 0 {
			d.reason += fmt.Sprintf("; its chart and values make %s that %s from what is deployed: Terraform rolls them out when an argument "+
				"changes", english.Count(notRolledOut, "object"), deployer.Differ(notRolledOut))
		}
	}
	r.Deployer = &report.Deployer{
		Kind: kind, Namespace: s.release.place().Namespace, Name: s.release.Address, Controller: controller,
		Action: d.action, Reason: d.reason, Otherwise: d.otherwise, PutsBack: d.putsBack(), NotRolledOut: notRolledOut, Inputs: s.inputs(),
	}
	if s.doubt != "" {
		s.lacks(s.doubt)
	}
	if s.release.Now.DependencyUpdate && r.HasError() {
		s.warn("dependency_update is set: Terraform downloads missing dependencies into the chart, and helmdrift writes to no chart; " +
			"helm dependency update does that")
	}
	fails := slices.ContainsFunc(r.Objects, func(o report.Object) bool { return o.Action == report.ActionFail })
	if fails && s.release.Now.Atomic {
		s.warn("atomic is set, so Helm goes back to the state before when it fails")
	}
	r.Warnings = append(r.Warnings, s.warnings...)
	r.Errors = append(r.Errors, s.problems...)
}

// putsBack says when Terraform puts drift back: whenever it upgrades the release, and never because of the drift.
func (d decision) putsBack() report.PutsBack {
	if d.action == report.DeployerUpgrade || d.action == report.DeployerInstall {
		return report.PutsBackUpgrade
	}
	return report.PutsBackNever
}

// unknownContent begins the warning that something else may be deployed.
const unknownContent = "whether the chart and the values of the plan are what is deployed is not known: "

// notRolledOut returns how many objects an upgrade to the chart and the values of the plan would change although Terraform does not make
// it.
func (s *Step) notRolledOut(ctx context.Context, result *drift.Result) int {
	unknown := func(why string) int {
		s.warn(unknownContent + why)
		return 0
	}
	with, err := result.WithChart(ctx, s.preview)
	if err != nil {
		return unknown(err.Error())
	}
	would := with.Report(threeway.Mask{})
	for _, e := range would.Errors {
		if !slices.Contains(result.Comparison.Input.Errors, e) {
			return unknown(e.Message)
		}
	}
	return deployer.Changed(would.Objects)
}

// inputs returns what the decision depends on.
func (s *Step) inputs() []report.DeployerInput {
	if s.release.Now.Chart == "" {
		return nil
	}
	from := s.release.Now.source(fetch.Options{})
	return []report.DeployerInput{{Use: "chart", Kind: "Chart", Name: from.title, Version: s.release.Now.Version}}
}
