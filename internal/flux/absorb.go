package flux

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/keep"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is for absorb: it compares the release with what Flux deploys next, and hands its values to package keep.

// Keep makes the plan one that compares the release with the chart and the values that Flux deploys next, whether or not it does so now.
// It is an error if Flux is about to uninstall the release or to roll it back, or if there is none yet.
func (p *Plan) Keep() error {
	h := p.release
	switch p.decision.action {
	case report.DeployerInstall:
		return hint.New(fmt.Errorf("the release of %s is not installed yet, so nothing of it has drifted", h.Title()),
			"helmdrift diff hr/"+h.Metadata.Name+" shows what the installation does")
	case report.DeployerReinstall, report.DeployerUninstall, report.DeployerRollback:
		return hint.New(fmt.Errorf("%s: Flux %s next, so absorb has no upgrade to compare the release with: %s", h.Title(),
			does(p.decision.action), p.decision.reason),
			"helmdrift diff hr/"+h.Metadata.Name+" shows what Flux does")
	}
	if p.Target.Chart == nil {
		p.Target = p.Preview
	}
	if p.Target.Chart == nil {
		err := p.noChart()
		return hint.New(errors.New(err.Error()), strings.Replace(hint.Of(err), "helmdrift diff ", "helmdrift absorb ", 1))
	}
	return nil
}

// HelmRelease names the HelmRelease.
func (p *Plan) HelmRelease() object.Key {
	return api.HelmReleaseRef(p.release.Metadata.Namespace, p.release.Metadata.Name).Key
}

// Remarks returns what the plan warns of, and what helmdrift cannot predict.
func (p *Plan) Remarks() (warnings, problems []report.Message) {
	if len(deployer.Integers(p.composed.Values)) > 0 {
		p.warn(CodeWarning, "a whole number that spec.valuesFrom puts at a targetPath cannot be absorbed: what it controls is left")
	}
	return p.warnings, p.problems
}

// Keeper returns what changes the values in the tree of the plan. Build builds the tree again with changed files.
func (p *Plan) Keeper(ctx context.Context, from drift.Connection, build keep.Build) (*keep.Keeper, error) {
	return keep.New(ctx, p.tree, p.release, p.composed, from, build)
}
