package threeway

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// warnOfDuplicates warns of duplicate items of desired on which Helm does not fail.
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

// subject returns an object in the form in which the rules of what to ignore are matched with it.
func (c *Comparison) subject(o *ObjectComparison) ignore.Subject {
	out := ignore.Subject{
		Ref: o.Ref, Shape: c.job.writer.ShapeOf(o.Ref), Live: o.liveText,
		Metas:  []map[string]any{object.Child(o.liveText, "metadata"), object.Child(o.Content, "metadata"), object.Child(o.desiredText, "metadata")},
		Texts:  []map[string]any{o.liveText, o.Live, o.Old, o.Desired, o.Content},
		States: []any{o.Live, o.Old, o.Desired},
	}
	for _, f := range o.Findings {
		out.Findings = append(out.Findings, f.Path)
	}
	return out
}

// WarnDeployer is the code of the warning that the field manager of a release is not known.
const WarnDeployer = "deployer-unknown"

// warnOfDeployer warns that server-side applies may be predicted under the wrong field manager.
func (c *Comparison) warnOfDeployer() {
	if !c.Input.ServerSide() {
		return
	}
	if d := c.Deployer(); !d.Known && len(d.Others) > 0 {
		c.warn(report.Message{Code: WarnDeployer,
			Message: fmt.Sprintf("%s; what the upgrade does is predicted for %s", d.Uncertainty(), d.Manager)})
	}
}
