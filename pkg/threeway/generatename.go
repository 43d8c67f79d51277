package threeway

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const emptyName = "resource name may not be empty"

// decideUnnamed compares the manifests of an object with generateName. It has no live state, so it cannot drift.
func (c *comparer) decideUnnamed(p pair, rules *ignore.ObjectRules) decision {
	var d decision
	if p.desired == nil {
		return d
	}
	if p.old != nil {
		if d.fields = c.compareFields(p, rules, c.helmText(p.old.Content), p.old.Content); d.unpatched != nil {
			d.Findings = nil
		}
	}
	for i := range d.Findings {
		d.Findings[i].Live, d.Findings[i].Owners = nil, nil
	}
	d.Live, d.Result, d.liveText = nil, nil, nil
	c.refuseUnnamed(&d, p)
	return d
}

// refuseUnnamed fails an object at the step in which Helm reads it without a name. An upgrade reads an object when it processes it (helm
// v3.22.0 pkg/kube/client.go update); Helm 3 reads a new one before that, to check its owner, at an install too (pkg/action/validate.go
// existingResourceConflict). Helm 4 does not (v4.3.1, the same function), so its install succeeds, except server-side: the API server
// generates no names for an apply.
func (c *comparer) refuseUnnamed(d *decision, p pair) {
	readsFirst := p.old == nil && c.in.Operation != report.OperationRollback && !c.in.helm4()
	switch {
	case readsFirst:
		d.fail(scopeAll, fmt.Sprintf("could not get information about the resource %s %q in namespace %q: %s", p.desired.Kind, "", p.desired.Namespace, emptyName))
	case c.in.Operation == report.OperationInstall && c.in.ServerSide():
		d.fail(scopeLater, fmt.Sprintf("server-side apply failed for object %s/ %s: %s", p.desired.Namespace, p.desired.GVK(), emptyName))
	case c.in.Operation == report.OperationInstall:
		d.action = report.ActionCreate
	default:
		d.fail(scopeLater, emptyName+": Helm cannot upgrade an object with generateName")
	}
}
