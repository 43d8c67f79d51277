package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// After a failed upgrade, helm upgrade starts from the last deployed revision, so what the failed revision wrote is drift. But nobody
// wrote it behind Helm's back, and often only the wait for readiness failed. So a fix declines it unless a selector names it. With
// --revision, the comparison has no last revision, and everything that differs from the given revision is put back.

// isOfFailed reports whether the failed revision wrote or removed a field that no selector names.
func (p *planner) isOfFailed(key object.Key, f threeway.Finding) bool {
	return f.OfLast && reachOf(p.choice.only, key, f.Path) != inside
}

// ofFailedReason is the reason why such a field is declined.
func (p *planner) ofFailedReason(f threeway.Finding) string {
	return p.failedRevision() + failedVerb(f) + " it" + p.undoFailedHint()
}

// failedVerb says what the failed revision did to a field.
func failedVerb(f threeway.Finding) string {
	if f.DroppedByLast {
		return " no longer has"
	}
	return " wrote"
}

func (p *planner) failedRevision() string {
	last := p.plan.comparison.Input.Last
	return fmt.Sprintf("revision %d (%s)", last.Revision, last.Status)
}

func (p *planner) undoFailedHint() string {
	return fmt.Sprintf("; --only KIND/NAME:PATH puts it back, --revision %d all of it", p.plan.comparison.Input.Old.Revision)
}

// findOfFailed returns a finding of the failed revision at path, above it or below it; nil if there is none.
func (b *builder) findOfFailed(path object.Path) *threeway.Finding {
	i := slices.IndexFunc(b.compared.Findings, func(f threeway.Finding) bool {
		return f.Path.Overlaps(path) && b.isOfFailed(b.compared.Key, f)
	})
	if i < 0 {
		return nil
	}
	return &b.compared.Findings[i]
}
