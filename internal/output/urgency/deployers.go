package urgency

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Actions returns all actions of controllers, the most urgent one first.
func Actions() []report.DeployerAction {
	return []report.DeployerAction{
		report.DeployerReinstall, report.DeployerUninstall, report.DeployerRollback, report.DeployerBlocked, report.DeployerUnknown,
		report.DeployerUpgrade, report.DeployerInstall, report.DeployerSync, report.DeployerCorrect, report.DeployerNone,
	}
}

// Acting returns those of the releases about which there is something to say: their controller acts, is blocked, or does nothing although
// the chart has changed. The most urgent action is first. What is not known is an error of the release, and not among them.
func Acting(releases []report.Release) []report.Release {
	out := slices.DeleteFunc(slices.Clone(releases), func(r report.Release) bool {
		d := r.Deployer
		return d == nil || d.Action == report.DeployerUnknown || d.Action == report.DeployerNone && d.NotRolledOut == 0
	})
	actions := Actions()
	order.Sort(out, func(a, b report.Release) int {
		return cmp.Compare(slices.Index(actions, a.Deployer.Action), slices.Index(actions, b.Deployer.Action))
	})
	return out
}
