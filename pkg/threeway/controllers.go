package threeway

import (
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// countControllers folds what controllers wrote and no upgrade touches into a number, and into another one what is signed by nobody but
// forgotten writers.
func (o *fields) countControllers() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == report.Ignore && f.Class == "" && f.Certain
		switch {
		case isCounted && owners.AreControllers(f.Owners):
			o.Controllers++
		case isCounted && owners.AreForgotten(f.Owners):
			o.Forgotten++
		default:
			kept = append(kept, f)
		}
	}
	o.Findings = kept
}
