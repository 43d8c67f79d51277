package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Report returns a report for people. The package comment has the rules.
func Report(r *report.Report, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	r = withScan(r)
	if len(r.Releases) > 1 {
		opts.Plan, opts.IsPlanned = nil, false // they are about one release
	}
	head := t.reportAnswer(r, opts)
	if r.Scan != nil {
		t.scan(r, head, opts)
	} else {
		t.release(r.Releases[0], head)
		t.AfterBlank(func() { t.summary(r) })
	}
	if t.Width == 0 && t.linesBetween(0, t.Out.Len()) > screen {
		t.AfterBlank(func() { t.answer(head) })
	}
	return t.Out.Bytes()
}

// Head returns the block that a report begins with, for a terminal on which a pager has shown the report.
func Head(r *report.Report, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	t.answer(t.reportAnswer(withScan(r), opts))
	t.lines([]string{t.helpLine(r)})
	return t.Out.Bytes()
}

// reportAnswer returns the answer for a whole report.
func (t *text) reportAnswer(r *report.Report, opts layout.Options) answer {
	if r.Scan == nil {
		a := t.releaseAnswer(r.Releases[0], opts)
		if r.Summary.Errors > 0 && !r.Releases[0].HasError() { // an error that a later version of the report has elsewhere
			i := slices.IndexFunc(a.lines, func(l answerLine) bool { return l.state != "" })
			a.lines[i] = t.stateLine(report.StateError, r.Releases, a.lines[i].said+", incomplete")
		}
		return a
	}
	return t.scanAnswer(r, entriesOf(r.Releases), opts)
}

// withScan returns a report that has either one release or the data of a scan. Other programs write reports of several releases without
// these data.
func withScan(r *report.Report) *report.Report {
	if r.Scan != nil || len(r.Releases) == 1 {
		return r
	}
	scan := *r
	scan.Scan = &report.Scan{}
	return &scan
}

// Errors returns what could not be searched, read or compared, for a command that prints no report. It is empty if there are no errors.
func Errors(r *report.Report, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	t.troubles("Error: ", slices.Concat(t.scanTroubles(r.Errors), t.releaseTroubles(entriesOf(r.Releases))))
	return t.Out.Bytes()
}

// summary writes what the answer has no room for: what was left out on purpose, what is only counted, and what could not be seen.
func (t *text) summary(r *report.Report) {
	if left := notCompared(r.Releases); left != "" {
		t.Prose("not compared: " + t.Escape(left))
	}
	c := counts.Of(r.Releases)
	lines := []string{layout.JoinNonEmpty("; ", c.Extras(c.Unmentioned()), t.Escape(c.UnlistedCounts(t.ShowIgnored))), t.helpLine(r)}
	t.lines(append(lines, c.Incomplete(r.Summary, len(r.Errors))...))
}

// helpLine names the help about the findings of a report. It is empty if there are none, and if no person reads them as they come.
func (t *text) helpLine(r *report.Report) string {
	hasFindings := func(rel report.Release) bool {
		return rel.Drifted || slices.Contains([]report.State{report.StateUninstall, report.StateBlocked, report.StateChanged}, rel.State())
	}
	if t.Width == 0 || !slices.ContainsFunc(r.Releases, hasFindings) {
		return ""
	}
	return "what to do about each line: helmdrift help verdicts"
}

// lines writes the lines that are not empty.
func (t *text) lines(all []string) {
	for _, l := range all {
		if l != "" {
			t.Prose(l)
		}
	}
}

// notCompared counts, by reason, the objects that have no live counterpart by design.
func notCompared(releases []report.Release) string {
	var all []report.NotCompared
	for _, rel := range releases {
		all = append(all, rel.NotCompared...)
	}
	n := map[string]int{}
	for _, o := range all {
		n[o.Reason]++
	}
	reasons := layout.Distinct(all, func(o report.NotCompared) string { return o.Reason })
	for i, reason := range reasons {
		switch reason {
		case report.NotComparedHook:
			reasons[i] = english.Count(n[reason], "hook")
		case report.NotComparedMasked:
			reasons[i] = english.Count(n[reason], "masked value")
		default:
			reasons[i] = english.Count(n[reason], "object") + " (" + reason + ")"
		}
	}
	return strings.Join(reasons, ", ")
}
