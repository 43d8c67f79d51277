package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// repairer is the field manager under which values are written to a server-side release; HandOver then gives the fields to the deployer.
// The values of a client-side release are written as the deployer itself.
const repairer = owners.Repairer

// Options says what a plan is about.
type Options struct {
	// Only restricts the plan to what the selectors name; none means everything. Skip excludes what they name.
	Only, Skip []Selector
	// Prune also removes what no manifest names and a person added.
	Prune bool
	// NoRestart leaves out the changes because of which pods would restart.
	NoRestart bool
	// Allow lists the namespaces, besides the release's own, where missing objects are created; Cluster allows it for cluster-scoped
	// ones. Asks plans all of them, because somebody is asked to confirm the plan, which marks them.
	Allow []string
	Asks  bool
	// Revision says that the user named the revision. Then what is missing of it is created even if Helm never deployed it.
	Revision bool
	// Manager is the deployer, the field manager under which the release is written; empty means the one that the cluster shows.
	Manager string
}

// New plans the repair of a release: everything that drifted in c, which compares the release with itself, and can be put back. Drift that
// is not in the plan is Declined, with the reason. The plan refers to c, and neither is safe for concurrent use.
//
// It is an error if c compares with a chart or another revision, and a *[SelectorError] if a selector matches nothing.
func New(c *threeway.Comparison, o Options) (*Plan, error) {
	if c.Input.Operation != report.OperationDrift {
		return nil, fmt.Errorf("a repair needs a comparison of a release with itself, not with a chart or another revision")
	}
	chosen, err := choice{o.Only, o.Skip}.checked(c)
	if err != nil {
		return nil, err
	}
	p := &planner{
		plan: &Plan{comparison: c}, choice: chosen, prunes: o.Prune, noRestart: o.NoRestart, deployer: o.Manager,
		allow: o.Allow, asks: o.Asks, revision: o.Revision,
	}
	if o.Manager == "" {
		p.deployer, p.deployerDoubt = c.Deployer().Manager, c.Deployer().Uncertainty()
	}
	for i := range c.Objects {
		p.planObject(&c.Objects[i])
	}
	return p.plan, nil
}

// Empty reports whether there is nothing to write.
func (p *Plan) Empty() bool { return len(p.Objects) == 0 }

// notSelected is the reason of all drift that the selectors leave out.
const notSelected = "not selected"

// planner makes a plan.
type planner struct {
	plan              *Plan
	choice            choice
	prunes, noRestart bool
	// allow, asks and revision are those of the options.
	allow          []string
	asks, revision bool
	deployer       string
	// deployerDoubt says that the deployer is a guess; empty if it is known.
	deployerDoubt string
}

func (p *planner) serverSide() bool { return p.plan.comparison.Input.ServerSide() }

// managerOfValues is the field manager under which values are written. Helm does not look at the owners of a client-side release, so there
// the values are the deployer's at once.
func (p *planner) managerOfValues() string {
	if p.serverSide() {
		return repairer
	}
	return p.deployer
}

// whyNoOwner returns why nobody can become the owner of what is put back; empty if the deployer can. Under the wrong owner, the next
// upgrade would conflict with the repair. In a client-side release Helm does not check owners.
func (p *planner) whyNoOwner() string {
	if p.deployerDoubt == "" || !p.serverSide() {
		return ""
	}
	return p.deployerDoubt + ", so what is put back would get the wrong owner; " +
		"--field-manager names the right one, which is helm for the helm command"
}

func (p *planner) decline(o *threeway.ObjectComparison, id, reason string) {
	p.plan.Declined = append(p.plan.Declined, Declined{Ref: o.Ref, ID: id, Reason: reason})
}

// shownPath is a path of an object as a report prints it.
func (p *planner) shownPath(o *threeway.ObjectComparison, path object.Path) string {
	return p.plan.comparison.ShownPath(o, path).String()
}

