// Package urgency says in which order a reader should see objects and findings: what fails, what is missing, what restarts pods, the rest,
// and last labels, annotations and what no manifest names. It also has the order of what controllers do. TestUrgentObjectsStandFirst of
// internal/output/text tests the order of objects.
package urgency

import (
	"cmp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Of says how urgent an object is; 0 is the most urgent.
func Of(o report.Object) int {
	switch {
	case o.Error != nil, o.Action == report.ActionFail, o.Disputed():
		return 0
	case o.Gone():
		return 1
	case o.Effect != nil && (o.Effect.Restarts > 0 || o.Effect.Downtime || len(o.Effect.Lost) > 0):
		return 2
	case slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return rankOf(f) == 0 }), len(o.Fields) == 0:
		return 3
	}
	return 4
}

// Most returns the severity (see Of) of the most urgent object that nothing silences. Without one it is as for labels, and errors of the
// release itself are as urgent as failing objects.
func Most(rel report.Release) int {
	if len(rel.Errors) > 0 {
		return 0
	}
	most := 4
	for _, o := range rel.Objects {
		if o.IgnoredBy == nil {
			most = min(most, Of(o))
		}
	}
	return most
}

// Objects returns objects with the most urgent first, and otherwise in the order of the report.
func Objects(objects []report.Object) []report.Object {
	return order.Sorted(slices.Values(objects), func(a, b report.Object) int { return cmp.Compare(Of(a), Of(b)) })
}

// rankOf says where a finding stands in its object: labels and annotations of the object itself stand behind what pods and servers see,
// and what no manifest names and rules silence stands last.
func rankOf(f report.Finding) int {
	pointer := cmp.Or(f.Pointer, f.DesiredPointer)
	switch {
	case f.Silenced():
		return 3
	case !f.Managed:
		return 2
	case strings.HasPrefix(pointer, "/metadata/labels/"), strings.HasPrefix(pointer, "/metadata/annotations/"):
		return 1
	}
	return 0
}

// Fields returns findings by their rank, and otherwise in the order of the report.
func Fields(fields []report.Finding) []report.Finding {
	return order.Sorted(slices.Values(fields), func(a, b report.Finding) int { return cmp.Compare(rankOf(a), rankOf(b)) })
}

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
