package repair

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// planner makes a plan.
type planner struct {
	Options
	plan     *Plan
	choice   choice
	deployer string
	// deployerDoubt says that the deployer is a guess. It is empty if the deployer is known.
	deployerDoubt string
}

// newPlan returns the plan of an object without any change. Helm does not check the owners of a client-side release, so there the deployer
// owns the values at once.
func (p *planner) newPlan(o *threeway.ObjectComparison) ObjectPlan {
	in := p.plan.comparison.Input
	out := ObjectPlan{
		Ref: o.Ref, ServerSide: in.ServerSide(), Manager: p.deployer, Deployer: p.deployer, release: in.Release(), compared: o,
	}
	if out.ServerSide {
		out.Manager = owners.Repairer
	}
	return out
}

// whyNoOwner returns why nobody can become the owner of what is put back, or "" if the deployer can. With the wrong owner, the next
// upgrade would conflict with the repair. In a client-side release Helm does not check owners.
func (p *planner) whyNoOwner() string {
	if p.deployerDoubt == "" || !p.plan.comparison.Input.ServerSide() {
		return ""
	}
	return p.deployerDoubt + ", so what is put back would get the wrong owner; " +
		"--field-manager names the right one, which is helm for the helm command"
}

func (p *planner) decline(o *threeway.ObjectComparison, id, reason string) {
	p.plan.Declined = append(p.plan.Declined, Declined{Ref: o.Ref, ID: id, Reason: reason, LeftOut: reason == notSelected})
}

// shownPath returns a path of an object as a report prints it.
func (p *planner) shownPath(o *threeway.ObjectComparison, path object.Path) string {
	return p.plan.comparison.ShownPath(o, path).String()
}

// id returns the identifier of a finding in a report.
func (p *planner) id(o *threeway.ObjectComparison, f threeway.Finding) string {
	return p.plan.comparison.Field(o, f, threeway.Mask{}).ID
}

// notSelected is the reason for all drift that the selectors leave out.
const notSelected = "not selected"

// selected returns the selected drift of an object. A field that is selected in part is declined, because writing it would write more than
// the selectors name.
func (p *planner) selected(o *threeway.ObjectComparison) []threeway.Finding {
	return p.chosen(o, object.Filter(o.Findings, threeway.Finding.Drifted), "be put back", notSelected, func(f threeway.Finding) string {
		if doubt := p.uncertainty(o, f); doubt != "" && !p.choice.namesField(o.Key, f.Path) {
			return fmt.Sprintf("%s; --only %s/%s:%s puts it back", doubt, o.Kind, o.Name, p.shownPath(o, f.Path))
		}
		return ""
	})
}

// additions returns what to prune in an object. It leaves what is not selected without a reason, because it is not drift.
func (p *planner) additions(o *threeway.ObjectComparison) []threeway.Finding {
	if !p.Prune {
		return nil
	}
	return p.chosen(o, object.Filter(o.Findings, isAdded), "go", "", func(threeway.Finding) string { return "" })
}

// chosen returns the selected findings, and declines those that are selected in part, those of a failed revision, and doubtful ones. If
// unselected is a reason, it also declines what is not selected.
func (p *planner) chosen(
	o *threeway.ObjectComparison, all []threeway.Finding, done, unselected string, doubt func(threeway.Finding) string,
) []threeway.Finding {
	var out []threeway.Finding
	for _, f := range all {
		reason, how := "", p.choice.field(o.Key, f.Path)
		if how == inPart && f.Class == report.ClassOrder {
			if source, ok := p.plan.comparison.Repairable(o); ok && source.IsPlacement(f) {
				how = p.choice.placement(o.Key, f.Path)
			}
		}
		switch {
		case how == inPart:
			reason = "it can only " + done + " as a whole: select " + p.shownPath(o, f.Path)
		case how == outside:
			reason = unselected
		case p.isOfFailed(o.Key, f):
			reason = p.failedRevision() + failedVerb(f) + " it" + p.undoFailedHint()
		default:
			reason = doubt(f)
		}
		if reason != "" {
			p.decline(o, p.id(o, f), reason)
		} else if how == inside {
			out = append(out, f)
		}
	}
	return out
}

// uncertainty returns what could not be read, if that makes a change unsafe unless a selector names the field. It is empty for
// most fields.
func (p *planner) uncertainty(o *threeway.ObjectComparison, f threeway.Finding) string {
	switch {
	case p.plan.comparison.MaybeAutoscaled(f):
		return "an autoscaler may set it, and autoscalers could not be read"
	case !p.plan.comparison.Described(o) && f.Path[0].Name != "metadata" && holdsList(f.Live):
		return "the definition of its kind could not be read, so its lists count as one value each, " +
			"and what others added to them would be removed"
	}
	return ""
}

// holdsList reports whether a value contains a list. Without the definition of a kind, the keys of its lists are unknown.
func holdsList(v any) bool {
	switch v := v.(type) {
	case []any:
		return true
	case map[string]any:
		for _, below := range v {
			if holdsList(below) {
				return true
			}
		}
	}
	return false
}

// After a failed upgrade, helm upgrade starts from the last deployed revision, so what the failed revision wrote is drift. But nobody
// wrote it behind Helm's back, and often only the wait for readiness failed. So a fix declines it unless a selector names it. With
// --revision, the comparison has no last revision, and a fix puts back everything that differs from the given revision.

// isOfFailed reports whether the failed revision wrote or removed a field that no selector names.
func (p *planner) isOfFailed(key object.Key, f threeway.Finding) bool {
	return f.OfLast && !p.choice.namesField(key, f.Path)
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
