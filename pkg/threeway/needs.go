package threeway

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Needs names what more could be read to settle findings.
type Needs struct {
	// CRDs are kinds whose schema would tell defaults and list keys.
	CRDs []schema.GroupKind
	// Autoscalers are namespaces in which an autoscaler may own replicas that differ.
	Autoscalers []string
}

// Empty tells that nothing more is needed.
func (n Needs) Empty() bool { return len(n.CRDs) == 0 && len(n.Autoscalers) == 0 }

// Needs tells what more to read. What the input already holds, be it empty, is not asked for again.
func (c *Comparison) Needs() Needs {
	crds, namespaces := map[schema.GroupKind]bool{}, map[string]bool{}
	for _, o := range c.Objects {
		if len(o.Findings) == 0 {
			continue
		}
		kind := groupKind(o.Ref)
		if _, asked := c.Input.Schemas[kind]; !asked && nativeKinds().native(gvkOf(o.Ref)) == nil {
			crds[kind] = true
		}
		if c.Input.Autoscaled == nil && o.Namespace != "" && slices.ContainsFunc(o.Findings, isReplicas) {
			namespaces[o.Namespace] = true
		}
	}
	needs := Needs{Autoscalers: sortedKeys(namespaces)}
	for kind := range crds {
		needs.CRDs = append(needs.CRDs, kind)
	}
	slices.SortFunc(needs.CRDs, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	return needs
}

// isReplicas tells whether an autoscaler may have set the field.
func isReplicas(f Finding) bool { return f.Path.isReplicas() }

func (p Path) isReplicas() bool {
	return len(p) == 2 && p[0].Form == FieldStep && p[0].Name == "spec" && p[1].Form == FieldStep && p[1].Name == "replicas"
}
