package threeway

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Needs names what more could be read to settle findings.
type Needs struct {
	// CRDs are kinds whose schema would tell defaults and list keys.
	CRDs []schema.GroupKind
	// ApplyTypes are groups and versions whose OpenAPI document would tell how custom resources are applied server-side.
	ApplyTypes []schema.GroupVersion
	// Autoscalers are namespaces in which an autoscaler may own replicas that differ.
	Autoscalers []string
}

// Empty is set if nothing more is needed.
func (n Needs) Empty() bool { return len(n.CRDs)+len(n.ApplyTypes)+len(n.Autoscalers) == 0 }

// Needs tells what more to read. What the input already holds, be it empty, is not asked for again.
func (c *Comparison) Needs() Needs {
	crds, namespaces := map[schema.GroupKind]bool{}, map[string]bool{}
	var needs Needs
	for _, o := range c.Objects {
		kind := o.GroupKind()
		if _, asked := c.Input.Schemas[kind]; !asked && kinds.Native().Shape(o.GVK()) == nil && o.needsSchema() {
			crds[kind] = true
		}
		// What a failed revision left may be an item of a list that nothing but the schema tells apart.
		if len(o.Findings) == 0 && !o.hasRepairerEntry() && !o.isCreated() && c.Input.LastObjects == nil {
			continue
		}
		applied := o.Engine == report.EngineApply || o.isCreated() && c.Input.serverSide()
		if gv := o.GVK().GroupVersion(); applied && !kinds.NativeApply().Scheme.Recognizes(o.GVK()) && !c.hasApplyTypes(gv) &&
			!slices.Contains(needs.ApplyTypes, gv) {
			needs.ApplyTypes = append(needs.ApplyTypes, gv)
		}
		if c.Input.Autoscaled == nil && o.Namespace != "" && slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return verdict.IsReplicas(f.Path) }) {
			namespaces[o.Namespace] = true
		}
	}
	needs.Autoscalers = object.SortedKeys(namespaces)
	for kind := range crds {
		needs.CRDs = append(needs.CRDs, kind)
	}
	slices.SortFunc(needs.CRDs, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	return needs
}

// needsSchema reports whether what the API knows of a custom resource would make the answer better: it differs, or it is created, and
// its schema says what the server makes of it.
func (o ObjectComparison) needsSchema() bool {
	return o.wantsSchema || len(o.Findings) > 0 || o.isCreated()
}

// hasApplyTypes reports whether a document was read, or could not be.
func (c *Comparison) hasApplyTypes(gv schema.GroupVersion) bool {
	_, asked := c.Input.ApplyTypes[gv]
	return asked
}

// MaybeAutoscaled reports whether an autoscaler that could not be seen may have set the field.
func (c *Comparison) MaybeAutoscaled(f verdict.Finding) bool {
	return c.Input.AutoscalersUnseen && verdict.IsReplicas(f.Path)
}

// hasRepairerEntry reports whether a repair that was broken off has left its name on an object of a release that is applied server-side.
func (o *ObjectComparison) hasRepairerEntry() bool {
	isRepairer := func(e owners.Entry) bool { return e.Manager == owners.Repairer && e.Operation == "Update" }
	return o.Engine == report.EngineApply && slices.ContainsFunc(owners.Entries(o.liveText, nil), isRepairer)
}
