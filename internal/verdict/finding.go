package verdict

import (
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Finding is one field with a verdict, its values in clear. A nil value is an absent side. It never leaves the process:
// Comparison.Report masks it.
type Finding struct {
	Path    object.Path
	Verdict report.Verdict
	Cause   report.Cause
	// Managed reports whether the manifest of old or desired names the field.
	Managed bool
	// Certain is false where the verdict could not be decided read-only, and a note says why.
	Certain bool
	Class   report.Class
	// Template is the file of the chart that makes a volatile value.
	Template string
	// Old, Desired and Live are the sides; After is what an upgrade leaves where that is none of them.
	Old, Desired, Live, After any
	Notes                     report.Notes
	Owners                    []report.Owner
	// Unrecorded is set where the API server does not record who wrote the live value, and a note says why.
	Unrecorded bool
	// Equivalent reports that live has not left old but for the way it is written. Only Helm's write, or its conflict, makes a finding
	// of it.
	Equivalent bool
	// Blocked is set if nothing happens to the field because its object fails or is not reached.
	Blocked bool
	// OfLast is set where live has what the last revision wrote, which is not old because it failed, or where it cannot be told apart
	// from that.
	OfLast bool
	// IgnoredBy is the rule that silences the finding; nil for most.
	IgnoredBy *report.IgnoreRule
}

// Drifted reports whether the finding makes its object drifted: managed, and live has moved. Where live means the same as old, it has
// moved only if Helm fails on it.
func (f Finding) Drifted() bool {
	return f.Managed && f.Cause != report.CauseChange && !(f.Equivalent && f.Verdict != report.Conflict) && !f.Silenced()
}

// Writes reports whether the upgrade changes the field.
func (f Finding) Writes() bool { return f.Verdict.Writes() }

// Silenced reports whether the finding is listed and counted as ignored only. A volatile one is where live has not left old.
func (f Finding) Silenced() bool {
	return f.IgnoredBy != nil || f.Class == report.ClassAutoscaled || f.Class == report.ClassVolatile && f.Cause == report.CauseChange
}

// Acts reports whether the upgrade changes the field or fails on it.
func (f Finding) Acts() bool { return f.Writes() || f.Verdict == report.Conflict }

// IsAffectedBy reports whether a doubt is about the finding.
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
