package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/found"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// release writes one release: the answer, warnings and errors, and the objects.
func (t *text) release(rel report.Release, head answer) {
	t.answer(head)
	t.troubleOf(rel)
	rel = t.shown(rel)
	if len(rel.Objects) > 0 {
		t.Line("")
	}
	switch hasFields := slices.ContainsFunc(rel.Objects, func(o report.Object) bool { return listsFields(o, rel.Operation) }); {
	case hasFields && counts.IsPreview(rel.Operation):
		t.legend("path", "deployed"+t.Arrow+"desired", "who")
	case hasFields:
		t.legend("what the next upgrade does", "path", "deployed"+t.Arrow+"live now", "who")
	}
	t.objects(rel)
}

// troubleOf writes the errors and warnings of a release, because they say how far the rest can be trusted.
func (t *text) troubleOf(rel report.Release) {
	t.messages("error: ", rel.Errors)
	t.messages("warning: ", rel.Warnings)
}

// shown returns a release without what rules and the baseline silence, and without objects that have nothing else to say, unless the
// reader asks for them.
func (t *text) shown(rel report.Release) report.Release {
	if t.ShowIgnored {
		return rel
	}
	var objects []report.Object
	for _, o := range rel.Objects {
		if !isSilent(o) {
			n := layout.Conflicts(o)
			o.Fields = slices.DeleteFunc(slices.Clone(o.Fields), counts.IsIgnored)
			o.OnlyConflicts = n > 0 && layout.Conflicts(o) == n // or the reason of the object names the rest
			objects = append(objects, o)
		}
	}
	rel.Objects = objects
	return rel
}

// isSilent reports whether everything about an object is silenced, or counted in the last lines. A rule about fields does not silence
// what an operation does to the whole object, such as a failure.
func isSilent(o report.Object) bool {
	switch {
	case o.Error != nil || o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees:
		return false
	case !counts.AllIgnored(o.Fields):
		return false
	case o.IgnoredBy != nil:
		return true
	}
	small := o.Action == report.ActionNone || o.Action == report.ActionUpdate || o.Action == report.ActionReplace
	return small && (len(o.Fields) > 0 || o.Forgotten > 0) && len(o.Notes) == 0
}

// hasWarning reports whether a release has a warning with a code.
func hasWarning(rel report.Release, code string) bool {
	return slices.ContainsFunc(rel.Warnings, func(m report.Message) bool { return m.Code == code })
}

// releaseFound says in one clause what was found in a release. It says "no drift" only if everything was seen and no baseline knows a
// finding.
func releaseFound(rel report.Release) string {
	c := counts.Of([]report.Release{rel})
	said := found.In(rel).Drift(rel.Compared)
	switch incomplete := c.ObjectErrors+c.ReleaseErrors > 0; {
	case counts.IsInstall(rel) && rel.Last != nil:
		said = "not installed"
	case counts.IsInstall(rel):
		said = "not installed yet"
	case rel.Compared == 0 && incomplete:
		return "could not be compared"
	case c.Drifted == 0 && incomplete:
		said = layout.NoDrift(rel) + " seen in " + english.Count(rel.Compared-c.ObjectErrors, "object")
	case c.Drifted == 0:
		said = layout.NoDrift(rel) + " in " + english.Count(rel.Compared, "object")
	}
	var all layout.Clauses
	all.AddIf(rel.Terminating, "its namespace is being deleted")
	all = append(all, said)
	all.AddIf(c.ObjectErrors > 0, fmt.Sprintf("%d could not be compared", c.ObjectErrors))
	all.AddIf(c.AllLeftOut() > 0, fmt.Sprintf("%d left out", c.AllLeftOut()))
	all.AddIf(c.RenderErrors > 0, "the chart could not be rendered")
	all.AddIf(c.ReleaseErrors > 0, "incomplete")
	return strings.Join(all, ", ")
}

// origin says which revision the objects were compared with, and what they are to become. It leaves out what readers expect: that the last
// revision is old, that the record, or the Application, is in the namespace of the objects, and that desired is the record itself.
func (t *text) origin(rel report.Release) []string {
	var parts layout.Clauses
	if old := rel.Old; old != nil {
		parts = append(parts, fmt.Sprintf("revision %d", old.Revision))
		for _, name := range []string{old.Chart, old.Status} {
			parts.AddIf(name != "", t.Label(name)) // old records lack some
		}
	}
	if last := rel.Last; last != nil && (rel.Old == nil || last.Revision != rel.Old.Revision) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("last revision %d %s", last.Revision, t.Escape(last.Status))))
	}
	switch d := rel.Desired; {
	case d == nil || d.Source == "record":
	case d.Source == "revision" && d.Chart != "":
		parts = append(parts, fmt.Sprintf("against revision %d (%s)", d.Revision, t.Label(d.Chart)))
	case d.Source == "revision":
		parts = append(parts, fmt.Sprintf("against revision %d", d.Revision))
	case d.Chart != "":
		parts = append(parts, "against "+t.Label(d.Source)+" "+t.Label(d.Chart))
	}
	if rel.StorageNamespace != "" && rel.StorageNamespace != rel.Namespace && !hasWarning(rel, report.WarnRecordElsewhere) {
		what := "record"
		if rel.Deployer != nil && rel.Deployer.Controller == report.ControllerArgo {
			what = rel.Deployer.Kind
		}
		parts = append(parts, t.Label(what)+" in "+t.Label(rel.StorageNamespace))
	}
	return parts
}

// messages writes warnings or errors.
func (t *text) messages(kind string, all []report.Message) {
	for _, m := range all {
		t.Prose(kind + t.MessageOf(m))
	}
}

// MessageOf returns a warning or an error. File and line stand at the end of the first line, where they are easier to find than among the
// lines of a template's own message. A message of Helm that already names them in its first line does not get them twice.
func (t *text) MessageOf(m report.Message) string {
	lines := escape.SplitLines(m.Message, t.ASCII)
	place := t.Escape(m.File)
	if m.Line > 0 {
		place += fmt.Sprintf(":%d", m.Line)
	}
	if m.File != "" && !strings.Contains(lines[0], place) {
		lines[0] += " (" + place + ")"
	}
	if m.Object != "" {
		lines[0] = t.Escape(m.Object) + ": " + lines[0]
	}
	return strings.Join(lines, "\n")
}
