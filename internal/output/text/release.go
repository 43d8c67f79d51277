package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// release writes one release: the answer, warnings and errors, and the objects.
func (t *text) release(rel report.Release) {
	t.head(rel, releaseAnswer(rel))
	rel = t.shown(rel)
	if len(rel.Objects) > 0 {
		t.line("")
	}
	t.objects(rel)
}

// head writes the first line of a release with the answer in it, and below it errors and warnings.
func (t *text) head(rel report.Release, answer string) {
	head := "release " + t.releaseName(rel, rel.Namespace)
	if hasWarning(rel, report.WarnRecordElsewhere) {
		answer = "the record in " + t.label(rel.StorageNamespace) + " may be a copy, " + answer
	}
	head += ": " + strings.Join(append([]string{answer}, t.origin(rel)...), t.dot)
	t.headline(head)
	t.messages("error: ", rel.Errors)
	t.messages("warning: ", rel.Warnings)
}

// shown returns a release without what rules and the baseline silence, and without objects of which nothing else is said, unless the reader
// asks for it.
func (t *text) shown(rel report.Release) report.Release {
	if t.showIgnored {
		return rel
	}
	var objects []report.Object
	for _, o := range rel.Objects {
		if !isSilent(o) {
			o.Fields = slices.DeleteFunc(slices.Clone(o.Fields), isIgnored)
			objects = append(objects, o)
		}
	}
	rel.Objects = objects
	return rel
}

// isSilent reports whether all that is said of an object is silenced, or counted in the last lines. A rule about fields does not silence
// what an operation does to the whole object, such as a failure.
func isSilent(o report.Object) bool {
	switch {
	case o.Error != nil || o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees:
		return false
	case !allIgnored(o.Fields):
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

// releaseAnswer returns what is said of the release in one clause. "No drift" is said only if all of it was seen. That an operation fails
// is said first.
func releaseAnswer(rel report.Release) string {
	c := countsOf([]report.Release{rel})
	answer := fmt.Sprintf("%d of %s drifted", c.drifted, english.Count(rel.Compared, "object"))
	switch incomplete := c.objectErrors+c.releaseErrors > 0; {
	case isInstall(rel) && rel.Last != nil:
		answer = "not installed"
	case isInstall(rel):
		answer = "not installed yet"
	case rel.Compared == 0 && incomplete:
		return "could not be compared"
	case c.drifted == 0 && incomplete:
		answer = "no drift seen in " + english.Count(rel.Compared-c.objectErrors, "object")
	case c.drifted == 0:
		answer = "no drift in " + english.Count(rel.Compared, "object")
	}
	if c.terminating > 0 {
		answer += fmt.Sprintf(", %d being deleted", c.terminating)
	}
	if c.objectErrors > 0 {
		answer += fmt.Sprintf(", %d could not be compared", c.objectErrors)
	}
	if isPreview(rel.Operation) {
		answer = previewAnswer(rel, c, answer)
	}
	if rel.Terminating {
		answer = "its namespace is being deleted, " + answer
	}
	if c.renderErrors > 0 {
		answer += ", the chart could not be rendered"
	}
	if c.releaseErrors > 0 {
		answer += ", incomplete"
	}
	return answer
}

// previewAnswer puts what an operation does to the objects around the answer about drift. It tells an operation that fails before it
// changes anything from one that stops halfway, because the first needs no repair.
func previewAnswer(rel report.Release, c counts, answer string) string {
	op, written := operationName(rel.Operation), c.written()
	switch failing := english.Count(c.actions[report.ActionFail], "object"); {
	case c.actions[report.ActionFail] > 0 && written == 0:
		answer = fmt.Sprintf("%s fails on %s and changes none, %s", op, failing, answer)
	case c.actions[report.ActionFail] > 0:
		answer = fmt.Sprintf("%s fails on %s and changes %d, %s", op, failing, written, answer)
	case written > 0 && !isInstall(rel):
		answer += fmt.Sprintf(", %s changes %d", op, written)
	}
	if n := c.dryRuns[report.DryRunDisagrees]; n > 0 {
		answer += fmt.Sprintf(", the server disagrees on %d", n)
	}
	return answer
}

// origin says with which revision the objects were compared, and what they are to become. It leaves out what readers expect: that the last
// revision is old, that the record is where the objects are, and that desired is the record itself.
func (t *text) origin(rel report.Release) []string {
	var parts []string
	if old := rel.Old; old != nil {
		parts = append(parts, fmt.Sprintf("revision %d", old.Revision))
		for _, name := range []string{old.Chart, old.Status} {
			if name != "" { // old records lack some
				parts = append(parts, t.label(name))
			}
		}
	}
	if last := rel.Last; last != nil && (rel.Old == nil || last.Revision != rel.Old.Revision) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("last revision %d %s", last.Revision, t.escape(last.Status))))
	}
	switch d := rel.Desired; {
	case d != nil && d.Source == "chart" && d.Chart != "":
		parts = append(parts, "against chart "+t.label(d.Chart))
	case d != nil && d.Source == "revision" && d.Chart != "":
		parts = append(parts, fmt.Sprintf("against revision %d (%s)", d.Revision, t.label(d.Chart)))
	case d != nil && d.Source == "revision":
		parts = append(parts, fmt.Sprintf("against revision %d", d.Revision))
	}
	if rel.StorageNamespace != "" && rel.StorageNamespace != rel.Namespace && !hasWarning(rel, report.WarnRecordElsewhere) {
		parts = append(parts, "record in "+t.label(rel.StorageNamespace))
	}
	return parts
}

// messages writes all warnings or errors of a release, because they say how far the rest can be trusted.
func (t *text) messages(kind string, all []report.Message) {
	for _, m := range all {
		t.prose(kind + t.messageOf(m))
	}
}

// messageOf returns a warning or an error. File and line stand at the end of the first line, where they are easier to find than among the
// lines of a template's own message. A message of Helm that names them in its first line already does not get them twice.
func (t *text) messageOf(m report.Message) string {
	lines := escape.SplitLines(m.Message, t.ascii)
	place := t.escape(m.File)
	if m.Line > 0 {
		place += fmt.Sprintf(":%d", m.Line)
	}
	if m.File != "" && !strings.Contains(lines[0], place) {
		lines[0] += " (" + place + ")"
	}
	if m.Object != "" {
		lines[0] = t.escape(m.Object) + ": " + lines[0]
	}
	return strings.Join(lines, "\n")
}
