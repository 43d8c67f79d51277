package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decide returns what Helm does with an object; the zero decision if the object could not be read.
func (c *comparer) decide(p pair, f found, rules *ignore.ObjectRules, unseen *report.ObjectError) decision {
	switch main := p.subject(); {
	case main.Problem != "":
		return decision{failures: []failure{{scope: scopeAll, reason: main.Problem}}}
	case main.Name == "":
		return c.decideUnnamed(p, rules)
	case unseen != nil:
		return decision{}
	}
	d := c.decideNamed(p, f, rules)
	if note := c.terminatingNote(p.subject().Ref, f.object()); note != "" {
		d.terminating = p.old != nil && p.desired != nil
		d.notes = append(report.Notes{{Kind: report.NoteObject, Text: note}}, d.notes...)
	}
	c.refuse(&d, p)
	if p.isDefinition() {
		d.stopInstall(p.desired.Source)
	}
	c.noteControlCharacters(&d, p)
	return d
}

// decideNamed decides about an object that has a name, so that its live state is known.
func (c *comparer) decideNamed(p pair, f found, rules *ignore.ObjectRules) decision {
	switch ref := p.subject().Ref; {
	case p.isDefinition():
		return c.decideDefinition(p, f, rules)
	case p.old == nil && f.live.Absence == AbsentKind && slices.Contains(c.in.Brings, ref.GroupKind()):
		return decision{action: report.ActionCreate, write: write{method: MethodCreate, waitsFor: "its CustomResourceDefinition"}}
	case f.was.Absence == AbsentKind || f.live.Absence == AbsentKind:
		return c.decideUnserved(p, f, rules)
	case f.live.Object == nil:
		return c.decideMissing(p, f.live.Absence)
	case p.old == nil && c.in.Operation == report.OperationRollback && !c.in.ServerSide():
		return c.decideRolledBack(p, rules, f.live.Object)
	case p.old == nil:
		return c.decideAdopted(p, rules, f.live.Object)
	case p.desired == nil:
		return c.decideDropped(p, rules, f.live.Object)
	case p.old.Version != p.desired.Version:
		return c.decideConverted(p, rules, f.was.Object, f.live.Object)
	}
	return c.decideUpdate(p, rules, f.live.Object, p.old.Content)
}
