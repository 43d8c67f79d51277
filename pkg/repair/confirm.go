package repair

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// didNotStay is the reason for a repair that somebody undid.
const didNotStay = "it was put back and did not stay: something writes the drift back"

// Confirmed checks the outcomes of a run against the comparison made after it. It declines a fixed object if a planned field has drifted
// again, or a pruned field is there again. A controller that writes the drift back does so a moment after the repair, when Run has already
// seen the value in place.
func (p *Plan) Confirmed(outcomes []report.FixOutcome, after *threeway.Comparison) []report.FixOutcome {
	out := slices.Clone(outcomes)
	for i, outcome := range out {
		planned := slices.IndexFunc(p.Objects, func(o ObjectPlan) bool { return o.Ref.Key == outcome.Object.Key })
		if planned < 0 || outcome.Status != report.FixFixed {
			continue
		}
		if fields, again := p.Objects[planned].driftedAgain(after); again {
			out[i].Status, out[i].Reason, out[i].Fields = report.FixDeclined, didNotStay, fields
		}
	}
	return out
}

// driftedAgain returns the planned fields that have drifted again. Again is also true if the whole object is missing or being deleted.
func (o *ObjectPlan) driftedAgain(after *threeway.Comparison) (fields []string, again bool) {
	i := slices.IndexFunc(after.Objects, func(c threeway.ObjectComparison) bool { return c.Key == o.Ref.Key })
	if i < 0 {
		return nil, false
	}
	drift := object.Filter(after.Objects[i].Findings, threeway.Finding.Drifted)
	now, known := after.Repairable(&after.Objects[i])
	for _, c := range o.Changes {
		same := func(f threeway.Finding) bool { return f.Path.Equal(c.Path) }
		if slices.ContainsFunc(drift, same) || c.kind == prune && known && !o.isPruned(c, now.Live) {
			fields = append(fields, c.ID)
		}
	}
	return fields, len(fields) > 0 || after.Objects[i].Gone()
}
