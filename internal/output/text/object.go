package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/consequences"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/edits"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/internal/output/urgency"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// object writes one object: its name, what Helm does with it, and its fields.
func (t *text) object(o report.Object, rel report.Release) {
	t.begins = append(t.begins, begin{at: t.Out.Len()})
	t.subjectIn(t.urgency(o), t.ObjectName(o, rel), t.fate(o, rel))
	t.dryRun(o)
	t.effect(o.Effect)
	if len(o.Notes) > 0 {
		t.Continuation("  ", t.Message(o.Notes.String()))
	}
	if listsFields(o, rel.Operation) {
		var made []report.Finding
		if !t.Verbose && !t.ShowIgnored {
			o.Fields, made = consequences.Split(o)
		}
		sections := []section{driftSection(o.Fields)}
		if counts.IsPreview(rel.Operation) {
			sections = previewSections(o)
		}
		for i := range sections {
			sections[i].made = made
		}
		t.sections("  ", sections...)
	}
	if o.Controllers > 0 {
		t.Continuation("  ", english.Count(o.Controllers, "controller-owned field")+" not listed")
	}
	if o.Forgotten > 0 {
		t.Continuation("  ", english.Count(o.Forgotten, "field")+" whose writer the API server no longer records: not listed")
	}
}

// subject writes the line that begins an object: its name, and what is said of it.
func (t *text) subject(name, said string) { t.subjectIn(t.Heading, name, said) }

// subjectIn writes the line with the name in a colour.
func (t *text) subjectIn(colour func(string) string, name, said string) {
	for i, l := range t.Wrapped(name+": "+said, 2) {
		rest, whole := strings.CutPrefix(l, name)
		switch {
		case i > 0:
			t.Line("  ", t.Gutter, l)
		case whole:
			t.Line(colour(name), rest)
		default: // the name alone is wider than the terminal
			t.Line(colour(l))
		}
	}
}

// dryRun says what the server answered. An agreement is only counted in the last lines, because readers expect it.
func (t *text) dryRun(o report.Object) {
	switch d := o.DryRun; {
	case d == nil || d.Result == report.DryRunAgrees:
	case d.Result == report.DryRunDisagrees && !o.Disputed():
		t.Continuation("  ", layout.JoinNonEmpty(": ", "the server disagrees, and the verdict is uncertain", t.Message(d.Message)))
	case d.Result == report.DryRunDisagrees:
		said := layout.JoinNonEmpty(": ", "the server disagrees", t.Message(d.Message)) + "; please report it"
		for _, l := range t.Wrapped(said, 2) {
			t.Line("  ", t.Gutter, t.Heading(l))
		}
	default:
		t.Continuation("  ", layout.JoinNonEmpty(": ", "the server could not be asked", t.Message(d.Message)))
	}
}

// listsFields reports whether the fields of an object are listed. An object that Helm creates or deletes is one line, except that a preview
// lists the edits that a deletion destroys.
func listsFields(o report.Object, op report.Operation) bool {
	switch {
	case len(o.Fields) == 0 || o.Action == report.ActionCreate:
		return false
	case o.Action == report.ActionDelete:
		return counts.IsPreview(op)
	}
	return true
}

// fate says what Helm does with the object as a whole, or why that is not known.
func (t *text) fate(o report.Object, rel report.Release) string {
	if o.Error != nil {
		return "could not be compared: " + t.Message(o.Error.Message)
	}
	does := []string{t.action(o, rel)}
	if counts.IsPreview(rel.Operation) && (o.Action == report.ActionUpdate || o.Action == report.ActionReplace) {
		stay, lost := edits.Of(o.Fields).Divided()
		does = append(append(does, lost...), stay...)
	}
	said := counts.OperationName(rel.Operation) + " " + layout.Enumerate(does)
	switch {
	case o.Missing:
		said = "missing; " + said
	case o.Terminating:
		said = "being deleted; " + said
	case o.Drifted && counts.IsPreview(rel.Operation):
		said = "drifted; " + said
	}
	if n := len(o.Fields); n > 0 && !listsFields(o, rel.Operation) {
		said += ", with " + english.Count(n, "field") + " that differ"
	}
	if rule := o.IgnoredBy; rule != nil && counts.AllIgnored(o.Fields) {
		said += t.Dot + t.ignoredBy(rule)
	}
	return said
}

