package threeway

import (
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Finding is one field with a verdict, its values in clear. A nil value is an absent side. It never leaves the process:
// Comparison.Report masks it.
type Finding struct {
	Path object.Path
	// Classification is the verdict, and what else decides whether the finding counts.
	report.Classification
	// Certain is false if the verdict could not be decided without a write, and a note says why.
	Certain bool
	// Template is the file of the chart that makes a volatile value.
	Template string
	// Old, Desired and Live are the sides; After is what an upgrade leaves if that is none of them.
	Old, Desired, Live, After any
	Notes                     report.Notes
	Owners                    []report.Owner
	// Unrecorded is set if the API server does not record who wrote the live value, and a note says why.
	Unrecorded bool
	// Blocked is set if nothing happens to the field because its object fails or is not reached.
	Blocked bool
	// OfLast is set if live has what the last revision wrote, which is not old because it failed, or if it cannot be told apart from
	// that.
	OfLast bool
}

// writes reports whether the upgrade changes the field.
func (f Finding) writes() bool { return f.Verdict.Writes() }
