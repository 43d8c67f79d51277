package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// The results of a dry run.
const (
	dryRunAgrees    = "agrees"
	dryRunDisagrees = "disagrees"
	dryRunRefused   = "refused"
)

// maxBlockers is how many of the objects are named that keep Helm from another.
const maxBlockers = 3

// objects writes the objects of a release in the order of the report: first what is the same for many of them, and last what
// only counts.
func (t *text) objects(rel report.Release) {
	doubt := doubtOf(rel)
	rel.Objects = doubt.takenFromObjects(rel.Objects)
	f := foldRelease(rel)
	t.sections(previews(rel.Operation),
		func() {
			if len(doubt.notes) > 0 {
				t.prose("", "", t.text(doubt.String()))
			}
			t.groups(f.groups)
		},
		func() { t.created(f.created, rel) },
		func() {
			for _, o := range f.blocks {
				t.object(o, rel)
			}
		},
		func() { t.folded(f, operation(rel.Operation)) },
	)
}

// sections writes those that have something to say, with a blank line between them if they shall stand apart.
func (t *text) sections(apart bool, sections ...func()) {
	first := true
	for _, write := range sections {
		before := t.out.Len()
		if apart && !first {
			t.line("")
		}
		start := t.out.Len()
		write()
		if t.out.Len() == start {
			t.out.Truncate(before)
		} else {
			first = false
		}
	}
}

// object writes one object: what it is and what Helm will do with it, then its fields.
func (t *text) object(o report.Object, rel report.Release) {
	t.subject(t.objectName(o, rel.Namespace), t.fate(o, rel.Operation))
	t.dryRun(o.DryRun)
	if len(o.Notes) > 0 {
		t.below("  ", t.lines(o.Notes.String()))
	}
	if listsFields(o, rel.Operation) {
		t.fields(o, rel.Operation)
	}
	if o.Controllers > 0 {
		t.below("  ", plural(o.Controllers, "controller-owned field")+" not listed")
	}
	if o.Forgotten > 0 {
		t.below("  ", plural(o.Forgotten, "field")+" by forgotten writers not listed")
	}
}

// subject writes the line that begins an object: its name, and what is said of it.
func (t *text) subject(name, said string) {
	for i, l := range t.wrapped(name+": "+said, 2) {
		switch {
		case i > 0:
			t.line("  ", t.gutter, l)
		case strings.HasPrefix(l, name):
			t.line(t.heading(name), l[len(name):])
		default: // the name alone is wider than the terminal
			t.line(t.heading(l))
		}
	}
}

// dryRun says what the server answered. That it agrees is what a reader takes for granted; the last lines count it.
func (t *text) dryRun(d *report.DryRun) {
	switch {
	case d == nil || d.Result == dryRunAgrees:
	case d.Result == dryRunDisagrees:
		said := join(": ", "the server disagrees", t.lines(d.Message)) + "; please report it"
		for _, l := range t.wrapped(said, 2) {
			t.line("  ", t.gutter, t.heading(l))
		}
	case d.Result == dryRunRefused:
		t.below("  ", join(": ", "the server could not be asked", t.lines(d.Message)))
	default: // a result of a later version of the report
		t.below("  ", join(": ", "server dry run "+t.text(d.Result), t.lines(d.Message)))
	}
}

// listsFields: an object that comes or goes as a whole is one line, unless somebody's edits go with it.
func listsFields(o report.Object, op report.Operation) bool {
	switch {
	case len(o.Fields) == 0 || o.Action == report.ActionCreate:
		return false
	case o.Action == report.ActionDelete:
		return previews(op)
	}
	return true
}

// kind is a sort of objects as readers know it. It may begin a line, so a kind that is not a plain word is quoted.
type kind struct {
	name string
	// version stands behind name or names, and is empty where everybody knows it.
	version string
}

func (t *text) kindOf(o report.Object) kind {
	k := kind{name: t.word(o.Kind)}
	if custom(o) {
		k.version = " (" + t.label(o.APIVersion) + ")"
	}
	return k
}

// objectName gives kind and name, the namespace where it is not the release's, and the API version of custom resources.
func (t *text) objectName(o report.Object, namespace string) string {
	k := t.kindOf(o)
	return k.name + " " + t.nameOf(o, namespace) + k.version
}

// nameOf gives the name of an object, and the namespace where it is not the release's.
func (t *text) nameOf(o report.Object, namespace string) string {
	name := t.label(o.Name)
	if o.Name == "" && o.GenerateName != "" {
		name = t.label(o.GenerateName) + "*"
	}
	if o.Namespace != "" && o.Namespace != namespace {
		name = t.label(o.Namespace) + "/" + name
	}
	return name
}

// custom tells whether readers may need the API version to know what the object is. Groups of Kubernetes itself have no
// dot or end in k8s.io; CRDs that do as well are told by their engine.
func custom(o report.Object) bool {
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	return o.Engine == report.EngineMerge || grouped && strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// fate says what Helm will do with the object as a whole, or why nobody can tell.
func (t *text) fate(o report.Object, op report.Operation) string {
	if o.Error != nil {
		return "could not be compared: " + t.lines(o.Error.Message)
	}
	does := []string{t.action(o)}
	if previews(op) && (o.Action == report.ActionUpdate || o.Action == report.ActionReplace) {
		does = append(does, editClauses(editsOf(o.Fields))...)
	}
	said := operation(op) + " " + enumerate(does)
	switch {
	case o.Missing:
		said = "missing; " + said
	case o.Terminating:
		said = "being deleted; " + said
	case o.Drifted && previews(op):
		said = "drifted; " + said
	}
	if n := len(o.Fields); n > 0 && !listsFields(o, op) {
		said += ", with " + plural(n, "field") + " that differ"
	}
	if rule := o.IgnoredBy; rule != nil && !slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return !isRuled(f) }) {
		said += t.dot + t.ignoredBy(rule)
	}
	return said
}

// action gives the predicate of the sentence, with its reason. Of a failing object it also says that the verdicts below
// will not come true.
func (t *text) action(o report.Object) string {
	reason := ""
	if o.Reason != "" {
		reason = " (" + t.lines(o.Reason) + ")"
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
		return join(": ", "fails on it, so nothing of it changes", t.lines(o.Reason))
	case report.ActionSkip:
		return "does not reach it" + t.blockers(o.BlockedBy) + reason
	}
	return t.text(string(o.Action)) + reason // an action of a later version of the report
}

// blockers names the objects whose failure keeps Helm from this one.
func (t *text) blockers(names []string) string {
	if len(names) == 0 {
		return ""
	}
	said := make([]string, min(len(names), maxBlockers))
	for i := range said {
		said[i] = t.text(names[i])
	}
	if more := len(names) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return ", blocked by " + enumerate(said)
}

// ignoredBy names a rule with its author's reason, without which nobody dares to remove it.
func (t *text) ignoredBy(rule *report.IgnoreRule) string {
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
