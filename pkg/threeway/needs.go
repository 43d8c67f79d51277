package threeway

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Needs lists what could be read to make findings more certain.
type Needs struct {
	// CRDs are kinds whose schema is needed for defaults and list keys.
	CRDs []schema.GroupKind
	// ApplyTypes are groups and versions whose OpenAPI document is needed to apply custom resources server-side.
	ApplyTypes []schema.GroupVersion
	// Autoscalers are namespaces where an autoscaler may own replicas that differ.
	Autoscalers []string
}

// Empty reports whether nothing more is needed.
func (n Needs) Empty() bool { return len(n.CRDs)+len(n.ApplyTypes)+len(n.Autoscalers) == 0 }

// Needs returns what should be read. It does not list what the input already holds, even if that is empty.
func (c *Comparison) Needs() Needs {
	namespaces := map[string]bool{}
	var needs Needs
	for _, o := range c.Objects {
		kind := o.GroupKind()
		_, asked := c.job.in.Schemas[kind]
		if !asked && c.job.writer.ShapeOf(o.Ref).Custom && o.needsSchema() && !slices.Contains(needs.CRDs, kind) {
			needs.CRDs = append(needs.CRDs, kind)
		}
		// A failed revision may have left a list item that only the schema distinguishes.
		if len(o.Findings) == 0 && !o.moves && !o.hasRepairerEntry() && !o.isCreated() && c.Input.LastObjects == nil {
			continue
		}
		applied := o.Engine == report.EngineApply || o.isCreated() && c.Input.ServerSide()
		gv := o.GVK().GroupVersion()
		_, tried := c.Input.ApplyTypes[gv]
		if applied && !kinds.NativeApply().Scheme.Recognizes(o.GVK()) && !tried && !slices.Contains(needs.ApplyTypes, gv) {
			needs.ApplyTypes = append(needs.ApplyTypes, gv)
		}
		if c.Input.Autoscaled == nil && o.Namespace != "" &&
			slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return verdict.IsReplicas(f.Path) }) {
			namespaces[o.Namespace] = true
		}
	}
	needs.Autoscalers = object.SortedKeys(namespaces)
	order.Sort(needs.CRDs, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	return needs
}

// needsSchema reports whether the schema of a custom resource would make the answer better: the object differs, or it is created.
func (o ObjectComparison) needsSchema() bool {
	return o.wantsSchema || o.moves || len(o.Findings) > 0 || o.isCreated()
}

// MaybeAutoscaled reports whether an autoscaler that could not be read may have set the field.
func (c *Comparison) MaybeAutoscaled(f verdict.Finding) bool {
	return c.Input.AutoscalersUnseen && verdict.IsReplicas(f.Path)
}

// failOnUnseenAutoscalers adds an error for each object whose replicas at 0 would be drift if an autoscaler that could not be read scales
// it. Replicas that the manifest names are drift without an autoscaler too, so they need no error.
func (c *Comparison) failOnUnseenAutoscalers() {
	if !c.Input.AutoscalersUnseen {
		return
	}
	for i := range c.Objects {
		if o := &c.Objects[i]; slices.ContainsFunc(o.Findings, verdict.Finding.MaySwitchOff) {
			c.Errors = append(c.Errors, report.Message{Code: report.CodeAutoscalers, Object: o.key.String(),
				Message: "spec.replicas is 0 and no manifest names it. That is drift if an autoscaler that does not scale to 0 scales the object, " +
					"and autoscalers could not be read"})
		}
	}
}

// failOnUnseenDefinitions adds an error for each custom resource whose definition could not be read, if the definition could decide
// something: whether a difference is a default of the schema, whether the schema allows an object that Helm writes, or whether an object
// was written at a version that is gone, so that the API server refuses an apply.
func (c *Comparison) failOnUnseenDefinitions() {
	for i := range c.Objects {
		o := &c.Objects[i]
		differs := o.wantsSchema || o.Action.Writes() || slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return f.Managed })
		if (c.Input.SchemasUnread[o.GroupKind()] || c.job.unread[o.GroupKind()]) && differs {
			c.Errors = append(c.Errors, report.Message{Code: report.CodeDefinition, Object: o.key.String(),
				Message: "its definition could not be read, so nobody knows which differences are defaults, " +
					"and whether the API server accepts the object"})
		}
	}
}

// hasRepairerEntry reports whether an interrupted repair has left its entry in the managedFields of an object that is applied server-side.
func (o *ObjectComparison) hasRepairerEntry() bool {
	isRepairer := func(e owners.Entry) bool { return e.Manager == owners.Repairer && e.Operation == "Update" }
	return o.Engine == report.EngineApply && slices.ContainsFunc(owners.Entries(o.liveText, nil), isRepairer)
}

// warnOfDuplicates warns of duplicate items of desired that Helm does not fail on.
func (c *Comparison) warnOfDuplicates() {
	for i := range c.Objects {
		if o := &c.Objects[i]; len(o.duplicates) > 0 && o.Action != report.ActionFail {
			c.warn(report.Message{Code: "repeated-items", Object: o.key.String(),
				Message: "the manifest has more than one " + apiserver.JoinPaths(o.duplicates) + "; Helm's server-side apply would refuse the object"})
		}
	}
}

// warnOfRules warns of rules that match nothing, and of annotations that are no rules.
func (c *Comparison) warnOfRules() {
	if len(c.Input.Rules) > 0 {
		subjects := make([]ignore.Subject, len(c.Objects))
		for i := range c.Objects {
			subjects[i] = c.subject(&c.Objects[i])
		}
		c.warn(ignore.IdleWarnings(c.Input.Rules, c.Input.Name, subjects)...)
	}
	for _, o := range c.Objects {
		for _, remark := range o.remarks {
			c.warn(report.Message{Code: ignore.WarningCode, Object: o.key.String(), Message: remark})
		}
	}
}

// subject returns an object in the form that ignore rules are matched with.
func (c *Comparison) subject(o *ObjectComparison) ignore.Subject {
	out := ignore.Subject{
		Ref: o.Ref, Shape: c.job.writer.ShapeOf(o.Ref), Live: o.liveText,
		Metas: []map[string]any{
			object.Child(o.liveText, "metadata"), object.Child(o.Content, "metadata"), object.Child(o.desiredText, "metadata"),
		},
		Texts:  []map[string]any{o.liveText, o.Live, o.Old, o.Desired, o.Content},
		States: []any{o.Live, o.Old, o.Desired},
	}
	for _, f := range o.Findings {
		out.Findings = append(out.Findings, f.Path)
	}
	return out
}

// warnOfDeployer warns that server-side applies may be predicted under the wrong field manager.
func (c *Comparison) warnOfDeployer() {
	if !c.Input.ServerSide() {
		return
	}
	if d := c.Deployer(); !d.Known && len(d.Others) > 0 {
		c.warn(report.Message{Code: "deployer-unknown",
			Message: fmt.Sprintf("%s; what the upgrade does is predicted for %s", d.Uncertainty(), d.Manager)})
	}
}
