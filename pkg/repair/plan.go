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
// To a client-side release, values are written as the deployer itself.
const repairer = owners.Repairer

// Options says what a plan is to be about.
type Options struct {
	// Only restricts the plan to what the selectors name; none means everything. Skip takes out of it what they name.
	Only, Skip []Selector
	// Prune takes away, beside, what no manifest names and a person added.
	Prune bool
	// Manager is the deployer, the field manager under which the release is written; empty means the one that the cluster shows.
	Manager string
}

// New makes the plan of a repair: of all that drifted in c, which compares a release with itself, what can be put back. What
// drifted and is not in the plan is Left, with the reason.
func New(c *threeway.Comparison, o Options) (*Plan, error) {
	if c.Input.Operation != report.OperationDrift {
		return nil, fmt.Errorf("a repair puts back what drifted, not what a chart or another revision would change")
	}
	chosen, err := choice{o.Only, o.Skip}.checked(c)
	if err != nil {
		return nil, err
	}
	p := &planner{plan: &Plan{comparison: c}, choice: chosen, prunes: o.Prune, deployer: o.Manager}
	if o.Manager == "" {
		p.deployer, p.deployerDoubt = c.Deployer().Manager, c.Deployer().Uncertainty()
	}
	for i := range c.Objects {
		p.planObject(&c.Objects[i])
	}
	return p.plan, nil
}

// Empty tells that there is nothing to write.
func (p *Plan) Empty() bool { return len(p.Objects) == 0 }

// notSelected is the reason of all that drifted and was not selected.
const notSelected = "not selected"

// planner makes a plan.
type planner struct {
	plan     *Plan
	choice   choice
	prunes   bool
	deployer string
	// unsure says that the deployer is a guess; empty where it is not.
	deployerDoubt string
}

func (p *planner) serverSide() bool { return p.plan.comparison.Input.ApplyMethod == "server-side" }

// managerOfValues is the field manager under which values are written.
func (p *planner) managerOfValues() string {
	if p.serverSide() {
		return repairer
	}
	return p.deployer
}

// unowned says why nobody could be made the owner of what is put back; empty where somebody can. Under the wrong owner, the next upgrade
// would conflict with the repair. On a client-side release the owner does not matter to Helm.
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

// shownPath is a path of an object as a report names it.
func (p *planner) shownPath(o *threeway.ObjectComparison, path object.Path) string {
	return p.plan.comparison.ShownPath(o, path).String()
}

// object plans one object. One that a rule silences is left without a word; if it is missing, it can be asked for by name.
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

// missing plans an object that is not there.
func (p *planner) planMissing(o *threeway.ObjectComparison) {
	switch reason := p.whyNotCreated(o); {
	case reason != "":
		p.decline(o, "", reason)
	default:
		in := p.plan.comparison.Input
		p.plan.Objects = append(p.plan.Objects, ObjectPlan{
			Ref: o.Ref, Create: object.HelmMetadata(o.Content, in.Name, in.Namespace), ServerSide: p.serverSide(),
			Manager: p.managerOfValues(), Deployer: p.deployer, compared: o,
		})
	}
}

// terminating leaves an object that is being deleted: what is written to it goes with it, and nobody can make it again while it is there.
func (p *planner) declineTerminating(o *threeway.ObjectComparison) {
	reason := beingDeleted + "; once it has gone, helmdrift fix makes it again"
	switch {
	case p.choice.object(o.Key) == outside:
		reason = notSelected
	case p.plan.comparison.Input.Terminating[o.Namespace]:
		reason = fmt.Sprintf("its namespace %q is being deleted", o.Namespace)
	}
	p.decline(o, "", reason)
}

// notMade says why a missing object is not made again; empty where it is.
func (p *planner) whyNotCreated(o *threeway.ObjectComparison) string {
	spec, _ := o.Content["spec"].(map[string]any)
	absence := p.plan.comparison.Input.Live[o.Ref].Absence
	switch {
	case p.choice.object(o.Key) == outside:
		return notSelected
	case p.choice.object(o.Key) == inPart:
		return "it is missing, and can only be made again as a whole"
	case absence == threeway.AbsentKind:
		return "the cluster does not serve its kind at " + o.APIVersion() + "; run helmdrift fix again once it does"
	case p.plan.comparison.Input.Terminating[o.Namespace]:
		return fmt.Sprintf("its namespace %q is being deleted, and takes nothing new", o.Namespace)
	case absence == threeway.AbsentNamespace && !p.createsNamespace(o.Namespace):
		return fmt.Sprintf("its namespace %q is not there", o.Namespace)
	case o.OfLast && !p.choice.isNamed(o.Key):
		return p.failedRevision() + " no longer has it" + p.undoFailedHint()
	case p.whyNoOwner() != "":
		return p.whyNoOwner()
	case o.Kind == "Job" && o.Group == "batch" && spec["ttlSecondsAfterFinished"] != nil && !p.choice.isNamed(o.Key):
		// Nobody comes here but with --no-default-ignores: to run a Job once more is more than to put it back.
		return fmt.Sprintf("it may have finished and expired (ttlSecondsAfterFinished); --only Job/%s makes it again", o.Name)
	}
	return ""
}

