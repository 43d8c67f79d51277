package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/edits"
	"github.com/helmdrift/helmdrift/internal/output/found"
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
	c := countsOf(r.Releases)
	lines := []string{layout.JoinNonEmpty("; ", c.extras(c.unmentioned()), c.unlistedCounts(t.ShowIgnored)), t.helpLine(r)}
	t.lines(append(lines, c.incomplete(r.Summary, len(r.Errors))...))
}

// helpLine names the help about the findings of a report. It is empty if there are none, and if no person reads them as they come.
func (t *text) helpLine(r *report.Report) string {
	hasFindings := func(rel report.Release) bool {
		return rel.Drifted || slices.Contains([]report.State{report.StateBlocked, report.StateChanged}, rel.State())
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

// drift answers the first question: has the cluster left what Helm deployed? A release that is not installed has nothing to leave.
func (c *counts) drift(r *report.Report) string {
	s := r.Summary
	compared := english.Count(s.Objects, "object") + " compared"
	switch {
	case s.Releases == 0:
		return "no release compared"
	case s.DriftedObjects > 0:
	case !slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return !isInstall(rel) }):
		return ""
	case s.Errors > c.renderErrors || c.objectErrors > 0:
		return fmt.Sprintf("%s seen in %d of %s", layout.NoDrift(r.Releases...), s.Objects-c.objectErrors, english.Count(s.Objects, "object"))
	case s.DriftedReleases > 0:
		return "a namespace is being deleted: " + compared
	default:
		return layout.NoDrift(r.Releases...) + ": " + compared
	}
	said := "drifted: " + driftIn(r)
	if s.Releases > 1 {
		said += fmt.Sprintf(" (%d of %s)", s.DriftedReleases, english.Count(s.Releases, "release"))
	}
	return said
}

// driftIn says what drifted in all releases.
func driftIn(r *report.Report) string {
	var n found.Counts
	for _, rel := range r.Releases {
		n.Add(found.In(rel))
	}
	return n.Drift(r.Summary.Objects)
}

// operation answers the second question: what will Helm do? It is empty if nothing is known of it.
func (c *counts) operation(releases []report.Release) string {
	does := c.does()
	if len(does) == 0 || len(releases) == 0 {
		return ""
	}
	return subject(releases) + " " + layout.Enumerate(does)
}

// does says what Helm will do. It begins with failures, goes on with the edits that are lost and with what else changes, and ends with the
// edits that stay.
func (c *counts) does() layout.Clauses {
	stay, lost := c.edits.Divided()
	changed := ""
	if c.changed > 0 {
		changed = "changes " + english.Count(c.changed, "field") + " in " + english.Count(c.changedObjects, "object")
	}
	if n := c.actions[report.ActionKeep]; n > 0 {
		stay = append(layout.Clauses{"leaves " + english.Count(n, "dropped object") + " in the cluster"}, stay...)
	}
	return c.doing(lost, changed, stay)
}

// doesInShort is does for a narrow terminal: it counts edits without saying how each is undone.
func (c *counts) doesInShort() layout.Clauses {
	left, all := 0, 0
	for e, n := range c.edits {
		left += n * layout.OneIf(e.Verb == edits.Leaves)
		all += n
	}
	var lost, changed, stay layout.Clauses
	lost.Add("undoes", all-left, "edit")
	changed.Add("changes", c.changed, "field")
	stay.Add(edits.Leaves, left, "edit")
	if n := c.actions[report.ActionKeep]; n > 0 {
		rest := strings.TrimPrefix(layout.Enumerate(stay), edits.Leaves+" ")
		stay = layout.Clauses{layout.JoinNonEmpty(" and ", "leaves "+english.Count(n, "dropped object"), rest)}
	}
	return c.doing(lost, layout.Enumerate(changed), stay)
}

// doing says what Helm will do with clauses about edits that are lost, changes, and edits that stay.
func (c *counts) doing(lost layout.Clauses, changed string, stay layout.Clauses) layout.Clauses {
	var does layout.Clauses
	does.Add("fails on", c.actions[report.ActionFail], "object")
	does.Add("conflicts on", c.conflicts, "field")
	does.Add("does not reach", c.actions[report.ActionSkip], "object")
	does = append(does, lost...)
	if changed != "" {
		does = append(does, changed)
	}
	does.Add("does not make", c.unmade, "change")
	c.objectClauses(&does)
	does = append(does, stay...)
	fails, writes := c.actions[report.ActionFail] > 0, c.written() > 0
	switch {
	case fails && !writes:
		does = append(does, "changes no object")
	case len(does) == 0 && writes:
		does = append(does, "changes only what does not count as drift")
	case len(does) == 0 && c.releaseErrors+c.objectErrors+c.renderErrors == 0:
		does = append(does, "changes nothing")
	}
	return does
}

// objectClauses say which objects come and go.
func (c *counts) objectClauses(does *layout.Clauses) {
	does.AddVerbs("object", layout.Verb{Name: "re-creates", N: c.actions[recreate]}, layout.Verb{Name: "creates", N: c.actions[report.ActionCreate]},
		layout.Verb{Name: "adopts", N: c.actions[report.ActionAdopt]}, layout.Verb{Name: "replaces", N: c.actions[report.ActionReplace]},
		layout.Verb{Name: "deletes", N: c.actions[report.ActionDelete]})
	if n := c.deletedEdits; c.allPreviews && n > 0 {
		(*does)[len(*does)-1] += fmt.Sprintf(" (%d drifted)", n)
	}
}

// subject returns who acts: the operation if all releases have the same one.
func subject(releases []report.Release) string {
	op := operationName(releases[0].Operation)
	for _, rel := range releases {
		if operationName(rel.Operation) != op {
			return "Helm"
		}
	}
	return op
}

// server says what the API server answered, if it was asked. A disagreement is a bug of this program, and comes first.
func (c *counts) server() layout.Clauses {
	var said layout.Clauses
	if n := c.dryRuns[report.DryRunDisagrees]; n > 0 {
		said = append(said, "disagrees on "+english.Count(n, "object")+" (please report it)")
	}
	said.Add("agrees on", c.dryRuns[report.DryRunAgrees], "object")
	said.Add("could not be asked about", c.dryRuns[report.DryRunRefused], "object")
	return said
}

// incomplete says what could not be seen. It includes errors that the summary counts but no release lists, except those about what could
// not be searched, because a scan says more about these.
func (c *counts) incomplete(s report.Summary, unsearched int) []string {
	var lines []string
	if c.objectErrors > 0 {
		lines = append(lines, english.Count(c.objectErrors, "object")+" could not be compared")
	}
	if c.renderErrors > 0 {
		lines = append(lines, "the chart could not be rendered, so what it would change is not known")
	}
	if n := max(c.releaseErrors, s.Errors-c.objectErrors-c.renderErrors-unsearched); n > 0 {
		lines = append(lines, "the comparison is incomplete: "+english.Count(n, "error"))
	}
	return lines
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
