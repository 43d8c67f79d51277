package html

import (
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// effect is what the write of an object means for pods and data.
type effect struct {
	Text     string   `json:"text"`
	Downtime bool     `json:"downtime,omitempty"`
	Lost     []string `json:"lost,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// whole returns what was found of an object as a whole, and its cause. The most urgent comes first: what could not be seen. A finding that
// is an action has the name of the action.
func whole(o report.Object) (finding, cause string) {
	switch {
	case o.Error != nil:
		return "error", ""
	case o.Disputed():
		return "disputed", ""
	case o.Action == report.ActionFail:
		return string(o.Action), ""
	case o.Missing:
		return "missing", string(report.CauseDrift)
	case o.Terminating:
		return "terminating", string(report.CauseDrift)
	}
	switch o.Action {
	case report.ActionCreate, report.ActionDelete, report.ActionAdopt, report.ActionKeep, report.ActionSkip:
		return string(o.Action), string(report.CauseChange)
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionFail:
	}
	return "", ""
}

// objectRemarks returns what else is said of an object: its notes, the answer of the server, and what is not listed.
func (d *data) objectRemarks(o report.Object) []string {
	var texts layout.Clauses
	for _, note := range o.Notes {
		texts = append(texts, d.phrases.Message(note))
	}
	if run := o.DryRun; run != nil && run.Result != report.DryRunAgrees {
		said := map[string]string{
			report.DryRunDisagrees: "the server disagrees; please report it", report.DryRunRefused: "the server could not be asked",
		}[run.Result]
		if run.Result == report.DryRunDisagrees && !o.Disputed() {
			said = "the server disagrees, and the verdict is uncertain"
		}
		if run.Message != "" {
			said += ": " + d.phrases.Message(run.Message)
		}
		texts = append(texts, said)
	}
	texts.AddIf(o.Controllers > 0, english.Count(o.Controllers, "field")+" owned by controllers, not listed")
	texts.AddIf(o.Forgotten > 0, english.Count(o.Forgotten, "field")+" whose writer the API server no longer records: not listed")
	return texts
}

// effect returns what the write of an object means for pods and data.
func (d *data) effect(e *report.Effect) *effect {
	if e == nil {
		return nil
	}
	escaped := e.Map(d.phrases.Escape)
	out := &effect{
		Text: d.phrases.Escape(forecast(e.Text, e.Inexact)), Downtime: e.Downtime, Lost: escaped.Lost, Notes: escaped.Notes,
	}
	if e.RestartedAt != nil {
		out.Notes = append(out.Notes, "an edit restarted its pods at "+stamp(e.RestartedAt))
	}
	return out
}
