package verdict

import (
	"github.com/helmdrift/helmdrift/internal/engine"
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
	// DroppedByLast is set with OfLast if the last revision no longer names the field, and live is as that left it.
	DroppedByLast bool
}

// Writes reports whether the upgrade changes the field.
func (f Finding) Writes() bool { return f.Verdict.Writes() }

// Acts reports whether the upgrade changes the field or fails on it.
func (f Finding) Acts() bool { return f.Writes() || f.Verdict == report.Conflict }

// IsAffectedBy reports whether an uncertainty is about the finding.
func (f Finding) IsAffectedBy(d engine.Uncertainty) bool {
	if d.Matches != nil && !d.Matches(f.Path) {
		return false
	}
	switch d.Affects {
	case engine.Acting:
		return f.Acts()
	case engine.Writing:
		return f.Writes()
	case engine.Conflicting:
		return f.Verdict == report.Conflict
	case engine.AnyFinding:
	}
	return true
}
