package verdict

import (
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Finding is one field with a verdict, its values in clear. A nil value is an absent state. It never leaves the process:
// Comparison.Report masks it.
type Finding struct {
	Path    object.Path
	Verdict report.Verdict
	Cause   report.Cause
	// Managed is set if the manifest of old or desired names the field.
	Managed bool
	// Certain is false if reading alone cannot decide the verdict, and a note explains why.
	Certain bool
	Class   report.Class
	// Template is the file of the chart that generates a volatile value.
	Template string
	// Old, Desired and Live are the states; After is the value after an upgrade if it is none of them.
	Old, Desired, Live, After any
	Notes                     report.Notes
	Owners                    []report.Owner
	// Unrecorded is set where the API server does not record who wrote the live value, and a note says why.
	Unrecorded bool
	// Equivalent is set if live differs from old in the spelling only. It is a finding because Helm writes it or fails on a conflict.
	Equivalent bool
	// Blocked is set if nothing happens to the field because its object fails or is not reached.
	Blocked bool
	// OfLast is set if live may have the value that the last revision wrote, which is not old because it failed.
	OfLast bool
	// IgnoredBy is the rule that silences the finding; nil for most.
	IgnoredBy *report.IgnoreRule
}

// Drifted reports whether the finding makes its object drifted: the field is managed, and live differs from old. A value that means the
// same as old counts only if Helm fails on it.
func (f Finding) Drifted() bool {
	return f.Managed && f.Cause != report.CauseChange && !(f.Equivalent && f.Verdict != report.Conflict) && !f.Silenced()
}

// Writes reports whether the upgrade changes the field.
func (f Finding) Writes() bool { return f.Verdict.Writes() }

// Silenced reports whether the finding counts as ignored. A volatile finding does as long as live equals old.
func (f Finding) Silenced() bool {
	return f.IgnoredBy != nil || f.Class == report.ClassAutoscaled || f.Class == report.ClassVolatile && f.Cause == report.CauseChange
}

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