// makesNamespace tells whether the plan makes a namespace, which comes before all that is in it.
func (p *planner) createsNamespace(name string) bool {
	return slices.ContainsFunc(p.plan.Objects, func(o ObjectPlan) bool {
		return o.Create != nil && o.Ref.Kind == "Namespace" && o.Ref.Group == "" && o.Ref.Name == name
	})
}

// present plans an object that is there.
func (p *planner) planPresent(o *threeway.ObjectComparison) {
	drift, added := p.selected(o), p.additions(o)
	plan := ObjectPlan{Ref: o.Ref, ServerSide: p.serverSide(), Manager: p.managerOfValues(), Deployer: p.deployer, compared: o}
	if reason := p.whyNotWritable(&plan); reason != "" {
		if len(drift) > 0 {
			p.decline(o, "", reason)
			return
		}
		for _, f := range added {
			p.decline(o, p.id(o, f), reason)
		}
		return
	}
	b := &builder{planner: p, plan: &plan, compared: o}
	if b.build(drift, added); len(plan.Changes) > 0 || p.needsHandOver(&plan) {
		p.plan.Objects = append(p.plan.Objects, plan)
	}
}

// unfit looks at the live object, and says why it is not to be written to; empty where it may be.
func (p *planner) whyNotWritable(plan *ObjectPlan) string {
	source, known := p.plan.comparison.Repairable(plan.compared)
	if !known {
		return "it was not compared at " + plan.Ref.APIVersion() + ", as old's manifest has it"
	}
	metadata, _ := source.Live["metadata"].(map[string]any)
	plan.source = source
	plan.UID, _ = metadata["uid"].(string)
	if reason := p.whyNoOwner(); reason != "" {
		return reason
	}
	if plan.ServerSide {
		if err := plan.checkHandOver(source.Live); err != nil {
			return fmt.Sprintf("what would be put back could not be handed over to %s: %v", p.deployer, err)
		}
	}
	return ""
}

// leftBehind tells whether ownership alone is to be handed over: a repair that was broken off has put the values back.
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

// selected gives the drift of an object that is chosen. What is chosen in part is left.
func (p *planner) selected(o *threeway.ObjectComparison) []threeway.Finding {
	var out []threeway.Finding
	for _, f := range drifted(o.Findings) {
		switch p.choice.field(o.Key, f.Path) {
		case inside:
			if p.isOfFailed(o.Key, f) {
				p.decline(o, p.id(o, f), p.ofFailedReason(f))
				continue
			}
			if doubt := p.uncertainty(o, f); doubt != "" && reachOf(p.choice.only, o.Key, f.Path) != inside {
				p.decline(o, p.id(o, f), fmt.Sprintf("%s; --only %s/%s:%s puts it back", doubt, o.Kind, o.Name, p.shownPath(o, f.Path)))
				continue
			}
			out = append(out, f)
		case inPart:
			p.decline(o, p.id(o, f), "it can only be put back as a atomic: select "+p.shownPath(o, f.Path))
		case outside:
			p.decline(o, p.id(o, f), notSelected)
		}
	}
	return out
}

// doubt says what could not be read and makes it unsafe to put a field back, unless somebody asks for it; empty for most.
func (p *planner) uncertainty(o *threeway.ObjectComparison, f threeway.Finding) string {
	switch {
	case p.plan.comparison.MaybeAutoscaled(f):
		return "an autoscaler may set it, and autoscalers could not be read"
	case !p.plan.comparison.Described(o) && f.Path[0].Name != "metadata" && holdsList(f.Live):
		return "the definition of its kind could not be read, so its lists are one value each, and what others added to them would go"
	}
	return ""
}

// holdsList tells whether a value has a list in it.
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
