package deployer

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Changed returns how many objects the chart and the values change, whether or not they drifted. A value that is not known counts as no
// change.
func Changed(objects []report.Object) int {
	return len(object.Filter(objects, isChanged))
}

// Differ returns the verb for a number of objects: "differs", "differ".
func Differ(n int) string {
	if n == 1 {
		return "differs"
	}
	return "differ"
}

// WhatGoes says what a report about a release that a deployer uninstalls, and maybe installs anew, does not list.
func WhatGoes(by string, action report.DeployerAction) string {
	if action == report.DeployerUninstall {
		return by + " uninstalls the release: every object of it goes, and only drift is listed here"
	}
	return by + " uninstalls the release and installs it anew: every object of it goes, and comes back as new; only drift is listed here"
}

// PodsGo returns the warning that Helm deletes the pods of a release after an upgrade, because an option says so. They are no objects of
// the release, so no write and no effect shows it.
func PodsGo(option string) report.Message {
	return report.Message{Code: report.CodeEffects,
		Message: option + " is set, so Helm deletes the pods of the release after the upgrade, which is not shown"}
}

func isChanged(o report.Object) bool {
	switch o.Action {
	case report.ActionCreate, report.ActionDelete, report.ActionAdopt:
		if !o.Missing {
			return true
		}
	}
	return slices.ContainsFunc(o.Fields, func(f report.Finding) bool {
		return f.Cause != report.CauseDrift && f.Managed && !f.Silenced() && f.Class != report.ClassUnknown
	})
}
