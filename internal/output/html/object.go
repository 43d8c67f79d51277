package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// object is what the page says of an object.
type object struct {
	// Release is the index of its release, and ID stands for the object in links.
	Release int    `json:"release"`
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Fate    string `json:"fate"`
	// Whole is what was found of the object as a whole, and Cause is its cause, as for a field; both are empty for most.
	Whole    string  `json:"whole,omitempty"`
	Cause    string  `json:"cause,omitempty"`
	Drifted  bool    `json:"drifted,omitempty"`
	Silenced bool    `json:"silenced,omitempty"`
	Source   string  `json:"source,omitempty"`
	Remarks  []int   `json:"remarks,omitempty"`
	Effect   *effect `json:"effect,omitempty"`
	Fields   []field `json:"fields,omitempty"`
}

// effect is what the write of an object means for pods and data.
type effect struct {
	Text     string   `json:"text"`
	Downtime bool     `json:"downtime,omitempty"`
	Lost     []string `json:"lost,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// field is a finding. A side without the field has no key. Desired is true if the desired value equals the old one.
type field struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	Verdict  string `json:"verdict"`
	Cause    string `json:"cause"`
	Drifted  bool   `json:"drifted,omitempty"`
	Silenced bool   `json:"silenced,omitempty"`
	Masked   bool   `json:"masked,omitempty"`
	// Unmanaged is set if no manifest names the field.
	Unmanaged bool  `json:"unmanaged,omitempty"`
	Old       any   `json:"old,omitempty"`
	Desired   any   `json:"desired,omitempty"`
	Live      any   `json:"live,omitempty"`
	Owners    []int `json:"owners,omitempty"`
	Remarks   []int `json:"remarks,omitempty"`
	// Format is the format of the sides if they are documents, and Inside has the indexes of what differs inside them.
	Format string `json:"format,omitempty"`
	Inside []int  `json:"inside,omitempty"`
	// Marked are the lines of the sides that differ. It is nil if no side has several lines.
	Marked *marked `json:"marked,omitempty"`
}

// These are the findings about whole objects. A finding that is an action has the name of the action.
const (
	wholeError       = "error"
	wholeMissing     = "missing"
	wholeTerminating = "terminating"
	wholeDisputed    = "disputed"
)

// object returns what the page says of an object of the release with the index.
func (d *data) object(release int, o report.Object, r report.Release) object {
	escape, said := d.phrases.Escape, d.phrases.Object(o, r)
	id := escape(o.ID)
	if id == "" { // reports of early versions
		id = "object"
	}
	out := object{
		Release: release, ID: unique(d.objectIDs, fmt.Sprint(release, " ", id))[len(fmt.Sprint(release, " ")):],
		Kind: said.Kind, Name: said.Name, Fate: said.Fate, Drifted: o.Drifted, Source: escape(o.Source), Effect: d.effect(o.Effect),
		Remarks: d.remarks(d.objectRemarks(o)),
	}
	out.Whole, out.Cause = whole(o)
	out.Silenced = out.Whole != "" && out.Whole != wholeError && (o.IgnoredBy != nil || o.Known)
	for _, f := range o.Fields {
		out.Fields = append(out.Fields, d.field(f))
	}
	return out
}

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

// field returns a finding.
func (d *data) field(f report.Finding) field {
	escape := d.phrases.Escape
	out := field{
		ID: escape(f.ID), Path: escape(f.Path), Verdict: escape(string(f.Verdict)), Cause: escape(string(f.Cause)), Drifted: f.Drifted(),
		Silenced: f.Silenced(), Masked: f.Masked, Unmanaged: !f.Managed, Remarks: d.remarks(d.phrases.Remarks(f)),
	}
	if !f.Masked {
		out.Old, out.Desired, out.Live = d.side(f.Old), d.side(f.Desired), d.side(f.Live)
		if out.Old != nil && out.Old == out.Desired {
			out.Desired = true
		}
		out.mark()
	}
	if f.Inside != nil {
		out.Format, out.Inside = escape(f.Inside.Format), d.remarks(d.phrases.Inside(f))
	}
	for _, o := range f.Owners {
		out.Owners = append(out.Owners, d.owner(o))
	}
	return out
}

// lines is a string of several lines, and tree a list or a map as indented JSON. Every other value is a text of one line.
type (
	lines struct {
		Lines string `json:"lines"`
	}
	tree struct {
		Tree string `json:"tree"`
	}
)

// side returns a value of a finding as the data has it; nil if the side lacks the field. Two sides are equal if they are written alike.
func (d *data) side(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		// Only text in quotes has escapes, so a text that needs one is written on one line.
		if escaped := d.escapeLines(v); strings.Contains(strings.TrimSuffix(v, "\n"), "\n") && escaped == v {
			return lines{escaped}
		}
	case map[string]any, []any:
		if text, ok := indented(v); ok {
			return tree{d.escapeLines(text)}
		}
	}
	return d.phrases.Value(value)
}

// escapeLines escapes each line of a text.
func (d *data) escapeLines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = d.phrases.Escape(all[i])
	}
	return strings.Join(all, "\n")
}

// indented returns a value as indented JSON. It returns false for a value that no API server can have sent.
func indented(value any) (string, bool) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}
