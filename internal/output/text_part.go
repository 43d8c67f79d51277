package output

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// The differences within lists and texts that a part may show. See movedPairs.
const (
	againstOld  = "desired, against old:"
	againstLive = "desired, against live:"
	liveAgainst = "live, against old:"
)

// part is a number of findings under one label, whose columns mean one thing.
type part struct {
	// label says what the findings have in common; empty where columns or headline say it.
	label string
	// columns are old and live, or all three; or old and desired, for fields that nobody touched: there old is what is live.
	columns []string
	// lone are the differences that need no heading while they stand alone.
	lone   string
	fields []report.Finding
	// back tells that live is what was and old what will be: a fix puts it back.
	back bool
	// leads stand before the findings, and asides behind them where there is room. Only groups have them.
	leads, asides []string
}

// fields writes the findings of an object.
func (t *text) fields(o report.Object, op report.Operation) {
	parts := []part{driftPart(o.Fields)}
	if previews(op) {
		parts = previewParts(o)
	}
	for _, p := range t.sayOnce("  ", parts...) {
		t.part(p)
	}
}

// driftPart is all of an object in a report of drift. Where the record itself would change something, desired is shown for the
// whole object.
func driftPart(fields []report.Finding) part {
	p := part{columns: []string{"old", "live"}, lone: liveAgainst, fields: fields}
	for _, f := range fields {
		if f.Cause != report.CauseDrift {
			p.columns = []string{"old", "desired", "live"}
		}
	}
	return p
}

// previewParts separates what drifted underneath from what the operation is to change, and from what is only counted. What
// drifted comes first: it is what may get lost. A change that meets an edit belongs there too.
func previewParts(o report.Object) []part {
	drifted := part{label: "drifted:", columns: []string{"old", "desired", "live"}}
	changing := part{columns: []string{"old", "desired"}, lone: againstOld}
	silenced := part{columns: []string{"old", "desired"}, lone: againstOld}
	blocked := false
	for _, f := range o.Fields {
		switch {
		case f.Silenced():
			silenced.fields = append(silenced.fields, f)
			if f.Cause != report.CauseChange {
				silenced.columns, silenced.lone = drifted.columns, ""
			}
		case f.Cause == report.CauseChange:
			changing.fields = append(changing.fields, f)
			blocked = blocked || f.Blocked
		default:
			drifted.fields = append(drifted.fields, f)
		}
	}
	if !slices.ContainsFunc(drifted.fields, func(f report.Finding) bool { return f.Managed }) {
		drifted.label = "unmanaged:"
	}
	switch {
	case blocked:
		changing.label = "would change:"
	case len(drifted.fields) > 0:
		changing.label = "changing:"
	}
	if len(drifted.fields)+len(changing.fields) > 0 {
		silenced.label = "ignored:"
	}
	var parts []part
	for _, p := range []part{drifted, changing, silenced} {
		if len(p.fields) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// sayOnce writes what the notes of all findings say alike, and takes it out of them.
func (t *text) sayOnce(indent string, parts ...part) []part {
	var all []report.Finding
	for _, p := range parts {
		all = append(all, p.fields...)
	}
	note := sharedNote(all)
	if len(note.notes) == 0 {
		return parts
	}
	t.below(indent, t.text(note.String()))
	for i, p := range parts {
		parts[i].fields = note.takenFrom(p.fields)
	}
	return parts
}

// shared are the notes that several findings have alike.
type shared struct {
	notes report.Notes
	// doubt reports that no finding is certain, and that this is why.
	doubt bool
}

// String says it, with the doubt that it explains.
func (n shared) String() string {
	if n.doubt {
		return "not certain: " + n.notes.String()
	}
	return n.notes.String()
}

// takenFrom gives the findings without it. The list is made anew, since the report is not ours.
func (n shared) takenFrom(fields []report.Finding) []report.Finding {
	shorter := slices.Clone(fields)
	for i, f := range shorter {
		shorter[i].Notes = f.Notes[:max(0, len(f.Notes)-len(n.notes))]
		shorter[i].Certain = f.Certain || n.doubt
	}
	return shorter
}

// takenFromObjects is takenFrom for all of them.
func (n shared) takenFromObjects(objects []report.Object) []report.Object {
	if len(n.notes) == 0 {
		return objects
	}
	shorter := slices.Clone(objects)
	for i, o := range objects {
		shorter[i].Fields = n.takenFrom(o.Fields)
	}
	return shorter
}

// doubtOf is what makes every verdict of a preview uncertain: it is said of the release, not of each object.
func doubtOf(rel report.Release) shared {
	var all []report.Finding
	having := 0
	for _, o := range rel.Objects {
		all = append(all, o.Fields...)
		having += one(len(o.Fields) > 0)
	}
	if note := sharedNote(all); previews(rel.Operation) && having > 1 && note.doubt {
		return note
	}
	return shared{}
}

// sharedNote is the end that the notes of all findings have in common: what is said of the release or of the object stands behind what is
// said of the field.
func sharedNote(fields []report.Finding) shared {
	if len(fields) < 2 {
		return shared{}
	}
	alike, doubt := fields[0].Notes, true
	for _, f := range fields {
		same := 0
		for same < min(len(alike), len(f.Notes)) && alike[len(alike)-1-same] == f.Notes[len(f.Notes)-1-same] {
			same++
		}
		alike = alike[len(alike)-same:]
		doubt = doubt && !f.Certain
	}
	return shared{alike, doubt}
}

// pick chooses the sides of a finding that the part shows. What is adopted has no old: there live is what desired meets.
func (p part) pick(c cells) []string {
	switch {
	case len(p.columns) == 3:
		return []string{c.old, c.desired, c.live}
	case p.columns[1] == "live", p.back:
		return []string{c.old, c.live}
	case c.old == absent:
		return []string{c.live, c.desired}
	default:
		return []string{c.old, c.desired}
	}
}
