package drift

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// forecast predicts what the writes of a comparison mean for pods.
func (c *Comparer) forecast(ctx context.Context, comparison *threeway.Comparison) effect.Effects {
	o := effect.Operation{Autoscaled: comparison.Input.Autoscaled, AutoscalersUnseen: comparison.Input.AutoscalersUnseen}
	for i := range comparison.Objects {
		o.Objects = append(o.Objects, writeOf(&comparison.Objects[i], comparison))
	}
	out := c.Predict(ctx, o)
	if at := slices.IndexFunc(comparison.Objects, mayFail); c.options.Forecast != nil && at >= 0 {
		out.Unread = append(out.Unread, "whether the operation fails on "+comparison.Objects[at].Key.String()+" is not known")
	}
	return out
}

// mayFail reports whether it is not certain that an operation fails on an object. If it does not, it goes on, and writes what is predicted
// to stay.
func mayFail(o threeway.ObjectComparison) bool {
	return o.Action == report.ActionFail && slices.ContainsFunc(o.Findings, func(f threeway.Finding) bool { return f.Acts() && !f.Certain })
}

// Predict predicts what an operation, such as that of a repair.Plan, means for pods. It calls Options.Forecast and fills in Now.
func (c *Comparer) Predict(ctx context.Context, o effect.Operation) effect.Effects {
	if c.options.Forecast == nil {
		return effect.Effects{}
	}
	o.Now = c.connection.Time
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return c.options.Forecast(ctx, c.connection.Cluster, o)
}

// writeOf returns an object before and after Helm's write.
func writeOf(o *threeway.ObjectComparison, c *threeway.Comparison) effect.Write {
	out := effect.Write{
		Ref: o.Ref, Action: o.Action, Live: c.Input.Live[o.Ref].Object, Before: o.Live, After: o.Result, Deployed: o.Old,
		TemplateEdited: templateEdited(o), Doubt: doubt(o, c),
	}
	normal := kinds.NewNormalizer(o.Key, kinds.Native().Shape(o.GVK()), out.Live)
	if out.Before == nil && out.Live != nil {
		out.Before = normal.Stored(out.Live).Object()
	}
	switch o.Action {
	case report.ActionCreate:
		out.Before, out.After = nil, normal.Manifest(o.Content).Object()
	case report.ActionDelete:
		out.After = nil
	case report.ActionNone, report.ActionKeep, report.ActionFail, report.ActionSkip:
		out.After = out.Before
	case report.ActionUpdate, report.ActionReplace, report.ActionAdopt:
	}
	return out
}

// templateEdited returns when the live pod template, or the spec of a Pod, last drifted. It returns zero if it did not, or if nobody knows
// when. Another spelling of a value, or a value that a controller fills in, does not count.
func templateEdited(o *threeway.ObjectComparison) time.Time {
	var last time.Time
	template := object.Path{{Name: "spec"}, {Name: "template"}}
	if o.GroupKind() == (schema.GroupKind{Kind: "Pod"}) {
		template = template[:1]
	}
	for _, f := range o.Findings {
		isEdit := f.Cause != report.CauseChange && !f.Equivalent && f.Class != report.ClassAllocated
		if !isEdit || !f.Path.HasPrefix(template) {
			continue
		}
		for _, owner := range f.Owners {
			if owner.Time != nil && owner.Time.After(last) {
				last = *owner.Time
			}
		}
	}
	return last
}

// doubt returns why the object after the write is not certain, or "" if it is.
func doubt(o *threeway.ObjectComparison, c *threeway.Comparison) string {
	if o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees {
		return "the server disagrees about what the write leaves"
	}
	for _, f := range o.Findings {
		if !f.Certain && f.Path[0].Name == "spec" {
			return "it is not certain what becomes of " + c.ShownPath(o, f.Path).String()
		}
	}
	return ""
}
