package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// section is a number of findings that stand under one label in the same columns.
type section struct {
	// label says what the findings have in common. It is empty if columns or headline say so.
	label   string
	columns columns
	fields  []report.Finding
	// leads stand before the findings, and asides behind them if there is room. Only groups have them.
	leads, asides []string
}

// driftSection returns all findings of an object in a report of drift. If the record itself would change one of them, all show desired.
func driftSection(fields []report.Finding) section {
	if slices.ContainsFunc(fields, func(f report.Finding) bool { return f.Cause != report.CauseDrift }) {
		return section{columns: oldDesiredLive, fields: fields}
	}
	return section{columns: oldLive, fields: fields}
}

// previewSections separates what drifted from what the operation changes, and from what is silenced. What drifted comes first, because the
// operation may destroy it. A change that meets an edit is among it.
func previewSections(o report.Object) []section {
	drifted := section{label: "unmanaged:", columns: oldDesiredLive}
	changing, silenced := section{columns: oldDesired}, section{columns: oldDesired}
	for _, f := range o.Fields {
		switch {
		case f.Silenced():
			silenced.fields = append(silenced.fields, f)
			if f.Cause != report.CauseChange {
				silenced.columns = oldDesiredLive
			}
		case f.Cause == report.CauseChange:
			changing.fields = append(changing.fields, f)
		default:
			drifted.fields = append(drifted.fields, f)
			if f.Managed {
				drifted.label = "drifted:"
			}
		}
	}
	switch {
	case slices.ContainsFunc(changing.fields, func(f report.Finding) bool { return f.Blocked }):
		changing.label = "would change:"
	case len(drifted.fields) > 0:
		changing.label = "changing:"
	}
	if len(drifted.fields)+len(changing.fields) > 0 {
		silenced.label = "ignored:"
	}
	isEmpty := func(s section) bool { return len(s.fields) == 0 }
	return slices.DeleteFunc([]section{drifted, changing, silenced}, isEmpty)
}

// sections writes what the notes of all findings say alike, and then the sections without it.
func (t *text) sections(indent string, all ...section) {
	var fields []report.Finding
	for _, s := range all {
		fields = append(fields, s.fields...)
	}
	note := sharedNoteOf(fields)
	if len(note.notes) > 0 {
		t.continuation(indent, t.escape(note.String()))
	}
	for _, s := range all {
		if len(note.notes) > 0 {
			s.fields = note.without(s.fields)
		}
		t.section(s)
	}
}

// section writes a row for each finding.
func (t *text) section(s section) {
	rows := make([]row, len(s.fields))
	for i, f := range s.fields {
		cells, below := t.cells(f, s.columns)
		below = append(below, t.inside(f, s.columns)...)
		rows[i] = row{verdict: f.Verdict, path: t.escape(f.Path), cells: cells, remarks: strings.Join(t.remarks(f), t.dot), below: below}
		if s.leads != nil {
			rows[i].lead, rows[i].aside = s.leads[i], s.asides[i]
		}
	}
	t.rows(s.label, s.columns, rows)
}

// sharedNote is the end that the notes of several findings have in common.
type sharedNote struct {
	notes report.Notes
	// uncertain means that no finding is certain, and that the note says why.
	uncertain bool
}

// sharedNoteOf returns the remarks with which all notes end. What a comparison says of a release or of an object stands behind what it says
// of the field.
func sharedNoteOf(fields []report.Finding) sharedNote {
	if len(fields) < 2 {
		return sharedNote{}
	}
	alike, uncertain := fields[0].Notes, true
	for _, f := range fields {
		remarks := f.Notes
		same := 0
		for same < min(len(alike), len(remarks)) && alike[len(alike)-1-same] == remarks[len(remarks)-1-same] {
			same++
		}
		alike = alike[len(alike)-same:]
		uncertain = uncertain && !f.Certain
	}
	return sharedNote{alike, uncertain}
}

// releaseNote returns the note that makes all findings of a preview uncertain. It is said of the release instead of each object.
func releaseNote(rel report.Release) sharedNote {
	var all []report.Finding
	having := 0
	for _, o := range rel.Objects {
		all = append(all, o.Fields...)
		having += oneIf(len(o.Fields) > 0)
	}
	if n := sharedNoteOf(all); isPreview(rel.Operation) && having > 1 && n.uncertain {
		return n
	}
	return sharedNote{}
}

// String returns the note, and says that it is about uncertainty.
func (n sharedNote) String() string {
	if n.uncertain {
		return "not certain: " + n.notes.String()
	}
	return n.notes.String()
}

// without returns findings without the note. The list is a copy, since other formats are written from the same report.
func (n sharedNote) without(fields []report.Finding) []report.Finding {
	shorter := slices.Clone(fields)
	for i, f := range shorter {
		shorter[i].Notes = f.Notes[:max(0, len(f.Notes)-len(n.notes))]
		shorter[i].Certain = f.Certain || n.uncertain
	}
	return shorter
}

// withoutIn returns objects whose findings lack the note.
func (n sharedNote) withoutIn(objects []report.Object) []report.Object {
	if len(n.notes) == 0 {
		return objects
	}
	shorter := slices.Clone(objects)
	for i, o := range objects {
		shorter[i].Fields = n.without(o.Fields)
	}
	return shorter
}
