// Package consequences finds the findings of an object that the API server made of an edit of the same object. Whoever changes the type of
// a Service gets or loses node ports and defaults with it, and undoes all of it by changing the type back. Text and Markdown tell such
// findings beside the edit, with their note once. The other formats, which programs read, list each.
package consequences

import (
	"regexp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// edit is the path of the field that decides which other fields a Service has.
const edit = "spec.type"

// allocated matches what the API server gives to a Service of a type, or takes from it, without an owner.
var allocated = regexp.MustCompile(
	`^spec\.(ports\[[^\]]*\]\.nodePort|clusterIPs?(\[[^\]]*\])?|healthCheckNodePort|ipFamil(y|ies).*|` +
		`externalTrafficPolicy|internalTrafficPolicy|allocateLoadBalancerNodePorts|sessionAffinity)$`)

// defaulted are the defaults of a Service that depend on its type. The API server records them under the name of whoever changed the type.
var defaulted = map[string]any{
	"spec.externalTrafficPolicy": "Cluster", "spec.internalTrafficPolicy": "Cluster", "spec.allocateLoadBalancerNodePorts": true,
	"spec.sessionAffinity": "None",
}

// Split takes the consequences out of the findings of an object. Both lists are in the order of the object, and the consequences are those
// of the finding that IsEdit reports.
func Split(o report.Object) (rest, made []report.Finding) {
	at := slices.IndexFunc(o.Fields, IsEdit)
	if o.APIVersion != "v1" || o.Kind != "Service" || at < 0 || o.Fields[at].Silenced() {
		return o.Fields, nil
	}
	for _, f := range o.Fields {
		if isMade(f, o.Fields[at]) {
			made = append(made, f)
		} else {
			rest = append(rest, f)
		}
	}
	return rest, made
}

// IsEdit reports whether a finding is the edit that has consequences.
func IsEdit(f report.Finding) bool { return f.Path == edit }

// isMade reports whether the API server made a finding when the type changed. A value that somebody changed, or set to something else than
// the default, is an edit of its own. So is what a rule or a class says more about.
func isMade(f, of report.Finding) bool {
	if f.Masked || f.Silenced() || f.Class != "" || f.KnownLive != nil || f.Verdict == report.Conflict || !allocated.MatchString(f.Path) {
		return false
	}
	isLarger := f.Managed && !of.Managed // drift never stands below what does not count as drift
	if isLarger || f.Old != nil && f.Live != nil && f.Cause != report.CauseChange {
		return false
	}
	value, isDefault := defaulted[f.Path]
	return len(f.Owners) == 0 || f.Cause == report.CauseChange ||
		isDefault && f.Live == value && slices.EqualFunc(f.Owners, of.Owners, func(a, b report.Owner) bool { return a.Manager == b.Manager })
}

// Text returns Lines for a text, broken behind an indent.
func Text(t *layout.Text, made []report.Finding, indent int) (lines []string) {
	show := func(path string, value any) string { return t.Escape(path) + " " + t.Side(value) }
	for _, l := range Lines(made, show, t.Escape) {
		lines = append(lines, t.Wrapped(l, indent)...)
	}
	return lines
}

// Lines says what becomes of consequences, a line for each verdict, with the notes that they share once. Show returns a path and a value as
// the format writes them, and note a note.
func Lines(made []report.Finding, show func(path string, value any) string, note func(text string) string) (lines []string) {
	for _, verb := range layout.Distinct(made, verbOf) {
		var fields, notes []string
		for _, f := range made {
			if verbOf(f) == verb {
				fields, notes = append(fields, show(f.Path, valueOf(f))), append(notes, note(f.Notes.String()))
			}
		}
		notes = layout.Distinct(notes, func(text string) string { return text })
		said := verb + " with it " + layout.Enumerate(fields)
		if why := layout.JoinNonEmpty("; ", notes...); why != "" {
			said += " (" + why + ")"
		}
		lines = append(lines, said)
	}
	return lines
}

// verbOf returns what is about to happen to a consequence.
func verbOf(f report.Finding) string {
	switch {
	case f.Blocked:
		return "blocked"
	case f.Verdict == report.Remove:
		return "removes"
	case f.Verdict == report.Add && f.Cause == report.CauseChange:
		return "adds"
	case f.Verdict == report.Add:
		return "adds back"
	case f.Verdict == report.Ignore:
		return "leaves"
	}
	return "overwrites"
}

// valueOf returns the value that comes or goes.
func valueOf(f report.Finding) any {
	for _, side := range []any{f.Live, f.Old, f.Desired} {
		if side != nil {
			return side
		}
	}
	return f.After
}