// planObject plans one object. An object that a rule ignores is left without a reason; if it is missing, a selector can still name it.
func (p *planner) planObject(o *threeway.ObjectComparison) {
	switch {
	case o.IgnoredBy != nil && !(o.Missing && p.choice.isNamed(o.Key)):
	case o.Err != nil:
		if p.choice.object(o.Key) != outside {
			p.decline(o, "", "it could not be read: "+o.Err.Message)
		}
	case o.Missing:
		p.planMissing(o)
	case o.Terminating:
		p.declineTerminating(o)
	default:
		p.planPresent(o)
	}
}

// planMissing plans the creation of a missing object.
func (p *planner) planMissing(o *threeway.ObjectComparison) {
	switch reason := p.whyNotCreated(o); {
	case reason != "":
		p.decline(o, "", reason)
	default:
		in := p.plan.comparison.Input
		p.plan.Objects = append(p.plan.Objects, ObjectPlan{
			Ref: o.Ref, Create: object.HelmMetadata(o.Content, in.Name, in.Namespace), ServerSide: p.serverSide(), Outside: p.isOutside(o.Key),
			Manager: p.managerOfValues(), Deployer: p.deployer, compared: o,
		})
	}
}

// declineTerminating declines an object that is being deleted: what is written to it is deleted with it, and nobody can create it anew
// while it exists.
func (p *planner) declineTerminating(o *threeway.ObjectComparison) {
	reason := beingDeleted + "; once it has gone, helmdrift fix creates it again"
	switch {
	case p.choice.object(o.Key) == outside:
		reason = notSelected
	case p.plan.comparison.Input.Terminating[o.Namespace]:
		reason = fmt.Sprintf("its namespace %q is being deleted", o.Namespace)
	}
	p.decline(o, "", reason)
}

// whyNotCreated returns why a missing object is not created; empty if it is.
func (p *planner) whyNotCreated(o *threeway.ObjectComparison) string {
	spec := object.Child(o.Content, "spec")
	absence := p.plan.comparison.Input.Live[o.Ref].Absence
	switch {
	case p.choice.object(o.Key) == outside:
		return notSelected
	case p.choice.object(o.Key) == inPart:
		return "it is missing, and can only be created as a whole"
	case absence == threeway.AbsentKind:
		return "the cluster does not serve its kind at " + o.APIVersion() + "; run helmdrift fix again once it does"
	case p.plan.comparison.Input.Terminating[o.Namespace]:
		return fmt.Sprintf("its namespace %q is being deleted, and accepts no new objects", o.Namespace)
	case absence == threeway.AbsentNamespace && !p.plan.createsNamespace(o.Namespace):
		return fmt.Sprintf("its namespace %q does not exist", o.Namespace)
	case o.OfLast && !p.choice.isNamed(o.Key):
		return p.failedRevision() + " no longer has it" + p.undoFailedHint()
	case p.neverDeployed(o) != "":
		return p.neverDeployed(o)
	case p.whyNotCreatedOutside(o.Key) != "":
		return p.whyNotCreatedOutside(o.Key)
	case p.whyNoOwner() != "":
		return p.whyNoOwner()
	case o.Uncreatable != "" && !p.choice.isNamed(o.Key):
		return fmt.Sprintf("the API server would refuse it: %s; --only %s/%s tries it", o.Uncreatable, o.Kind, o.Name)
	case o.Kind == "Job" && o.Group == "batch" && spec["ttlSecondsAfterFinished"] != nil && !p.choice.isNamed(o.Key):
		// This takes --no-default-ignores. To create the Job is to run its work once more, which is more than putting it back.
		return fmt.Sprintf("it may have finished and expired (ttlSecondsAfterFinished); --only Job/%s creates it again", o.Name)
	}
	return ""
}

// createsNamespace reports whether the plan creates a namespace. Helm's install order puts it before everything in it.
func (p *Plan) createsNamespace(name string) bool {
	return slices.ContainsFunc(p.Objects, func(o ObjectPlan) bool {
		return o.Create != nil && o.Ref.Kind == "Namespace" && o.Ref.Group == "" && o.Ref.Name == name
	})
}

