package flux

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Upcoming is the release of a HelmRelease, and what Flux makes of a fix of it.
type Upcoming struct {
	// Namespace is the namespace of its records, and Release its name.
	Namespace, Release string
	// AboutFix says in a sentence what Flux does next, and what that means for what a fix writes.
	AboutFix string
}

// Next finds the release of a HelmRelease.
func Next(ctx context.Context, from drift.Connection, q Question) (Upcoming, error) {
	p, err := New(ctx, from, q)
	if err != nil {
		return Upcoming{}, err
	}
	defer p.Close()
	h, d := p.release, p.decision
	return Upcoming{Namespace: h.StorageNamespace(), Release: h.ReleaseName(), AboutFix: aboutFix(d, h.Mode())}, nil
}

// Targets are the comparisons that a snapshot of the release needs: without a chart, and with the chart of the sources.
func (p *Plan) Targets() []drift.Target {
	out := []drift.Target{{Namespace: p.release.StorageNamespace(), Release: p.release.ReleaseName()}}
	for _, t := range []drift.Target{p.Target, p.Preview} {
		if t.Chart != nil {
			out = append(out, t)
		}
	}
	return out
}

// aboutFix says what Flux makes of a fix. Mode is that of driftDetection.
func aboutFix(d decision, mode string) string {
	said := (&report.Deployer{Controller: report.ControllerFlux, Action: d.action, Reason: d.reason}).Says()
	switch d.action {
	case report.DeployerNone:
		if mode == "enabled" {
			return "driftDetection is enabled, so Flux puts back by itself what it looks at; a fix only comes first"
		}
		return "Flux leaves what fix writes, and puts drift back itself only when it upgrades the release"
	case report.DeployerUpgrade, report.DeployerInstall, report.DeployerRollback:
		return said + ". That may change again what fix writes"
	case report.DeployerReinstall, report.DeployerUninstall:
		return said + ". What fix writes goes with the release"
	}
	return said + ". Until it acts, it leaves what fix writes"
}
