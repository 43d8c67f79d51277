package output

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// foldSkipped is the number of skipped objects with nothing else to say from which they share one line.
// One object that cannot be built makes Helm skip all others, and forty such lines would bury the one that matters.
const foldSkipped = 3

// objects writes the objects of a release in the order of the report.
func (t *text) objects(rel threeway.ReleaseReport) {
	quiet := 0
	for _, o := range rel.Objects {
		if onlySkipped(o) {
			quiet++
		}
	}
	op := operation(rel.Operation)
	for _, o := range rel.Objects {
		if quiet > foldSkipped && onlySkipped(o) {
			continue
		}
		t.object(o, rel.Namespace, op)
	}
	if quiet > foldSkipped {
		t.prose("", "", fmt.Sprintf("%s more: %s does not reach them", plural(quiet, "object"), op))
	}
}

// onlySkipped: missing objects are never folded, they are what a reader looks for.
func onlySkipped(o threeway.ObjectReport) bool {
	return o.Action == threeway.ActionSkip && len(o.Fields) == 0 && !o.Missing && o.Error == nil && o.Note == ""
}

// object writes one object: what it is and what Helm will do with it, then its fields.
func (t *text) object(o threeway.ObjectReport, namespace, op string) {
	name := t.objectName(o, namespace)
	for i, l := range t.wrapped(name+": "+t.fate(o, op), 2) {
		switch {
		case i > 0:
			t.line("  ", t.gutter, l)
		case strings.HasPrefix(l, name):
			t.line(t.heading(name), l[len(name):])
		default: // the name alone is wider than the terminal
			t.line(t.heading(l))
		}
	}
	if o.Note != "" {
		t.below("  ", t.text(o.Note))
	}
	if d := o.DryRun; d != nil {
		t.below("  ", join(": ", "server dry run "+t.text(d.Result), t.text(d.Message)))
	}
	if listsFields(o) {
		t.fields(o)
	}
	if o.Controllers > 0 {
		t.below("  ", plural(o.Controllers, "controller-owned field")+" not listed")
	}
}

// listsFields: an object that comes or goes as a whole is one line.
func listsFields(o threeway.ObjectReport) bool {
	return len(o.Fields) > 0 && o.Action != threeway.ActionCreate && o.Action != threeway.ActionDelete
}

// objectName gives kind and name, the namespace where it is not the release's, and the API version of custom resources.
// It begins a line, so a kind that is not a plain word is quoted.
func (t *text) objectName(o threeway.ObjectReport, namespace string) string {
	name := t.label(o.Name)
	if o.Name == "" && o.GenerateName != "" {
		name = t.label(o.GenerateName) + "*"
	}
	if o.Namespace != "" && o.Namespace != namespace {
		name = t.label(o.Namespace) + "/" + name
	}
	full := t.word(o.Kind) + " " + name
	if custom(o) {
		full += " (" + t.label(o.APIVersion) + ")"
	}
	return full
}

// custom tells whether readers may need the API version to know what the object is. Groups of Kubernetes itself have no
// dot or end in k8s.io; CRDs that do as well are told by their engine.
func custom(o threeway.ObjectReport) bool {
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	return o.Engine == threeway.EngineMerge || grouped && strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// fate says what Helm will do with the object as a whole, or why nobody can tell.
func (t *text) fate(o threeway.ObjectReport, op string) string {
	if o.Error != nil {
		return "could not be compared: " + t.text(o.Error.Message)
	}
	said := op + " " + t.action(o)
	if o.Missing {
		said = "missing; " + said
	}
	if n := len(o.Fields); n > 0 && !listsFields(o) {
		said += ", with " + plural(n, "field") + " that differ"
	}
	if rule := o.IgnoredBy; rule != nil {
		said += t.dot + t.ignoredBy(rule)
	}
	return said
}

// action gives the predicate of the sentence, with its reason. Of a failing object it also says that the verdicts below
// will not come true.
func (t *text) action(o threeway.ObjectReport) string {
	reason := ""
	if o.Reason != "" {
		reason = " (" + t.text(o.Reason) + ")"
	}
	switch o.Action {
	case threeway.ActionNone:
		return "leaves it as it is" + reason
	case threeway.ActionUpdate:
		return "updates it" + reason
	case threeway.ActionReplace:
		return "replaces it whole" + reason
	case threeway.ActionCreate:
		return "creates it" + reason
	case threeway.ActionDelete:
		return "deletes it" + reason
	case threeway.ActionKeep:
		return "drops it from the release but leaves it in the cluster" + reason
	case threeway.ActionAdopt:
		return "adopts it" + reason
	case threeway.ActionFail:
		return join(": ", "fails on it, so nothing of it changes", t.text(o.Reason))
	case threeway.ActionSkip:
		return "does not reach it" + t.blockers(o.BlockedBy) + reason
	}
	return t.text(string(o.Action)) + reason // an action of a later version of the report
}

// blockers names the objects whose failure keeps Helm from this one.
func (t *text) blockers(names []string) string {
	if len(names) == 0 {
		return ""
	}
	safe := make([]string, len(names))
	for i, n := range names {
		safe[i] = t.text(n)
	}
	return ", blocked by " + strings.Join(safe, ", ")
}

// ignoredBy names a rule with its author's reason, without which nobody dares to remove it.
func (t *text) ignoredBy(rule *threeway.IgnoreRule) string {
	said := "ignored by " + t.text(rule.Rule)
	if rule.Reason != "" {
		said += " (" + t.text(rule.Reason) + ")"
	}
	return said
}

// join puts a separator between parts that say something.
func join(separator string, parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, separator)
}
