package ci

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/environments"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/output/urgency"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// maxComment is how many characters a comment on GitHub may have, with room left for the line that counts what is left out.
	maxComment = 65536 - 256
	// maxRows is how many rows stand above the first fold. With everything else that stands there, they fit into 60 lines.
	maxRows = 25
	// maxUnseen is how many messages about what could not be seen stand above the first fold. If there are more, all are in it.
	maxUnseen = 2
	// maxDeployers is how many releases have a line above the first fold that says what their controller does.
	maxDeployers = 15
	// maxClaims is how many orphans and overlaps have a line.
	maxClaims = 10
	// maxWho is how many field managers a line names.
	maxWho = 5
)

// Markdown returns a report as a comment on a pull request. The answer stands at the top, within 60 lines and in the words of the text
// format: whether anything drifted, who did it, what Helm does and what to do. Folds below have the rest. The comment begins with an HTML
// comment, so that a script can find it again to update it. It counts what is clean, and what does not fit.
func Markdown(r *report.Report, _ Options) ([]byte, error) {
	d := &comment{}
	phrases := text.NewPhrases(r)
	answer := phrases.Answer(r)
	d.add("<!-- helmdrift -->\n### helmdrift: " + headline(r, phrases, answer) + "\n\n")
	d.answer(r, answer)
	releases := found(r.Releases)
	if len(r.Releases) == 1 {
		for _, release := range releases {
			d.release(release)
		}
	} else {
		d.table(releases, phrases)
		if environments.Are(r.Releases) {
			d.environments(environments.Of(phrases.Text, r.Releases))
		}
		for _, release := range releases {
			d.details(release, phrases)
		}
	}
	d.claims(claimEntries(r.Scan))
	if len(r.Errors) > maxUnseen {
		d.fold("what could not be searched", entriesOf(&report.Report{Errors: r.Errors}), d.findings)
	}
	if d.dropped > 0 {
		d.text.WriteString(fmt.Sprintf("\n%d more lines do not fit into a comment: see the full report.\n", d.dropped))
	}
	return []byte(d.text.String()), nil
}

// headline returns the answer in one clause. That not everything was seen is part of it.
func headline(r *report.Report, phrases text.Phrases, answer text.Answer) string {
	said := layout.Clauses{prose(cmp.Or(answer.Drift, answer.Operation))}
	if len(r.Releases) == 1 {
		rel := r.Releases[0]
		said[0] = releaseCode(rel) + ": " + prose(phrases.Release(rel).Answer)
	}
	said.Count(r.Summary.Fields.Conflict, "conflict")
	said.AddIf(r.Summary.Errors > 0, "not everything was seen: "+english.Count(r.Summary.Errors, "error"))
	return strings.Join(said, ", ")
}

// releaseCode names a release as Markdown.
func releaseCode(r report.Release) string {
	return code(strings.TrimPrefix(ReleaseName(&r), "release "))
}

// found returns the releases with something to say, the most urgent first.
func found(releases []report.Release) []*report.Release {
	var out []*report.Release
	for i := range releases {
		if r := &releases[i]; len(loud(r)) > 0 {
			out = append(out, r)
		}
	}
	rank := func(r *report.Release) int { return slices.Index(report.States(), r.State()) }
	order.Sort(out, func(a, b *report.Release) int { return rank(a) - rank(b) })
	return out
}

// answer adds who did it, what Helm does, what to do, what is clean and what could not be seen. Each is a line.
func (d *comment) answer(r *report.Report, answer text.Answer) {
	if len(r.Releases) == 1 && r.Releases[0].Deployer != nil {
		d.point("Deployer", prose(r.Releases[0].Deployer.Says()))
	}
	if len(r.Releases) > 1 {
		d.deployers(urgency.Acting(r.Releases))
	}
	d.point("Who", who(r))
	if answer.Drift != "" || len(r.Releases) == 1 { // else the headline has it
		title := "What Helm does"
		if len(r.Releases) == 1 && r.Releases[0].Operation == report.OperationSync {
			title = "What a sync does"
		}
		d.point(title, prose(answer.Operation))
	}
	for effect := range strings.Lines(answer.Effect) {
		d.point("Pods", prose(strings.TrimSpace(effect)))
	}
	d.point("What to do", whatToDo(r))
	d.point("Not seen", unseen(r))
	if len(r.Errors) <= maxUnseen {
		for _, message := range entriesOf(&report.Report{Errors: r.Errors}) {
			d.point("Not seen", code(message.sentence()))
		}
	}
	var others []string
	for _, other := range answer.Others {
		others = append(others, prose(other))
	}
	d.point("Also", strings.Join(others, "; "))
	d.point("Clean", clean(r))
	d.add("\n")
}

