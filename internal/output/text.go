package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// minWidth is the narrowest terminal that we lay out for.
const minWidth = 40

// writeText gives the report for people; the rules are in the package comment.
func writeText(r *report.Report, opts Options) ([]byte, error) {
	t := newText(opts, r.Time)
	for _, rel := range r.Releases {
		t.release(rel)
		t.line("")
	}
	t.summary(r)
	t.fixHint(opts)
	return t.out.Bytes(), nil
}

// newText begins a text; made is when its document was.
func newText(opts Options, made time.Time) *text {
	t := &text{style: newStyle(opts), width: opts.Width, now: opts.Now, showIgnored: opts.ShowIgnored}
	if t.width > 0 {
		t.width = max(t.width, minWidth)
	}
	if t.now.IsZero() {
		t.now = made
	}
	return t
}

// text collects the lines of one text report.
type text struct {
	style
	out bytes.Buffer
	// width is the number of columns to stay within; 0 means all there are.
	width int
	now   time.Time
	// showIgnored tells that what rules silence is listed.
	showIgnored bool
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
// The lines of a message (see lines) stay lines, and keep some of their own indent.
func (t *text) wrapped(s string, indent int) []string {
	const most = 8
	lines := strings.Split(s, "\n")
	if t.width == 0 {
		return lines
	}
	var all []string
	for _, l := range lines {
		rest := strings.TrimLeft(l, " ")
		own := strings.Repeat(" ", min(most, len(l)-len(rest)))
		for _, piece := range wrap(rest, t.width-indent-displayWidth(t.gutter)-len(own)) {
			all = append(all, own+piece)
		}
	}
	return all
}

// lines makes a message safe and keeps its lines apart, as the authors of templates and of Helm wrote them. Its answer is
// the only text with line breaks in it; prose, below and object put all lines but their own behind a gutter.
func (t *text) lines(message string) string {
	all := strings.Split(strings.Trim(strings.ReplaceAll(message, "\r\n", "\n"), " \n"), "\n")
	for i, l := range all {
		all[i] = t.text(strings.TrimRight(l, " "))
	}
	return strings.Join(all, "\n")
}

// release writes one release: the answer, what hampered it, and the objects.
func (t *text) release(rel report.Release) {
	t.head(rel, releaseAnswer(rel))
	rel = t.shown(rel)
	if len(rel.Objects) > 0 {
		t.line("")
	}
	t.objects(rel)
}

// head writes the first line of a release with the answer in it, and what hampered it.
func (t *text) head(rel report.Release, answer string) {
	head := "release " + t.label(rel.Name)
	if rel.Namespace != "" {
		head += " in " + t.label(rel.Namespace)
	}
	if rel.Cluster != "" {
		head += " on " + t.label(rel.Cluster)
	}
	if hasWarning(rel, report.WarnRecordElsewhere) {
		answer = "the record in " + t.label(rel.StorageNamespace) + " may be a copy, " + answer
	}
	head += ": " + strings.Join(append([]string{answer}, t.origin(rel)...), t.dot)
	for i, l := range t.wrapped(head, 0) {
		if i > 0 {
			l = t.gutter + l
		}
		t.line(t.heading(l))
	}
	t.messages("error: ", rel.Errors)
	t.messages("warning: ", rel.Warnings)
}

// hasWarning reports whether a release has a warning with a code.
func hasWarning(rel report.Release, code string) bool {
	return slices.ContainsFunc(rel.Warnings, func(m report.Message) bool { return m.Code == code })
}

// releaseAnswer is the release in one clause. "No drift" is said only of a release that was seen whole; that the operation
// fails is said before all else.
func releaseAnswer(rel report.Release) string {
	drifted, going, unseen := 0, 0, 0
	for _, o := range rel.Objects {
		drifted += one(o.Drifted)
		going += one(o.Terminating && o.IgnoredBy == nil)
		unseen += one(o.Error != nil)
	}
	render := countRender(rel.Errors)
	answer := fmt.Sprintf("%d of %s drifted", drifted, plural(rel.Compared, "object"))
	switch incomplete := unseen > 0 || len(rel.Errors) > render; {
	case installs(rel) && rel.Last != nil:
		answer = "not installed"
	case installs(rel):
		answer = "not installed yet"
	case rel.Compared == 0 && incomplete:
		return "could not be compared"
	case drifted == 0 && incomplete:
		answer = "no drift seen in " + plural(rel.Compared-unseen, "object")
	case drifted == 0:
		answer = "no drift in " + plural(rel.Compared, "object")
	}
	if going > 0 {
		answer += fmt.Sprintf(", %d being deleted", going)
	}
	if unseen > 0 {
		answer += fmt.Sprintf(", %d could not be compared", unseen)
	}
	if previews(rel.Operation) {
		answer = previewAnswer(rel, answer)
	}
	if rel.Terminating {
		answer = "its namespace is being deleted, " + answer
	}
	if render > 0 {
		answer += ", the chart could not be rendered"
	}
	if len(rel.Errors) > render {
		answer += ", incomplete"
	}
	return answer
}

// previewAnswer puts what an operation does with the objects around the answer to whether they drifted. A failing operation
// that changes none of them is another night than one that stops halfway.
func previewAnswer(rel report.Release, answer string) string {
	failing, written, disagreeing := 0, 0, 0
	for _, o := range rel.Objects {
		failing += one(o.Action == report.ActionFail)
		written += one(o.Action.Writes())
		disagreeing += one(o.DryRun != nil && o.DryRun.Result == dryRunDisagrees)
	}
	op := operation(rel.Operation)
	switch {
	case failing > 0 && written == 0:
		answer = fmt.Sprintf("%s fails on %s and changes none, %s", op, plural(failing, "object"), answer)
	case failing > 0:
		answer = fmt.Sprintf("%s fails on %s and changes %d, %s", op, plural(failing, "object"), written, answer)
	case written > 0 && !installs(rel):
		answer += fmt.Sprintf(", %s changes %d", op, written)
	}
	if disagreeing > 0 {
		answer += fmt.Sprintf(", the server disagrees on %d", disagreeing)
	}
	return answer
}

// installs tells whether there is no revision that the operation would start from.
func installs(rel report.Release) bool {
	return rel.Operation == report.OperationInstall && rel.Old == nil
}

// countRender counts the errors that say that the chart could not be rendered; their code is part of the contract.
func countRender(errs []report.Message) int {
	n := 0
	for _, e := range errs {
		n += one(e.Code == "render")
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// origin says which revision the objects were compared with, and what they are to become. What goes without saying is
// not said: that last is old, that the record lies where the objects are, that desired is the record itself.
func (t *text) origin(rel report.Release) []string {
	var parts []string
	if old := rel.Old; old != nil {
		parts = append(parts, fmt.Sprintf("revision %d", old.Revision))
		parts = t.appendLabels(parts, old.Chart, old.Status)
	}
	if last := rel.Last; last != nil && (rel.Old == nil || last.Revision != rel.Old.Revision) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("last revision %d %s", last.Revision, t.text(last.Status))))
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

// appendLabels appends those names that are known; old records lack some.
func (t *text) appendLabels(parts []string, labels ...string) []string {
	for _, l := range labels {
		if l != "" {
			parts = append(parts, t.label(l))
		}
	}
	return parts
}

// messages writes warnings or errors of a release in full: they say what the rest is worth. File and line stand at the end
// of the first line, where they are not lost among the lines of a template's own message, unless that names them itself.
func (t *text) messages(kind string, all []report.Message) {
	for _, m := range all {
		where := ""
		if m.Object != "" {
			where = t.text(m.Object) + ": "
		}
		at := t.text(m.File)
		if m.Line > 0 {
			at += fmt.Sprintf(":%d", m.Line)
		}
		first, more, found := strings.Cut(t.lines(m.Message), "\n")
		if found {
			more = "\n" + more
		}
		if m.File != "" && !strings.Contains(first, at) {
			first += " (" + at + ")"
		}
		t.prose("", kind, where+first+more)
	}
}

// operation names what the report predicts, as the subject of a sentence.
func operation(op report.Operation) string {
	switch op {
	case report.OperationDrift:
		return "the next upgrade"
	case report.OperationUpgrade:
		return "the upgrade"
	case report.OperationRollback:
		return "the rollback"
	case report.OperationInstall:
		return "the install"
	}
	return "the next upgrade" // an operation of a later version of the report
}

// previews tells whether an operation is one that somebody is about to do. What it changes then stands apart from what
// drifted underneath. Plain drift, and what a later version of the report may ask, have no such two parts.
func previews(op report.Operation) bool {
	switch op {
	case report.OperationUpgrade, report.OperationRollback, report.OperationInstall:
		return true
	case report.OperationDrift:
	}
	return false
}

// plural counts things: "1 object", "2 objects".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
