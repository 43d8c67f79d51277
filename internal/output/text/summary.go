package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Report returns a report for people. The package comment has the rules.
func Report(r *report.Report, opts Options) []byte {
	t := newText(opts, r.Time)
	if r.Scan != nil {
		t.scan(r)
	} else {
		for _, rel := range r.Releases {
			t.release(rel)
			t.line("")
		}
		t.summary(r)
	}
	if r.Scan == nil || len(r.Releases) == 1 {
		t.fixHint(opts)
	}
	return t.out.Bytes()
}

// Errors returns what could not be searched, read or compared, for a command that prints no report. It is empty if there is nothing.
func Errors(r *report.Report, opts Options) []byte {
	t := newText(opts, r.Time)
	t.troubles("Error: ", slices.Concat(t.scanTroubles(r.Errors), t.releaseTroubles(entriesOf(r.Releases))))
	return t.out.Bytes()
}

// summary writes the last lines: what was left out on purpose, the answer, what it means for pods, what the server said,
// and what could not be seen.
func (t *text) summary(r *report.Report) {
	if left := notCompared(r.Releases); left != "" {
		t.prose("not compared: " + t.escape(left))
	}
	c := countsOf(r.Releases)
	lines := []string{english.JoinNonEmpty("; ", c.drift(r), c.operation(r.Releases), c.extras(), c.unlistedCounts(t.showIgnored))}
	t.lines(lines)
	t.effects(r.Releases)
	t.lines(append(c.server(), c.incomplete(r.Summary, len(r.Errors))...))
}

// lines writes those lines that are not empty: a first installation that cannot be rendered has no answer.
func (t *text) lines(all []string) {
	for _, l := range all {
		if l != "" {
			t.prose(l)
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
		return fmt.Sprintf("no drift seen in %d of %s", s.Objects-c.objectErrors, english.Count(s.Objects, "object"))
	case s.DriftedReleases > 0:
		return "a namespace is being deleted: " + compared
	default:
		return "no drift: " + compared
	}
	said := english.Count(s.DriftedObjects, "object") + " drifted"
	if s.Releases > 1 {
		said += fmt.Sprintf(" in %d of %s", s.DriftedReleases, english.Count(s.Releases, "release"))
	}
	if s.Terminating > 0 {
		said += fmt.Sprintf(", %d being deleted", s.Terminating)
	}
	return said
}

// operation answers the second question: what will Helm do? A failure comes first, and then what becomes of drift.
func (c *counts) operation(releases []report.Release) string {
	var does clauses
	does.add("fails on", c.actions[report.ActionFail], "object")
	does.add("conflicts on", c.fields[report.Conflict], "field")
	does.add("does not reach", c.actions[report.ActionSkip], "object")
	if c.allPreviews {
		does = append(does, c.previewClauses()...)
	} else {
		does.add("adds", c.fields[report.Add], "field")
		does.add("removes", c.fields[report.Remove], "field")
		does.add("overwrites", c.fields[report.Overwrite], "field")
	}
	c.objectClauses(&does)
	if !c.allPreviews {
		does.add("leaves", c.fields[report.Ignore], "field")
	}
	fails, writes := c.actions[report.ActionFail] > 0, c.written() > 0
	switch {
	case c.allPreviews && fails && !writes:
		does = append(does, "changes no object")
	case c.allPreviews && len(does) == 0 && writes:
		does = append(does, "changes only what is ignored")
	case c.allPreviews && len(does) == 0 && c.releaseErrors+c.objectErrors+c.renderErrors == 0:
		does = append(does, "changes nothing")
	}
	if len(does) == 0 {
		return ""
	}
	return subject(releases) + " " + english.Enumerate(does)
}

// objectClauses say which objects come and go.
func (c *counts) objectClauses(does *clauses) {
	does.add("re-creates", c.actions[recreate], "object")
	does.add("creates", c.actions[report.ActionCreate], "object")
	does.add("adopts", c.actions[report.ActionAdopt], "object")
	does.add("replaces", c.actions[report.ActionReplace], "object")
	does.add("deletes", c.actions[report.ActionDelete], "object")
	if n := c.deletedEdits; c.allPreviews && n > 0 {
		(*does)[len(*does)-1] += fmt.Sprintf(" (%d drifted)", n)
	}
	if n := c.actions[report.ActionKeep]; n > 0 {
		*does = append(*does, "leaves "+english.Count(n, "dropped object")+" in the cluster")
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
func (c *counts) server() []string {
	var said clauses
	if n := c.dryRuns[report.DryRunDisagrees]; n > 0 {
		said = append(said, "disagrees on "+english.Count(n, "object")+" (please report it)")
	}
	said.add("agrees on", c.dryRuns[report.DryRunAgrees], "object")
	said.add("could not be asked about", c.dryRuns[report.DryRunRefused], "object")
	if len(said) == 0 {
		return nil
	}
	return []string{"the server " + english.Enumerate(said)}
}

// incomplete says what could not be seen. An error that the summary counts and no release lists is an error too, unless it is about what
// could not be searched, of which a scan says more.
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

// notCompared counts by reason what has no live counterpart by design.
func notCompared(releases []report.Release) string {
	var all []report.NotCompared
	for _, rel := range releases {
		all = append(all, rel.NotCompared...)
	}
	n := map[string]int{}
	for _, o := range all {
		n[o.Reason]++
	}
	reasons := distinct(all, func(o report.NotCompared) string { return o.Reason })
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
