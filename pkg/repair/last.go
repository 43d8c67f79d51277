package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// What a failed last revision wrote is drift from the revision that Helm would start from, but nobody made it behind Helm's back: often
// only the wait for readiness failed. So it is left unless somebody asks for it by name. With --revision, the comparison knows no last
// revision, and all that drifted from the given one is put back.

// ofLast says that the last revision wrote a field, and what puts it back; empty where it did not, and where somebody asked for the field.
func (p *planner) ofLast(key object.Key, f threeway.Finding) string {
	if !f.OfLast || reachOf(p.choice.only, key, f.Path) == inside {
		return ""
	}
	return p.last() + " wrote it" + p.undoesLast()
}

func (p *planner) last() string {
	last := p.plan.comparison.Input.Last
	return fmt.Sprintf("revision %d (%s)", last.Revision, last.Status)
}

func (p *planner) undoesLast() string {
	return fmt.Sprintf("; --only KIND/NAME:PATH puts it back, --revision %d all of it", p.plan.comparison.Input.Old.Revision)
}

// writtenByLast finds something at a path, above it or below that the last revision wrote and nobody asked for; nil where nothing is.
func (b *builder) writtenByLast(path object.Path) object.Path {
	i := slices.IndexFunc(b.compared.Findings, func(f threeway.Finding) bool {
		return f.Path.Overlaps(path) && b.ofLast(b.compared.Key, f) != ""
	})
	if i < 0 {
		return nil
	}
	return b.compared.Findings[i].Path
}
