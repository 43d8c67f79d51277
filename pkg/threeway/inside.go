package threeway

import (
	"cmp"
	"encoding/base64"

	"github.com/helmdrift/helmdrift/internal/document"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// inside returns what differs inside the documents that the sides of a finding are; nil if they are none. It is not called for a masked
// finding: names in a document that holds a secret may be secret too, and what a masked snapshot has may have another structure.
func (o *ObjectComparison) inside(f verdict.Finding, mask *masker) *report.Inside {
	if !o.holdsDocuments(f.Path) {
		return nil
	}
	isData := o.Kind == "Secret" && o.Group == "" && f.Path[0].Name == "data"
	var texts document.Sides[*string]
	for i, side := range [...]any{document.Old: f.Old, document.Desired: f.Desired, document.Live: f.Live} {
		if side == nil {
			continue
		}
		text, isText := side.(string)
		if isData {
			raw, err := base64.StdEncoding.DecodeString(text)
			text, isText = string(raw), isText && err == nil
		}
		if !isText {
			return nil
		}
		texts[i] = &text
	}
	d, ok := document.Compare(f.Path[len(f.Path)-1].Name, texts)
	if !ok {
		return nil
	}
	out := &report.Inside{Format: string(d.Format), OnlyFormatting: len(d.Changes) == 0, More: d.More}
	within := mask.within(d.Roots)
	for _, c := range d.Changes {
		out.Changes = append(out.Changes, within.change(c))
	}
	return out
}

// holdsDocuments reports whether people keep documents at a path: an entry of a ConfigMap or Secret, an annotation, or a field of a custom
// resource.
func (o *ObjectComparison) holdsDocuments(path object.Path) bool {
	if len(path) == 0 || path[len(path)-1].Form != object.FieldStep {
		return false
	}
	isCore := o.Group == ""
	switch {
	case len(path) > 2 && path[len(path)-2].Name == "annotations" && path[len(path)-3].Name == "metadata":
		return true
	case isCore && o.Kind == "ConfigMap":
		return len(path) == 2 && path[0].Name == "data"
	case isCore && o.Kind == "Secret":
		return len(path) == 2 && (path[0].Name == "data" || path[0].Name == "stringData")
	}
	return path[0].Name != "metadata" && kinds.Native().Shape(o.GVK()) == nil
}

// within returns the masker of documents, which are readable except for what their own names and texts announce.
func (m *masker) within(roots document.Sides[any]) *masker {
	out := &masker{showsAll: m.showsAll, known: m.known}
	out.states = []namedState{{"", roots[document.Live]}, {"desired", roots[document.Desired]}, {"old", roots[document.Old]}}
	return out
}

// change returns a change inside a document as a report has it. A dot is the document itself.
func (m *masker) change(c document.Change) report.InsideChange {
	out := report.InsideChange{Path: cmp.Or(m.shownPath(c.Path).String(), "."), Change: string(c.Kind), Cause: report.CauseDrift}
	switch {
	case c.Live && c.Desired:
		out.Cause = report.CauseBoth
	case c.Desired:
		out.Cause = report.CauseChange
	}
	place := m.placeAt(c.Path)
	for _, v := range c.Values {
		out.Masked = out.Masked || !m.showsAll && (place.Holds(v) || m.known.Holds(v))
	}
	if !out.Masked {
		out.Old, out.Desired, out.Live = c.Values[document.Old], c.Values[document.Desired], c.Values[document.Live]
	}
	return out
}
