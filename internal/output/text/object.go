package text

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// object writes one object: its name, what Helm does with it, and its fields.
func (t *text) object(o report.Object, rel report.Release) {
	t.subject(t.objectName(o, rel), t.fate(o, rel))
	t.dryRun(o.DryRun)
	t.effect(o.Effect)
	if len(o.Notes) > 0 {
		t.continuation("  ", t.message(o.Notes.String()))
	}
	if listsFields(o, rel.Operation) {
		sections := []section{driftSection(o.Fields)}
		if isPreview(rel.Operation) {
			sections = previewSections(o)
		}
		t.sections("  ", sections...)
	}
	if o.Controllers > 0 {
		t.continuation("  ", english.Count(o.Controllers, "controller-owned field")+" not listed")
	}
	if o.Forgotten > 0 {
		t.continuation("  ", english.Count(o.Forgotten, "field")+" by forgotten writers not listed")
	}
}

// subject writes the line that begins an object: its name, and what is said of it.
func (t *text) subject(name, said string) {
	for i, l := range t.wrapped(name+": "+said, 2) {
		rest, whole := strings.CutPrefix(l, name)
		switch {
		case i > 0:
			t.line("  ", t.gutter, l)
		case whole:
			t.line(t.heading(name), rest)
		default: // the name alone is wider than the terminal
			t.line(t.heading(l))
		}
	}
}

// dryRun says what the server answered. An agreement is only counted in the last lines, because readers expect it.
func (t *text) dryRun(d *report.DryRun) {
	switch {
	case d == nil || d.Result == report.DryRunAgrees:
	case d.Result == report.DryRunDisagrees:
		said := english.JoinNonEmpty(": ", "the server disagrees", t.message(d.Message)) + "; please report it"
		for _, l := range t.wrapped(said, 2) {
			t.line("  ", t.gutter, t.heading(l))
		}
	default:
		t.continuation("  ", english.JoinNonEmpty(": ", "the server could not be asked", t.message(d.Message)))
	}
}

// listsFields reports whether the fields of an object are listed. An object that Helm creates or deletes is one line, except that a preview
// lists the edits that a deletion destroys.
func listsFields(o report.Object, op report.Operation) bool {
	switch {
	case len(o.Fields) == 0 || o.Action == report.ActionCreate:
		return false
	case o.Action == report.ActionDelete:
		return isPreview(op)
	}
	return true
}

// fate says what Helm does with the object as a whole, or why that is not known.
func (t *text) fate(o report.Object, rel report.Release) string {
	if o.Error != nil {
		return "could not be compared: " + t.message(o.Error.Message)
	}
	does := []string{t.action(o, rel)}
	if isPreview(rel.Operation) && (o.Action == report.ActionUpdate || o.Action == report.ActionReplace) {
		does = append(does, editsOf(o.Fields).clauses()...)
	}
	said := operationName(rel.Operation) + " " + english.Enumerate(does)
	switch {
	case o.Missing:
		said = "missing; " + said
	case o.Terminating:
		said = "being deleted; " + said
	case o.Drifted && isPreview(rel.Operation):
		said = "drifted; " + said
	}
	if n := len(o.Fields); n > 0 && !listsFields(o, rel.Operation) {
		said += ", with " + english.Count(n, "field") + " that differ"
	}
	if rule := o.IgnoredBy; rule != nil && allIgnored(o.Fields) {
		said += t.dot + t.ignoredBy(rule)
	}
	return said
}

// action returns the predicate of the sentence, with its reason. Of a failing object it also says that the verdicts below do not come true.
func (t *text) action(o report.Object, rel report.Release) string {
	reason := ""
	if o.Reason != "" {
		reason = " (" + t.message(o.Reason) + ")"
	}
	switch o.Action {
	case report.ActionNone:
		return "leaves it as it is" + reason
	case report.ActionUpdate:
		return "updates it" + reason
	case report.ActionReplace:
		return "replaces it whole" + reason
	case report.ActionCreate:
		return "creates it" + reason
	case report.ActionDelete:
		return "deletes it" + reason
	case report.ActionKeep:
		return "drops it from the release but leaves it in the cluster" + reason
	case report.ActionAdopt:
		return "adopts it" + reason
	case report.ActionFail:
		return english.JoinNonEmpty(": ", "fails on it, so nothing in it changes", t.message(o.Reason))
	case report.ActionSkip:
		return "does not reach it" + t.blockers(o.BlockedBy, rel) + reason
	}
	return t.escape(string(o.Action)) + reason // an action of a later version of the report
}
