package repair

import (
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Result returns the presentable form of a plan and its outcomes. Fields are masked as in a report, requests name places but no values,
// and reasons are scrubbed. The caller adds what belongs to the run: version, time, the kind of dry run, and the report afterwards.
func (p *Plan) Result(mask threeway.Mask, outcomes []report.FixOutcome) report.FixResult {
	in := p.comparison.Input
	out := report.FixResult{
		APIVersion: report.APIVersion, Kind: report.KindFixResult, Name: in.Name, Namespace: in.Namespace,
		Plan: []report.FixPlan{}, Results: []report.FixOutcome{}, Versions: p.comparison.CustomVersions(),
	}
	scrub := p.comparison.Scrub
	if mask.Show { // the user asked for clear values
		scrub = func(text string) string { return text }
	}
	for i := range p.Objects {
		planned := p.shown(&p.Objects[i], mask)
		planned.Effect = p.effects.Objects[p.Objects[i].Ref.Key].Map(scrub)
		out.Plan = append(out.Plan, planned)
	}
	out.Effect = p.effects.Release.Map(scrub)
	for _, outcome := range outcomes {
		outcome.Reason = scrub(outcome.Reason)
		out.Results = append(out.Results, outcome)
	}
	for _, left := range p.Declined {
		outcome := report.FixOutcome{
			Object: report.ObjectKey{Key: left.Ref.Key}, Status: report.FixDeclined, Reason: scrub(left.Reason), LeftOut: left.LeftOut,
		}
		if left.ID != "" {
			outcome.Fields = []string{left.ID}
		}
		out.Results = append(out.Results, outcome)
	}
	return out
}

// shown returns one object of the plan for a FixResult. It lists pruned fields apart from those that are put back.
func (p *Plan) shown(o *ObjectPlan, mask threeway.Mask) report.FixPlan {
	out := report.FixPlan{
		Object: report.ObjectKey{Key: o.Ref.Key}, UID: o.UID, Create: o.Create != nil, Outside: o.Outside,
		HandOver: o.Create == nil && len(o.Changes) == 0,
		Fields:   []report.Finding{}, Requests: o.requests(func(pointer string) string { return p.comparison.ShownPointer(pointer, mask) }),
	}
	for _, c := range o.Changes {
		field := p.comparison.Field(o.compared, c.finding, mask)
		field.ID, field.OwnerOnly = c.ID, c.kind == putOwner
		if c.kind == prune {
			out.Prune = append(out.Prune, field)
		} else {
			out.Fields = append(out.Fields, field)
		}
	}
	return out
}

// requests returns the writes of an object without their values, with pointers in the form for people. The ownership patch has no
// operations: which entries of managedFields it changes is known only after the patch of values.
func (o *ObjectPlan) requests(shown func(pointer string) string) []report.FixRequest {
	switch {
	case o.Create != nil && o.ServerSide:
		return []report.FixRequest{{Verb: "apply", FieldManager: o.Deployer}}
	case o.Create != nil:
		return []report.FixRequest{{Verb: "create", FieldManager: o.Deployer}}
	}
	out := []report.FixRequest{}
	if ops, err := o.operations(o.source.Live); err == nil && len(ops) > 0 {
		request := report.FixRequest{Verb: "patch", FieldManager: o.Manager}
		for _, op := range ops {
			request.Operations = append(request.Operations, report.FixOperation{Op: op.Op, Path: shown(op.Path)})
		}
		out = append(out, request)
	}
	if o.ServerSide {
		out = append(out, report.FixRequest{
			Verb: "patch", FieldManager: o.Manager, Operations: []report.FixOperation{{Op: "replace", Path: managedFields}},
		})
	}
	return out
}
