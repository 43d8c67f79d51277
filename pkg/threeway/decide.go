package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decision is what Helm does with one object, with what it was decided from. Each step returns one; nothing that a step wrote is
// undone by a later one.
type decision struct {
	fields
	sending
	// action and reason are what Helm does if nothing fails. ActionNone with findings that an upgrade writes is an update.
	action report.Action
	reason string
	// failures are all that Helm fails on, in the order in which they were found.
	failures                     []failure
	missing, terminating, ofLast bool
	notes                        report.Notes
}

// sending is how Helm writes an object when it reaches it.
type sending struct {
	// method is empty where Helm sends nothing.
	method Method
	// original is the text that Helm takes as original for a patch.
	original map[string]any
	// waitsFor is what the release itself brings before it creates the object; empty for most.
	waitsFor string
}

// outcome is the action with its reason: the failure that reaches furthest, if there is one.
func (d decision) outcome() (report.Action, string, failure) {
	if fails, ok := furthest(d.failures); ok {
		return report.ActionFail, fails.reason, fails
	}
	switch {
	case d.action != "" && d.action != report.ActionNone:
		return d.action, d.reason, failure{}
	case !slices.ContainsFunc(d.Findings, verdict.Finding.Writes):
		return report.ActionNone, d.reason, failure{}
	case d.Engine == report.EngineReplace:
		return report.ActionReplace, d.reason, failure{}
	}
	return report.ActionUpdate, d.reason, failure{}
}

// decide decides what Helm does with an object. An object that could not be seen is left undecided.
func (c comparer) decide(p pair, f found, rules *ignore.ObjectRules, unseen *report.ObjectError) decision {
	switch main := p.main(); {
	case main.Problem != "":
		return decision{failures: []failure{{scope: stopAll, reason: main.Problem}}}
	case main.Name == "":
		return c.unnamed(p, rules)
	case unseen != nil:
		return decision{}
	}
	d := c.decideNamed(p, f, rules)
	if note := c.terminatingNote(p.main().Ref, f.object()); note != "" {
		d.terminating = p.old != nil && p.desired != nil
		d.notes = append(report.Notes{{Kind: report.NoteObject, Text: note}}, d.notes...)
	}
	c.refuse(&d, p)
	c.noteUnreadable(&d, p)
	c.refuseListed(&d, p)
	return d
}

// decideNamed decides about an object that the cluster can be asked for.
func (c comparer) decideNamed(p pair, f found, rules *ignore.ObjectRules) decision {
	switch ref := p.main().Ref; {
	case p.old == nil && f.live.Absence == AbsentKind && slices.Contains(c.in.Brings, ref.GroupKind()):
		return decision{action: report.ActionCreate, sending: sending{method: MethodCreate, waitsFor: "its CustomResourceDefinition"}}
	case f.was.Absence == AbsentKind || f.live.Absence == AbsentKind:
		return c.unserved(p, f, rules)
	case f.live.Object == nil:
		return c.absent(p, f.live.Absence)
	case p.old == nil && c.in.Operation == report.OperationRollback && !c.in.serverSide():
		return c.rollOver(p, rules, f.live.Object)
	case p.old == nil:
		return c.adopt(p, rules, f.live.Object)
	case p.desired == nil:
		return c.drop(p, rules, f.live.Object)
	case p.old.Version != p.desired.Version:
		return c.convert(p, rules, f.was.Object, f.live.Object)
	}
	return c.update(p, rules, f.live.Object, p.old.Content)
}

// update decides about an object that Helm patches, or replaces. Original is the text that it takes as original for its patch.
func (c comparer) update(p pair, rules *ignore.ObjectRules, live, original map[string]any) decision {
	d := decision{fields: c.compareFields(p, rules, live, original)}
	if d.unpatched != nil {
		d.fail(stopNothing, d.unpatched.Error())
		return d
	}
	if d.conflict != "" {
		reason := fmt.Sprintf("conflict occurred while applying object %s/%s %s: %s", p.desired.Namespace, p.desired.Name, p.desired.GVK(), d.conflict)
		d.failures = append(d.failures, failure{scope: stopNothing, reason: reason, onlyConflicts: true})
	}
	d.sending = sending{method: MethodPatch, original: original}
	if d.Engine == report.EngineReplace {
		d.sending = sending{method: MethodReplace}
	}
	return d
}