// planPresent plans the changes of an object that exists.
func (p *planner) planPresent(o *threeway.ObjectComparison) {
	drift, added := p.selected(o), p.additions(o)
	plan := ObjectPlan{
		Ref: o.Ref, ServerSide: p.serverSide(), Manager: p.managerOfValues(), Deployer: p.deployer, compared: o,
		release: p.plan.comparison.Input.Release(),
	}
	if reason := p.whyNotWritable(&plan); reason != "" {
		if len(drift) > 0 { // the reason concerns the whole object
			p.decline(o, "", reason)
			return
		}
		for _, f := range added {
			p.decline(o, p.id(o, f), reason)
		}
		return
	}
	// An object without a change is still planned if an earlier run has left its ownership with the repairer.
	b := &builder{planner: p, plan: &plan, compared: o}
	if b.build(drift, added); len(plan.Changes) > 0 || p.needsHandOver(&plan) {
		p.plan.Objects = append(p.plan.Objects, plan)
	}
}

// whyNotWritable reads the live object into the plan. It returns why nothing may be written to it; empty if something may.
func (p *planner) whyNotWritable(plan *ObjectPlan) string {
	source, known := p.plan.comparison.Repairable(plan.compared)
	if !known {
		return "it was not compared at " + plan.Ref.APIVersion() + ", the version of the manifest"
	}
	plan.source = source
	plan.UID, _ = object.Child(source.Live, "metadata")["uid"].(string)
	plan.owner = object.ReleaseOf(source.Live)
	if reason := p.whyNotOurs(plan.compared); reason != "" {
		return reason
	}
	if reason := p.whyNoOwner(); reason != "" {
		return reason
	}
	if plan.ServerSide {
		if err := plan.checkHandOver(source.Live); err != nil {
			return fmt.Sprintf("the ownership of what is put back could not be handed over to %s: %v", p.deployer, err)
		}
	}
	return ""
}

// needsHandOver reports whether only ownership is left to hand over, because an earlier repair ended after it had put the values back.
func (p *planner) needsHandOver(o *ObjectPlan) bool {
	if p.choice.object(o.Ref.Key) != inside {
		return false
	}
	body, err := o.HandOver(o.source.Live)
	if err != nil {
		p.decline(o.compared, "", err.Error())
	}
	return body != nil
}

// selected returns the selected drift of an object. A field that is selected in part is declined, because writing it would write more than
// the selectors name.
func (p *planner) selected(o *threeway.ObjectComparison) []threeway.Finding {
	return p.chosen(o, object.Filter(o.Findings, threeway.Finding.Drifted), "be put back", notSelected, func(f threeway.Finding) string {
		if doubt := p.uncertainty(o, f); doubt != "" && reachOf(p.choice.only, o.Key, f.Path) != inside {
			return fmt.Sprintf("%s; --only %s/%s:%s puts it back", doubt, o.Kind, o.Name, p.shownPath(o, f.Path))
		}
		return ""
	})
}

// chosen returns the findings that are selected, and declines those that are selected in part, those of a failed revision, and those that
// are doubtful. What is not selected is declined too, unless that needs no reason.
func (p *planner) chosen(o *threeway.ObjectComparison, all []threeway.Finding, done, unselected string, doubt func(threeway.Finding) string) []threeway.Finding {
	var out []threeway.Finding
	for _, f := range all {
		reason, how := "", p.choice.field(o.Key, f.Path)
		switch {
		case how == inPart:
			reason = "it can only " + done + " as a whole: select " + p.shownPath(o, f.Path)
		case how == outside:
			reason = unselected
		case p.isOfFailed(o.Key, f):
			reason = p.ofFailedReason(f)
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

// uncertainty returns what could not be read and makes a change unsafe unless a selector names the field; empty for most fields.
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

// id is the identifier that a finding has in a report.
func (p *planner) id(o *threeway.ObjectComparison, f threeway.Finding) string {
	return p.plan.comparison.Field(o, f, threeway.Mask{}).ID
}
