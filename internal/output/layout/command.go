package layout

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// plainName matches the names that Helm and Kubernetes allow. They need no quotes in a shell.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// Command returns a command of this program about a release. It is empty if a name is not one that Kubernetes allows, because the reader
// pastes the command into a shell.
func Command(verb string, r report.Release) string {
	namespace := cmp.Or(r.StorageNamespace, r.Namespace)
	if !plainName.MatchString(r.Name) || !plainName.MatchString(namespace) {
		return ""
	}
	return "helmdrift " + verb + " " + r.Name + " -n " + namespace
}

// FixCommand returns the command that puts back what drifted in a release. It is empty if nothing drifted that a fix puts back, if the
// report is not about drift, and if the record may be a copy.
func FixCommand(r report.Release) string {
	isCopy := slices.ContainsFunc(r.Warnings, func(m report.Message) bool { return m.Code == report.WarnRecordElsewhere })
	if fields, objects := r.ToPutBack(); r.Operation != report.OperationDrift || isCopy || fields+objects == 0 {
		return ""
	}
	return Command("fix", r)
}
