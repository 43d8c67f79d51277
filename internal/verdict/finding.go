package verdict

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Finding is one field with a verdict, and its values in clear. A nil value is an absent side. A Finding never leaves
// the process: Comparison.Report masks it.
type Finding struct {
	Path object.Path
	// Classification has the verdict, and whatever else decides whether the finding counts.
	report.Classification
	// Certain is false if the verdict could not be decided without a write, and a note says why.
	Certain bool
	// Template is the file of the chart that generates a volatile value.
	Template string
	// Old, Desired and Live are the sides. After is the value after an upgrade, if it equals none of them.
	Old, Desired, Live, After any
	Notes                     report.Notes
	Owners                    []report.Owner
	// Unrecorded is set if the API server does not record who wrote the live value, and a note says why.
	Unrecorded bool
	// Blocked is set if nothing happens to the field because the write of its object fails or is not reached.
	Blocked bool
	// Pruned is set if the API server drops the field because the installation changes the definition of the kind. That happens even if Helm
	// does not get to the object.
	Pruned bool
	// OfLast is set if live has, or may have, what the last revision wrote. That revision is not old because it failed.
	OfLast bool
	// DroppedByLast is set with OfLast if the last revision no longer names the field, and live is as that revision left it.
	DroppedByLast bool
}

// Writes reports whether the upgrade changes the field.
func (f Finding) Writes() bool { return f.Verdict.Writes() }

// Acts reports whether the upgrade changes the field or fails on it.
func (f Finding) Acts() bool { return f.Writes() || f.Verdict == report.Conflict }

// IsAffectedBy reports whether an uncertainty affects the finding.
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

// Sort sorts findings by path.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
}