// action returns the predicate of the sentence, with its reason. For a failing object it also says that the verdicts below do not come
// true.
func (t *text) action(o report.Object, rel report.Release) string {
	reason := ""
	if o.Reason != "" {
		reason = " (" + t.Message(o.Reason) + ")"
	}
	words := map[report.Action]string{
		report.ActionNone: "leaves it as it is", report.ActionUpdate: "updates it", report.ActionReplace: "replaces it whole",
		report.ActionCreate: "creates it", report.ActionDelete: "deletes it", report.ActionAdopt: "adopts it",
		report.ActionKeep: "drops it from the release but leaves it in the cluster",
		report.ActionFail: "fails on it, so nothing in it changes", report.ActionSkip: "does not reach it" + t.Blockers(o.BlockedBy, rel),
	}
	said, known := words[o.Action]
	switch n := layout.Conflicts(o); {
	case o.Action == report.ActionFail && n > 0:
		return said + ": " + english.Count(n, "conflict")
	case o.Action == report.ActionFail:
		return layout.JoinNonEmpty(": ", said, t.Message(o.Reason))
	case !known: // an action of a later version of the report
		said = t.Escape(string(o.Action))
	}
	return said + reason
}

// section is a number of findings that stand under one label in the same columns.
type section struct {
	// label says what the findings have in common. It is empty if the columns or the headline say it.
	label   string
	columns sides.Columns
	fields  []report.Finding
	// leads stand before the findings, and asides behind them if there is room. Only groups have them.
	leads, asides []string
	// made is what the API server made of an edit among the findings.
	made []report.Finding
}

// driftSection returns all findings of an object in a report of drift. If the record itself would change one of them, all show desired.
func driftSection(fields []report.Finding) section {
	fields = urgency.Fields(fields)
	if slices.ContainsFunc(fields, func(f report.Finding) bool { return f.Cause != report.CauseDrift }) {
		return section{columns: sides.OldDesiredLive, fields: fields}
	}
	return section{columns: sides.OldLive, fields: fields}
}

// previewSections separates drift from the changes of the operation, and both from what is silenced. Drift comes first, because the
// operation may destroy it. It includes changes that meet an edit.
func previewSections(o report.Object) []section {
	drifted := section{label: "unmanaged:", columns: sides.OldDesiredLive}
	changing, silenced := section{columns: sides.OldDesired}, section{columns: sides.OldDesired}
	for _, f := range urgency.Fields(o.Fields) {
		switch {
		case f.Silenced():
			silenced.fields = append(silenced.fields, f)
			if f.Cause != report.CauseChange {
				silenced.columns = sides.OldDesiredLive
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

// sections writes the remark that the notes of all findings share, and then the sections without it.
func (t *text) sections(indent string, all ...section) {
	var fields []report.Finding
	for _, s := range all {
		fields = append(fields, s.fields...)
	}
	note := sharedNoteOf(fields)
	if len(note.notes) > 0 {
		t.Continuation(indent, t.Escape(note.String()))
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
		cells, below := sides.Cells(t.Text, f, s.columns)
		below = append(below, sides.Inside(t.Text, f, s.columns, signWidth)...)
		rows[i] = row{verdict: f.Verdict, path: t.Escape(f.Path), cells: cells, remarks: strings.Join(t.remarks(f), t.Dot), below: below}
		if consequences.IsEdit(f) {
			rows[i].made = consequences.Text(t.Text, s.made, len(rowIndent))
		}
		if s.columns == sides.OldLive {
			rows[i].act = edits.Verb(f)
		}
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

// sharedNoteOf returns the remarks that all notes end with. A comparison puts its remarks on a release or on an object behind its remarks
// on the field.
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

// releaseNote returns the note that makes all findings of a preview uncertain. The release shows it instead of each object.
func releaseNote(rel report.Release) sharedNote {
	var all []report.Finding
	having := 0
	for _, o := range rel.Objects {
		all = append(all, o.Fields...)
		having += layout.OneIf(len(o.Fields) > 0)
	}
	if n := sharedNoteOf(all); counts.IsPreview(rel.Operation) && having > 1 && n.uncertain {
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
