package threeway

import "slices"

// leftAlone folds what controllers wrote and no upgrade touches into a number, and into another one what is signed by nobody but
// forgotten writers.
func (o *ObjectComparison) leftAlone() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == Ignore && f.Class == "" && f.Certain
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
func areControllers(owners []Owner) bool {
	return slices.ContainsFunc(owners, func(o Owner) bool { return o.Group == ManagerController }) &&
		!slices.ContainsFunc(owners, func(o Owner) bool { return o.Group != ManagerController && o.Group != ManagerDeployer })
}
