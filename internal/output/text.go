package output

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// minWidth is the narrowest terminal that we lay out for.
const minWidth = 40

// writeText gives the report for people; the rules are in the package comment.
func writeText(r *threeway.Report, opts Options) ([]byte, error) {
	t := text{style: newStyle(opts), width: opts.Width, now: opts.Now}
	if t.width > 0 {
		t.width = max(t.width, minWidth)
	}
	if t.now.IsZero() {
		t.now = r.Time
	}
	for _, rel := range r.Releases {
		t.release(rel)
		t.line("")
	}
	t.summary(r)
	return t.out.Bytes(), nil
}

// text collects the lines of one text report.
type text struct {
	style
	out bytes.Buffer
	// width is the number of columns to stay within; 0 means all there are.
	width int
	now   time.Time
}

// line writes one line. Its parts are escaped, and the first of them is no value.
func (t *text) line(parts ...string) {
	t.out.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

// prose writes escaped text that may be longer than a line: its beginning after first, the rest below behind a gutter.
func (t *text) prose(indent, first, s string) {
	for i, l := range t.wrapped(first+s, len(indent)) {
		if i > 0 {
			l = t.gutter + l
		}
		t.line(indent, l)
	}
}

// below writes escaped text on lines that all stand behind a gutter.
func (t *text) below(indent, s string) {
	for _, l := range t.wrapped(s, len(indent)) {
		t.line(indent, t.gutter, l)
	}
}

// wrapped leaves room for an indent and a gutter on every line, also on those that get none: prose has one right edge.
func (t *text) wrapped(s string, indent int) []string {
	if t.width == 0 {
		return []string{s}
	}
	return wrap(s, t.width-indent-displayWidth(t.gutter))
}

// release writes one release: the answer, what hampered it, and the objects.
func (t *text) release(rel threeway.ReleaseReport) {
	head := "release " + t.label(rel.Name)
	if rel.Namespace != "" {
		head += " in " + t.label(rel.Namespace)
	}
	if rel.Cluster != "" {
		head += " on " + t.label(rel.Cluster)
	}
	head += ": " + strings.Join(append([]string{releaseAnswer(rel)}, t.origin(rel)...), t.dot)
	for i, l := range t.wrapped(head, 0) {
		if i > 0 {
			l = t.gutter + l
		}
		t.line(t.heading(l))
	}
	t.messages("error: ", rel.Errors)
	t.messages("warning: ", rel.Warnings)
	if len(rel.Objects) > 0 {
		t.line("")
	}
	t.objects(rel)
}

// releaseAnswer is the release in one clause. "No drift" is said only of a release that was seen whole.
func releaseAnswer(rel threeway.ReleaseReport) string {
	drifted, failed := 0, 0
	for _, o := range rel.Objects {
		if o.Drifted {
			drifted++
		}
		if o.Error != nil {
			failed++
		}
	}
	if rel.Compared == 0 && len(rel.Errors) > 0 {
		return "could not be compared"
	}
	answer := fmt.Sprintf("%d of %s drifted", drifted, plural(rel.Compared, "object"))
	switch incomplete := failed > 0 || len(rel.Errors) > 0; {
	case drifted == 0 && incomplete:
		answer = "no drift seen in " + plural(rel.Compared-failed, "object")
	case drifted == 0:
		answer = "no drift in " + plural(rel.Compared, "object")
	}
	if failed > 0 {
		answer += fmt.Sprintf(", %d could not be compared", failed)
	}
	if len(rel.Errors) > 0 {
		answer += ", incomplete"
	}
	return answer
}

// origin says which revision the objects were compared with, and what they are to become. What goes without saying is
// not said: that last is old, that the record lies where the objects are, that desired is the record itself.
func (t *text) origin(rel threeway.ReleaseReport) []string {
	var parts []string
	if old := rel.Old; old != nil {
		parts = append(parts, fmt.Sprintf("revision %d", old.Revision))
		parts = t.appendLabels(parts, old.Chart, old.Status)
	}
	if last := rel.Last; last != nil && (rel.Old == nil || last.Revision != rel.Old.Revision) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("last revision %d %s", last.Revision, t.text(last.Status))))
	}
	if d := rel.Desired; d != nil && d.Source == "chart" {
		parts = append(parts, "against chart "+t.label(d.Chart))
	}
	if d := rel.Desired; d != nil && d.Source == "revision" {
		parts = append(parts, fmt.Sprintf("against revision %d", d.Revision))
	}
	if rel.StorageNamespace != "" && rel.StorageNamespace != rel.Namespace {
		parts = append(parts, "record in "+t.label(rel.StorageNamespace))
	}
	return parts
}

// appendLabels appends those names that are known; old records lack some.
func (t *text) appendLabels(parts []string, labels ...string) []string {
	for _, l := range labels {
		if l != "" {
			parts = append(parts, t.label(l))
		}
	}
	return parts
}

// messages writes warnings or errors of a release in full: they say what the rest is worth.
func (t *text) messages(kind string, all []threeway.Message) {
	for _, m := range all {
		where := ""
		if m.Object != "" {
			where = t.text(m.Object) + ": "
		}
		at := ""
		if m.File != "" {
			at = fmt.Sprintf(" (%s)", t.text(m.File))
		}
		if m.File != "" && m.Line > 0 {
			at = fmt.Sprintf(" (%s:%d)", t.text(m.File), m.Line)
		}
		t.prose("", kind, where+t.text(m.Message)+at)
	}
}

// operation names what the report predicts, as the subject of a sentence.
func operation(op threeway.Operation) string {
	switch op {
	case threeway.OperationDrift:
		return "the next upgrade"
	case threeway.OperationUpgrade:
		return "the upgrade"
	case threeway.OperationRollback:
		return "the rollback"
	case threeway.OperationInstall:
		return "the install"
	}
	return "the next upgrade" // an operation of a later version of the report
}

// plural counts things: "1 object", "2 objects".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
