package ci

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxComment is how many characters a comment on GitHub may have, with room left for the line that counts what is left out.
const maxComment = 65536 - 256

// Markdown returns a report as a comment on a pull request: a table of the releases, and what was found in each in a folded part. It begins
// with a comment that a script can find again to update it. What does not fit into a comment is counted.
func Markdown(r *report.Report, _ Options) ([]byte, error) {
	d := &comment{}
	d.add("<!-- helmdrift -->\n### helmdrift: " + headline(r) + "\n\n")
	if len(r.Errors) > 0 {
		d.add("What could not be searched is not part of the counts:\n\n")
		for _, e := range entriesOf(&report.Report{Errors: r.Errors}) {
			d.item(fmt.Sprintf("- **error** %s\n", code(e.sentence())))
		}
		d.add("\n")
	}
	releases := ordered(r.Releases)
	d.table(releases)
	for _, release := range releases {
		d.details(release)
	}
	if d.dropped > 0 {
		d.text.WriteString(fmt.Sprintf("\n%d more lines do not fit into a comment: see the full report.\n", d.dropped))
	}
	return []byte(d.text.String()), nil
}

// headline returns the answer in one clause.
func headline(r *report.Report) string {
	s := r.Summary
	answer := "no drift"
	if s.DriftedReleases > 0 {
		answer = fmt.Sprintf("%d of %s drifted", s.DriftedReleases, english.Count(s.Releases, "release"))
	}
	if s.Fields.Conflict > 0 {
		answer += ", " + english.Count(s.Fields.Conflict, "conflict")
	}
	if s.Errors > 0 {
		answer += ", incomplete: " + english.Count(s.Errors, "error")
	}
	if s.Restarts > 0 {
		answer += ", Helm restarts " + english.Count(s.Restarts, "pod")
	}
	return answer
}

// ordered returns the releases, the most urgent first.
func ordered(releases []report.Release) []*report.Release {
	var out []*report.Release
	for i := range releases {
		out = append(out, &releases[i])
	}
	rank := func(r *report.Release) int { return slices.Index(report.States(), r.State()) }
	slices.SortStableFunc(out, func(a, b *report.Release) int { return rank(a) - rank(b) })
	return out
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

// item adds a line. One that does not fit is counted.
func (d *comment) item(text string) {
	if !d.add(text) {
		d.dropped++
	}
}

// maxClean is how many clean releases the table lists.
const maxClean = 10

// table adds a line for each release; of many clean ones, their number.
func (d *comment) table(releases []*report.Release) {
	if len(releases) == 0 {
		return
	}
	d.add("| state | release | namespace | found |\n|---|---|---|---|\n")
	clean := 0
	for _, r := range releases {
		if r.State() == report.StateClean {
			if clean++; clean > maxClean {
				continue
			}
		}
		namespace := r.StorageNamespace
		if r.Cluster != "" {
			namespace += " on " + r.Cluster
		}
		d.item(fmt.Sprintf("| %s | %s | %s | %s |\n", r.State(), cell(r.Name), cell(namespace), found(r)))
	}
	if clean > maxClean {
		d.item(fmt.Sprintf("| clean | %d more | | |\n", clean-maxClean))
	}
}

// found counts what was found in a release.
func found(r *report.Release) string {
	counts, order := map[string]int{}, []string{}
	for _, e := range releaseEntries(r) {
		word := e.rule
		switch {
		case e.level == levelSilent:
			continue
		case e.rule == "error" || e.rule == "fail" || e.rule == "conflict" || e.rule == "missing" || e.rule == "terminating":
		case e.level == levelWarning:
			word = "drifted"
		default:
			word = "other"
		}
		if counts[word]++; counts[word] == 1 {
			order = append(order, word)
		}
	}
	var parts []string
	for _, word := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[word], word))
	}
	return strings.Join(parts, ", ")
}

// details adds what was found in a release, folded. A release without anything has none.
func (d *comment) details(r *report.Release) {
	var loud []entry
	for _, e := range releaseEntries(r) {
		if e.level != levelSilent {
			loud = append(loud, e)
		}
	}
	if len(loud) == 0 {
		return
	}
	summary := fmt.Sprintf("\n<details><summary><code>%s</code>: %s</summary>\n\n", html.EscapeString(neutral(ReleaseName(r))), found(r))
	const end = "\n</details>\n"
	if d.size+utf8.RuneCountInString(summary+end) > maxComment {
		d.dropped += len(loud)
		return
	}
	d.add(summary)
	d.size += len(end) // so that the fold is always closed
	if r.Effect != nil {
		d.item("Effect: " + code(line(r.Effect.Text)) + "\n\n")
	}
	d.add("| | object | field | change | by | |\n|---|---|---|---|---|---|\n")
	for _, e := range loud {
		d.item(fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", e.rule, cell(e.subject), cell(e.path), cell(e.change), cell(e.by), cell(e.says)))
	}
	d.size -= len(end)
	d.add(end)
}

// cell returns a text of others as a cell of a table; empty if it is empty. A pipe ends a cell even within code.
func cell(text string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(code(line(text)), "|", `\|`)
}

// code returns a text as a code span, in which Markdown and GitHub see no element, link or mention. The fence is longer than any run of
// backticks in it (CommonMark 0.31 section 6.1).
func code(text string) string {
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 || strings.TrimSpace(text) != text {
		text = " " + text + " "
	}
	return fence + text + fence
}

// neutral returns a text without mentions: GitHub notifies whoever is mentioned outside of a code span.
func neutral(text string) string { return strings.ReplaceAll(text, "@", "@\u200b") }
