package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// leftAlone folds what controllers wrote and no upgrade touches into a number, and into another one what is signed by nobody but
// forgotten writers.
func (o *ObjectComparison) leftAlone() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == report.Ignore && f.Class == "" && f.Certain
		switch {
		case isCounted && areControllers(f.Owners):
			o.Controllers++
		case isCounted && areForgotten(f.Owners):
			o.Forgotten++
		default:
			kept = append(kept, f)
		}
	}
	o.Findings = kept
}

// areControllers tells whether nobody but controllers wrote a value, and the release itself.
func areControllers(owners []report.Owner) bool {
	return slices.ContainsFunc(owners, func(o report.Owner) bool { return o.Group == report.ManagerController }) &&
		!slices.ContainsFunc(owners, func(o report.Owner) bool {
			return o.Group != report.ManagerController && o.Group != report.ManagerDeployer
		})
}
