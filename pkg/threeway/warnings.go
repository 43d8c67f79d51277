package threeway

import (
	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// warnOfRepeated tells of such items of desired where Helm does not fail on them.
func (c *Comparison) warnOfRepeated() {
	var warnings []report.Message
	for i := range c.Objects {
		if o := &c.Objects[i]; len(o.repeated) > 0 && o.Action != report.ActionFail {
			warnings = append(warnings, report.Message{Code: "repeated-items", Object: o.key.String(),
				Message: "the manifest has more than one " + apiserver.JoinPaths(o.repeated) + "; Helm's server-side apply would refuse the object"})
		}
	}
	c.Input.Warnings = append(c.Input.Warnings[:len(c.Input.Warnings):len(c.Input.Warnings)], warnings...)
}

// noteTakenAway says why a field of a Service goes that the chart does not drop.
func noteTakenAway(o *ObjectComparison) {
	if !apiserver.ChangesService(o.Key, o.Live, o.Result) {
		return
	}
	for i := range o.Findings {
		f := &o.Findings[i]
		if f.Verdict == report.Remove && f.Note != "" && apiserver.DependsOnType(f.Path) {
			f.Note = "the API server drops it: a Service that is as the upgrade makes this one has no use for it"
		}
	}
}