// deployers adds a line for each release whose controller acts.
func (d *comment) deployers(acting []report.Release) {
	for i, r := range acting {
		if i == maxDeployers {
			d.point("Deployer", english.Count(len(acting)-i, "more release"))
			return
		}
		d.point("Deployer", code(line(r.Deployer.Kind+" "+r.Deployer.Name+" in "+r.Deployer.Namespace))+": "+prose(r.Deployer.Says()))
	}
}

// claims adds a line for each object that the wrong number of deployers claim.
func (d *comment) claims(all []entry) {
	if len(all) > 0 && !strings.HasSuffix(d.text.String(), "\n\n") {
		d.add("\n")
	}
	for i, e := range all {
		if i == maxClaims {
			d.item(fmt.Sprintf("- %d more orphans and overlaps\n", len(all)-i))
			return
		}
		d.point(strings.ToUpper(e.rule[:1])+e.rule[1:], code(line(e.subject))+": "+prose(e.says))
	}
}

// unseen counts what could not be searched, read or compared. The messages stand at the objects and releases, or in a fold at the end.
func unseen(r *report.Report) string {
	var unsearched []report.ScanError
	others, orphans := 0, false
	for _, e := range r.Errors {
		switch {
		case e.Code == report.ErrorOrphans:
			orphans = true
		case counts.WasSearched(e), e.Code == report.ErrorSource:
			others++
		default:
			unsearched = append(unsearched, e)
		}
	}
	var said layout.Clauses
	said.AddIf(len(unsearched) > 0, counts.Unsearched(unsearched)+" could not be searched")
	said.AddIf(orphans, "some orphans may be missing")
	said.Count(others, "other error")
	c := counts.Of(r.Releases)
	said.AddIf(c.ReleaseErrors > 0, english.Count(c.ReleaseErrors, "error")+" of releases")
	said.AddIf(c.ObjectErrors > 0, english.Count(c.ObjectErrors, "object")+" could not be compared")
	said.AddIf(c.RenderErrors > 0, "the chart could not be rendered, so what it would change is not known")
	return strings.Join(said, "; ")
}

// point adds a line with a label. It adds nothing for an empty text.
func (d *comment) point(label, said string) {
	if said != "" {
		d.item("- **" + label + ":** " + said + "\n")
	}
}

// who names the field managers that own what drifted, or what else was found, and says how old the oldest edit is.
func who(r *report.Report) string {
	var names []string
	var oldest time.Time
	for _, release := range r.Releases {
		names = append(names, release.Editors()...)
		if at, known := release.OldestEdit(); known && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	names = layout.Distinct(names, func(name string) string { return name })
	said := codes(names, maxWho)
	if said != "" && !oldest.IsZero() {
		said += "; the oldest edit is " + layout.Span(r.Time.Sub(oldest)) + " older than this report"
	}
	return said
}

// codes names things, and counts those beyond the first few.
func codes(names []string, most int) string {
	said := make([]string, len(names))
	for i, name := range names {
		said[i] = code(line(name))
	}
	return strings.Join(english.AtMost(said, most), ", ")
}

// whatToDo returns the next command. A preview that overwrites edits has none that puts back, since the operation itself does.
func whatToDo(r *report.Report) string {
	if len(r.Releases) != 1 {
		if slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return layout.FixCommand(rel) != "" }) {
			return "the command beside a release puts back what drifted"
		}
		return ""
	}
	rel := r.Releases[0]
	fix, keep := layout.FixCommand(rel), ""
	if losesEdits(rel) {
		keep = layout.Command("absorb", rel)
	}
	isFailing := func(o report.Object) bool { return o.Action == report.ActionFail }
	switch {
	case fix != "" && keep != "":
		return code(fix) + " puts back what drifted; " + code(keep+" CHART") + " keeps edits in the values"
	case fix != "":
		return code(fix) + " puts back what drifted"
	case r.Summary.Fields.Conflict > 0 || slices.ContainsFunc(rel.Objects, isFailing):
		return operation(&rel) + " fails as things are; the first rows say why"
	case keep != "" && rel.Operation == report.OperationUpgrade:
		return "the upgrade undoes edits; " + code(keep+" CHART") + " keeps them in the values"
	}
	return ""
}

