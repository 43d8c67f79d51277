package html

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// effect is what the write of an object means for pods and data.
type effect struct {
	Text     string   `json:"text"`
	Downtime bool     `json:"downtime,omitempty"`
	Lost     []string `json:"lost,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// These are the findings about whole objects. A finding that is an action has the name of the action.
const (
	wholeError       = "error"
	wholeMissing     = "missing"
	wholeTerminating = "terminating"
	wholeDisputed    = "disputed"
)

// whole returns what was found of an object as a whole, and its cause. The most urgent comes first: what could not be seen.
func whole(o report.Object) (finding, cause string) {
	switch {
	case o.Error != nil:
		return wholeError, ""
	case o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees:
		return wholeDisputed, ""
	case o.Action == report.ActionFail:
		return string(o.Action), ""
	case o.Missing:
		return wholeMissing, string(report.CauseDrift)
	case o.Terminating:
		return wholeTerminating, string(report.CauseDrift)
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
	var texts []string
	for _, note := range o.Notes {
		texts = append(texts, d.phrases.Message(report.Message{Message: note}))
	}
	if run := o.DryRun; run != nil && run.Result != report.DryRunAgrees {
		said := map[string]string{
			report.DryRunDisagrees: "the server disagrees; please report it", report.DryRunRefused: "the server could not be asked",
		}[run.Result]
		if run.Message != "" {
			said += ": " + d.phrases.Message(report.Message{Message: run.Message})
		}
		texts = append(texts, said)
	}
	if o.Controllers > 0 {
		texts = append(texts, fmt.Sprintf("%s owned by controllers, not listed", fields(o.Controllers)))
	}
	if o.Forgotten > 0 {
		texts = append(texts, fmt.Sprintf("%s by forgotten writers, not listed", fields(o.Forgotten)))
	}
	return texts
}

// fields counts fields.
func fields(n int) string {
	if n == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", n)
}

// effect returns what the write of an object means for pods and data.
func (d *data) effect(e *report.Effect) *effect {
	if e == nil {
		return nil
	}
	out := &effect{Text: d.phrases.Escape(forecast(e.Text, e.Inexact)), Downtime: e.Downtime}
	for _, text := range e.Lost {
		out.Lost = append(out.Lost, d.phrases.Escape(text))
	}
	for _, text := range e.Notes {
		out.Notes = append(out.Notes, d.phrases.Escape(text))
	}
	if e.RestartedAt != nil {
		out.Notes = append(out.Notes, "an edit restarted its pods at "+stamp(e.RestartedAt))
	}
	return out
}
