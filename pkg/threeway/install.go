package threeway

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// failDuplicateCreations fails the objects that the chart names more than once, and the namespace of the release if --create-namespace has
// created it. Client-side, Helm creates each of them, and the second creation finds the object of the first (helm v3.22.0
// pkg/kube/client.go Create, pkg/action/install.go RunWithContext). Server-side, each is an apply, which goes through.
func (c *Comparison) failDuplicateCreations() {
	for i := range c.Objects {
		o := &c.Objects[i]
		twice := o.Times > 1 || c.Input.CreateNamespace && o.Kind == "Namespace" && o.Group == "" && o.Name == c.Input.StorageNamespace
		if !twice || o.isDefinition() || o.Action != report.ActionCreate || c.Input.ServerSide() {
			continue
		}
		o.fail(scopeDeletions, apierrors.NewAlreadyExists(resourceOf(o.Ref), o.Name).Error())
	}
}

// applyInstallRules adapts the failures to an install. One that adopts nothing creates its objects kind by kind, those of a kind in
// parallel, and goes on after a failure (helm v3.22.0 pkg/kube/client.go Create, batchPerform). One that finds an object in the cluster,
// whether Helm adopts it or not, works as an upgrade does, which reads each object by its name (helm v4.3.1 pkg/action/install.go
// performInstall, toBeAdopted).
func (c *Comparison) applyInstallRules() {
	adopts := slices.ContainsFunc(c.Objects, func(o ObjectComparison) bool { return o.liveText != nil && !o.isDefinition() })
	for i := range c.Objects {
		if o := &c.Objects[i]; adopts && !o.isDefinition() && o.Name == "" && o.failure.scope < scopeRecord {
			o.fail(scopeLater, "could not get information about the resource: "+emptyName)
		}
	}
	if adopts {
		return
	}
	c.failDuplicateCreations()
	for i := range c.Objects {
		if c.Objects[i].failure.scope == scopeLater {
			c.Objects[i].failure.scope = scopeDeletions
		}
	}
}
