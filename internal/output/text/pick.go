package text

import (
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// FixPick returns the question for one part of a plan: a field of an object, or the object as a whole. The cursor stays behind it.
func FixPick(r *report.FixResult, part report.FixPlan, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	part.Effect = nil // the plan has shown it
	t.plannedObject(part, layout.Scope{Namespace: r.Namespace, Versions: r.Versions})
	question := "Put this back?"
	switch {
	case part.Create:
		question = "Create this object?"
	case len(part.Prune) > 0:
		question = "Remove this?"
	case part.HandOver:
		question = "Hand this over?"
	}
	t.Prose(question + layout.PickAnswers)
	return append(t.Out.Bytes()[:t.Out.Len()-1], ' ')
}
