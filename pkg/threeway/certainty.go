package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// addUncertainties marks the verdicts that are not certain, each with the reason. If an object may fail because of one field, the changes
// of the other fields are not certain either.
func (o *fields) addUncertainties(uncertainties []engine.Uncertainty) {
	for _, d := range uncertainties {
		o.addVanishing(d)
		fails := d.Spreads && slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return f.Acts() && f.IsAffectedBy(d) })
		o.open = o.open || fails && o.conflict == "" || d.Clears && o.conflict != ""
		for i := range o.Findings {
			f := &o.Findings[i]
			if f.IsAffectedBy(d) || fails && f.Acts() {
				f.Certain = false
				f.Notes.Add(report.NoteUncertain, d.Reason)
			}
		}
	}
}

// addVanishing adds findings for fields that the write may remove.
func (o *fields) addVanishing(d engine.Uncertainty) {
	for _, path := range d.Vanishing {
		v, there := path.Lookup(o.Live)
		isKnown := slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return f.Path.Equal(path) })
		if there && !isKnown {
			o.Findings = append(o.Findings, verdict.Finding{
				Path: path, Classification: report.Classification{Verdict: report.Remove, Cause: report.CauseChange},
				Old: object.Copy(v), Live: object.Copy(v), Notes: report.Notes{{Kind: report.NoteUncertain, Text: d.Reason}},
			})
			o.Result, _ = object.Without(o.Result, path).(map[string]any)
		}
	}
	verdict.Sort(o.Findings)
}