// losesEdits reports whether an operation overwrites or removes a field that drifted.
func losesEdits(r report.Release) bool {
	return slices.ContainsFunc(r.Objects, func(o report.Object) bool {
		return slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return f.Drifted() && f.Verdict.Writes() && !f.Blocked })
	})
}

// clean counts the releases and objects without anything to say. What could not be read does not count.
func clean(r *report.Report) string {
	releases, objects := 0, 0
	for i := range r.Releases {
		rel := &r.Releases[i]
		said := map[*report.Object]bool{}
		for _, e := range loud(rel) {
			if e.object != nil {
				said[e.object] = true
			}
		}
		if len(rel.Errors) == 0 {
			objects += max(0, rel.Compared-len(said))
		}
		if rel.State() == report.StateClean {
			releases++
		}
	}
	var out layout.Clauses
	if len(r.Releases) > 1 {
		out.Count(releases, "release")
	}
	out.Count(objects, "object")
	return strings.Join(out, ", ")
}

// comment is a comment that is being written. Lines that do not fit are counted.
type comment struct {
	text    strings.Builder
	size    int
	dropped int
}

// add adds text if all of it fits, and reports whether it does.
func (d *comment) add(text string) bool {
	n := utf8.RuneCountInString(text)
	if d.size+n > maxComment {
		return false
	}
	d.size += n
	d.text.WriteString(text)
	return true
}

// item adds a line, or lines that stand or fall together. They are counted if they do not fit.
func (d *comment) item(text string) {
	if !d.add(text) {
		d.dropped += strings.Count(text, "\n")
	}
}

// table adds a line for each of several releases. Those beyond the first are counted; their folds are below.
func (d *comment) table(releases []*report.Release, phrases text.Phrases) {
	var rows [][]string
	for _, r := range releases[:min(len(releases), maxRows)] {
		rows = append(rows, []string{
			string(r.State()), strings.ReplaceAll(releaseCode(*r), "|", `\|`), prose(phrases.Release(*r).Found),
			strings.ReplaceAll(codes(r.Editors(), 2), "|", `\|`), cell(layout.FixCommand(*r)),
		})
	}
	d.rows([]string{"state", "release", "found", "who", "puts it back"}, rows)
	if more := len(releases) - maxRows; more > 0 {
		d.item("\n" + english.Count(more, "more release") + " below.\n")
	}
}

// environments adds the table of one release in several environments. Fields beyond the first are counted; their folds are below.
func (d *comment) environments(table environments.Table) {
	d.add("\n")
	var rows [][]string
	for _, row := range table.Rows[:min(len(table.Rows), maxRows)] {
		cells := []string{row.Title}
		if len(rows) >= environments.Heads {
			cells[0] = code(row.Title)
		}
		for _, c := range row.Cells {
			cells = append(cells, prose(c))
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		rows = append(rows, cells)
	}
	head := []string{cell(table.Title)}
	for _, name := range table.Names {
		head = append(head, cell(name))
	}
	d.rows(head, rows)
	if more := len(table.Rows) - maxRows; more > 0 {
		d.item("\n" + english.Count(more, "more row") + " below.\n")
	}
}

// ownWords matches texts of our own words and numbers. Markdown and GitHub see no element, link or mention in such a text.
var ownWords = regexp.MustCompile(`^(?:[a-z]+|Helm|Kubernetes|[0-9]{1,6}|[ ,;()'-]|: )+$`)

// prose returns a text as it is if it has only words of our own, and else as code, since names of others are in it.
func prose(text string) string {
	if text == "" || ownWords.MatchString(text) {
		return text
	}
	return code(line(text))
}

// cell returns a foreign text as a cell of a table. It is empty for an empty text. A pipe ends a cell even within code.
func cell(text string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(code(line(text)), "|", `\|`)
}

// code returns a text as a code span, where Markdown and GitHub see no element, link or mention. The fence is longer than any run of
// backticks in it (CommonMark 0.31 section 6.1).
func code(text string) string {
	fence := fenceOf(text, 1)
	if len(fence) > 1 || strings.TrimSpace(text) != text {
		text = " " + text + " "
	}
	return fence + text + fence
}

// fenceOf returns a run of backticks that is longer than any in a text, of at least a length.
func fenceOf(text string, least int) string {
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", max(least, longest+1))
}

// neutral returns a text without mentions: GitHub notifies whoever is mentioned outside of a code span.
func neutral(text string) string { return strings.ReplaceAll(text, "@", "@\u200b") }
