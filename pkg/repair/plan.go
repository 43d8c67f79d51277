package repair

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Options says what to plan.
type Options struct {
	// Only restricts the plan to what these selectors name; no selector means everything. Skip excludes what its selectors name.
	Only, Skip []Selector
	// Prune also removes what no manifest names and a person added.
	Prune bool
	// NoRestart leaves out changes that restart pods, or may. It needs Forecast to find them; Forecast reads nothing for this.
	NoRestart bool
	Forecast  effect.Forecast
	// Allow lists the namespaces, besides the release's own, where missing objects are created; Cluster allows it for cluster-scoped
	// ones. Asks plans all of them: the plan marks them, and somebody is asked to confirm it.
	Allow []string
	Asks  bool
	// Revision says that the user named the revision. Then missing objects are created even if Helm never deployed that revision.
	Revision bool
	// Manager is the deployer, the field manager that writes the release. If it is empty, the cluster shows the deployer.
	Manager string
}

// New plans the repair of a release: everything that drifted in c and can be put back. The comparison c must be of the release with its
// own record. Drift that is not in the plan is Declined, with the reason. The plan refers to c, and neither is safe for concurrent use.
//
// It is an error if c compares with a chart or another revision, or if it does not have what a selector names.
func New(c *threeway.Comparison, o Options) (*Plan, error) {
	if c.Input.Operation != report.OperationDrift {
		return nil, fmt.Errorf("a repair needs a comparison of a release with itself, not with a chart or another revision")
	}
	if o.NoRestart && o.Forecast == nil {
		return nil, errors.New("a repair that restarts nothing needs a forecast of what restarts")
	}
	chosen, err := choice{o.Only, o.Skip}.checked(c)
	if err != nil {
		return nil, err
	}
	p := &planner{Options: o, plan: &Plan{comparison: c}, choice: chosen, deployer: o.Manager}
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

// planObject plans one object. It leaves an object that a rule ignores without a reason; if the object is missing, a selector can
// still name it.
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
	if reason := p.whyNotCreated(o); reason != "" {
		p.decline(o, "", reason)
		return
	}
	plan := p.newPlan(o)
	plan.Create, plan.Outside = object.HelmMetadata(o.Content, plan.release.Name, plan.release.Namespace), p.isOutside(o.Key)
	p.plan.Objects = append(p.plan.Objects, plan)
}

// declineTerminating declines an object that is being deleted: a write would be lost with it, and nobody can create it again while it
// exists.
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

// whyNotCreated returns why a missing object is not created, or "" if it is.
func (p *planner) whyNotCreated(o *threeway.ObjectComparison) string {
	spec := object.Child(o.Content, "spec")
	absence := p.plan.comparison.Input.Live[o.Ref].Absence
	reason := cmp.Or(p.neverDeployed(o), p.whyNotCreatedOutside(o.Key), p.whyNoOwner())
	switch {
	case p.choice.object(o.Key) == outside:
		return notSelected
	case p.choice.object(o.Key) == inPart:
		return "it is missing, and can only be created as a whole"
	case absence == cluster.AbsentKind:
		return "the cluster does not serve its kind at " + o.APIVersion() + "; run helmdrift fix again once it does"
	case p.plan.comparison.Input.Terminating[o.Namespace]:
		return fmt.Sprintf("its namespace %q is being deleted, and accepts no new objects", o.Namespace)
	case absence == cluster.AbsentNamespace && !p.plan.createsNamespace(o.Namespace):
		return fmt.Sprintf("its namespace %q does not exist", o.Namespace)
	case o.OfLast && !p.choice.isNamed(o.Key):
		return p.failedRevision() + " no longer has it" + p.undoFailedHint()
	case reason != "":
		return reason
	case o.Uncreatable != "" && !p.choice.isNamed(o.Key):
		return fmt.Sprintf("the API server would refuse it: %s; --only %s/%s tries it", o.Uncreatable, o.Kind, o.Name)
	case o.Kind == "Job" && o.Group == "batch" && spec["ttlSecondsAfterFinished"] != nil && !p.choice.isNamed(o.Key):
		// This happens only with --no-default-ignores. Creating the Job would run its work once more, which is more than
		// putting it back.
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
	plan := p.newPlan(o)
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
	b := builder{
		planner: p, plan: &plan, compared: o, ignored: object.Filter(o.Findings, isIgnored),
		failed: object.Filter(o.Findings, func(f threeway.Finding) bool { return p.isOfFailed(o.Key, f) }),
	}
	// Plan an object without a change too, if an earlier run has left its ownership with the repairer.
	if b.build(drift, added); len(plan.Changes) > 0 || p.needsHandOver(&plan) {
		p.plan.Objects = append(p.plan.Objects, plan)
	}
}

// whyNotWritable reads the live object into the plan. It returns why nothing may be written to it, or "" if writing is allowed.
func (p *planner) whyNotWritable(plan *ObjectPlan) string {
	source, known := p.plan.comparison.Repairable(plan.compared)
	if !known {
		return "it was not compared at " + plan.Ref.APIVersion() + ", the version of the manifest"
	}
	plan.source = source
	plan.UID, _ = object.Child(source.Live, "metadata")["uid"].(string)
	if reason := cmp.Or(p.whyNotOurs(plan.compared), p.whyNoOwner()); reason != "" {
		return reason
	}
	if plan.ServerSide {
		h := handOver{plan: plan, entries: plan.entriesOf(source.Live)}
		if _, err := h.applied(); err != nil {
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
