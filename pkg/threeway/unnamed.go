package threeway

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const noName = "resource name may not be empty"

// compareUnnamed compares the texts of an object that asks the server for a name. It has no live side, so it cannot drift.
func (c comparer) compareUnnamed(out *ObjectComparison, p pair) {
	if p.desired == nil {
		return
	}
	if p.old != nil {
		if err := c.compareFields(out, p, object.HelmMetadata(p.old.Content, c.in.Name, c.in.Namespace), p.old.Content); err != nil {
			out.Findings = nil
		}
	}
	for i := range out.Findings {
		out.Findings[i].Live, out.Findings[i].Owners = nil, nil
	}
	out.Live, out.Result, out.liveText = nil, nil, nil
	c.refuseUnnamed(out, p)
}

// refuseUnnamed says where Helm ends when it asks the cluster for an object without a name. An upgrade asks when it comes to the
// object (helm v3.22.0 pkg/kube/client.go update); Helm 3 asks for a new one before that, to see who owns it, at an install too
// (pkg/action/validate.go existingResourceConflict). Helm 4 does not (v4.3.1, the same function), so its install goes through, but
// for a server-side one: the API server makes up no names for an apply.
func (c comparer) refuseUnnamed(out *ObjectComparison, p pair) {
	asksFirst := p.old == nil && c.in.Operation != report.OperationRollback && !c.in.helm4()
	switch {
	case asksFirst:
		out.fail(stopAll, fmt.Sprintf("could not get information about the resource %s %q in namespace %q: %s", out.Kind, "", out.Namespace, noName))
	case c.in.Operation == report.OperationInstall && c.in.serverSide():
		out.fail(stopRest, fmt.Sprintf("server-side apply failed for object %s/ %s: %s", out.Namespace, out.GVK(), noName))
	case c.in.Operation == report.OperationInstall:
		out.Action = report.ActionCreate
	default:
		out.fail(stopRest, noName+": Helm cannot upgrade an object with generateName")
	}
}
