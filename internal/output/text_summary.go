package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// summary writes the last lines: what was left out on purpose, the answer, what the server said, and what could not be seen.
func (t *text) summary(r *report.Report) {
	if hint := notCompared(r.Releases); hint != "" {
		t.prose("", "not compared: ", t.text(hint))
	}
	c := tally(r)
	lines := []string{join("; ", c.drift(r), c.operation(r.Releases), c.extras(r.Summary), c.unsigned(), t.ruledOut(r))}
	lines = append(lines, c.server()...)
	for _, l := range append(lines, c.incomplete(r.Summary)...) {
		if l != "" { // of a first installation that cannot be rendered there is no answer
			t.prose("", "", l)
		}
	}
}

// counts are what the last lines say beyond the Report's own summary, which does not count actions.
type counts struct {
	actions       map[report.Action]int
	fields        map[report.Verdict]int // what will happen, not counting unmanaged fields that stay
	byRules       int                    // findings that a rule silences
	forgotten     int                    // fields by forgotten writers, which are not listed
	objectErrors  int
	releaseErrors int
	renderErrors  int
	dryRuns       map[string]int
	// previews tells that every release is one, and so the counts of preview are what is said.
	previews bool
	preview
}

// tally counts over all releases.
func tally(r *report.Report) counts {
	c := counts{
		actions: map[report.Action]int{}, fields: map[report.Verdict]int{}, dryRuns: map[string]int{},
		previews: len(r.Releases) > 0, preview: preview{edits: map[edit]int{}},
	}
	for _, rel := range r.Releases {
		render := countRender(rel.Errors)
		c.renderErrors += render
		c.releaseErrors += len(rel.Errors) - render
		c.previews = c.previews && previews(rel.Operation)
		for _, o := range rel.Objects {
			c.object(o)
		}
	}
	return c
}

func (c *counts) object(o report.Object) {
	if o.DryRun != nil {
		c.dryRuns[o.DryRun.Result]++
	}
	if o.Error != nil {
		c.objectErrors++
		return
	}
	for _, f := range o.Fields {
		c.byRules += one(isRuled(f))
	}
	c.forgotten += o.Forgotten
	c.preview.add(o)
	c.actions[o.Action]++
	if o.Action == report.ActionCreate && o.Missing {
		c.actions[o.Action]--
		c.actions[recreate]++
	}
	// The object's own action has said what becomes of its fields.
	if o.Action == report.ActionCreate || o.Action == report.ActionDelete {
		return
	}
	for _, f := range o.Fields {
		if !f.Silenced() && (f.Managed || f.Verdict != report.Ignore) && (!f.Blocked || f.Verdict == report.Conflict) {
			c.fields[f.Verdict]++
		}
	}
}

// recreate is an action for readers only: to create again what is missing.
const recreate report.Action = "re-create"

// drift answers the first question: has the cluster left what Helm deployed? What is not installed has nothing to leave.
func (c *counts) drift(r *report.Report) string {
	s := r.Summary
	if s.Releases == 0 {
		return "no release compared"
	}
	if s.DriftedObjects == 0 && !slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return !installs(rel) }) {
		return ""
	}
	if s.DriftedObjects == 0 && (s.Errors > c.renderErrors || c.objectErrors > 0) {
		return fmt.Sprintf("no drift seen in %d of %s", s.Objects-c.objectErrors, plural(s.Objects, "object"))
	}
	if s.DriftedObjects == 0 && s.DriftedReleases > 0 {
		return "a namespace is being deleted: " + plural(s.Objects, "object") + " compared"
	}
	if s.DriftedObjects == 0 {
		return "no drift: " + plural(s.Objects, "object") + " compared"
	}
	said := plural(s.DriftedObjects, "object") + " drifted"
	if s.Releases > 1 {
		said += fmt.Sprintf(" in %d of %s", s.DriftedReleases, plural(s.Releases, "release"))
	}
	if s.Terminating > 0 {
		said += fmt.Sprintf(", %d being deleted", s.Terminating)
	}
	return said
}

// operation answers the second: what will Helm do? A failing upgrade comes first, it is the news; then what becomes of drift.
func (c *counts) operation(releases []report.Release) string {
	var does clauses
	does.add("fails on", c.actions[report.ActionFail], "object")
	does.add("conflicts on", c.fields[report.Conflict], "field")
	does.add("does not reach", c.actions[report.ActionSkip], "object")
	if c.previews {
		does = append(does, c.preview.clauses()...)
	} else {
		does.add("adds", c.fields[report.Add], "field")
		does.add("removes", c.fields[report.Remove], "field")
		does.add("overwrites", c.fields[report.Overwrite], "field")
	}
	c.objects(&does)
	if !c.previews {
		does.add("leaves", c.fields[report.Ignore], "field")
	}
	fails := c.actions[report.ActionFail] > 0
	switch {
	case c.previews && fails && !c.writes():
		does = append(does, "changes no object")
	case c.previews && len(does) == 0 && c.writes():
		does = append(does, "changes only what is ignored")
	case c.previews && len(does) == 0 && c.releaseErrors+c.objectErrors+c.renderErrors == 0:
		does = append(does, "changes nothing")
	}
	if len(does) == 0 {
		return ""
	}
	return subject(releases) + " " + enumerate(does)
}

// objects says which objects come and go.
func (c *counts) objects(does *clauses) {
	does.add("re-creates", c.actions[recreate], "object")
	does.add("creates", c.actions[report.ActionCreate], "object")
	does.add("adopts", c.actions[report.ActionAdopt], "object")
	does.add("replaces", c.actions[report.ActionReplace], "object")
	does.add("deletes", c.actions[report.ActionDelete], "object")
	if n := c.deletedEdits; c.previews && n > 0 {
		(*does)[len(*does)-1] += fmt.Sprintf(" (%d drifted)", n)
	}
	does.add("drops but keeps", c.actions[report.ActionKeep], "object")
}

// clauses are what a sentence says of its subject, such as "deletes 2 objects".
type clauses []string

func (c *clauses) add(verb string, n int, thing string) {
	if n > 0 {
		*c = append(*c, verb+" "+plural(n, thing))
	}
}

// writes tells whether any object will be written.
func (c *counts) writes() bool {
	for action, n := range c.actions {
		if n > 0 && (action == recreate || action.Writes()) {
			return true
		}
	}
	return false
}

// subject is who acts: one operation where the releases share it.
func subject(releases []report.Release) string {
	op := operation(releases[0].Operation)
	for _, rel := range releases {
		if operation(rel.Operation) != op {
			return "Helm"
		}
	}
	return op
}

// enumerate joins clauses as a sentence does: "a, b and c".
func enumerate(clauses []string) string {
	last := len(clauses) - 1
	if last == 0 {
		return clauses[0]
	}
	return strings.Join(clauses[:last], ", ") + " and " + clauses[last]
}

// extras are what --fail-on does not select by default but a reader may wonder about. A preview has said already what becomes
// of unmanaged fields, unless their object is not reached.
func (c *counts) extras(s report.Summary) string {
	var parts []string
	unmanaged := s.Unmanaged
	if c.previews {
		unmanaged -= c.unmanaged()
	}
	if unmanaged > 0 {
		parts = append(parts, fmt.Sprintf("%d unmanaged", unmanaged))
	}
	if n := s.Ignored - c.byRules; n > 0 {
		ignored := fmt.Sprintf("%d ignored", n)
		switch {
		case c.volatile == n:
			ignored += " (volatile)"
		case c.volatile > 0:
			ignored += fmt.Sprintf(" (%d volatile)", c.volatile)
		}
		parts = append(parts, ignored)
	}
	return strings.Join(parts, "; ")
}

// unsigned says how much nobody remembers to have written, and how to see it.
func (c *counts) unsigned() string {
	if c.forgotten == 0 {
		return ""
	}
	return plural(c.forgotten, "field") + " by forgotten writers (--show-controllers lists them)"
}

// ruledOut says how much rules silence, and how to see it.
func (t *text) ruledOut(r *report.Report) string {
	n := ruled(r)
	switch {
	case n == 0:
		return ""
	case t.showIgnored:
		return fmt.Sprintf("%d ignored by rules", n)
	}
	return fmt.Sprintf("%d ignored by rules (--show-ignored lists them)", n)
}

// server says what the API server answered, where it was asked. A disagreement is a bug of ours, and comes first.
func (c *counts) server() []string {
	var said []string
	if n := c.dryRuns[dryRunDisagrees]; n > 0 {
		said = append(said, "disagrees on "+plural(n, "object")+" (please report it)")
	}
	if n := c.dryRuns[dryRunAgrees]; n > 0 {
		said = append(said, "agrees on "+plural(n, "object"))
	}
	if n := c.dryRuns[dryRunRefused]; n > 0 {
		said = append(said, "could not be asked about "+plural(n, "object"))
	}
	if len(said) == 0 {
		return nil
	}
	return []string{"the server " + enumerate(said)}
}

// incomplete says what nobody could see. It trusts the larger number: an error that is counted but not listed is one still.
func (c *counts) incomplete(s report.Summary) []string {
	var lines []string
	if c.objectErrors > 0 {
		lines = append(lines, plural(c.objectErrors, "object")+" could not be compared")
	}
	if c.renderErrors > 0 {
		lines = append(lines, "the chart could not be rendered, so what it would change is not known")
	}
	if n := max(c.releaseErrors, s.Errors-c.objectErrors-c.renderErrors); n > 0 {
		lines = append(lines, "the comparison is incomplete: "+plural(n, "error"))
	}
	return lines
}

// notCompared counts by reason what has no live counterpart by design, in the order in which the reasons first occur.
func notCompared(releases []report.Release) string {
	var reasons []string
	n := map[string]int{}
	for _, rel := range releases {
		for _, o := range rel.NotCompared {
			if !slices.Contains(reasons, o.Reason) {
				reasons = append(reasons, o.Reason)
			}
			n[o.Reason]++
		}
	}
	for i, reason := range reasons {
		if reason == "hook" {
			reasons[i] = plural(n[reason], "hook")
			continue
		}
		reasons[i] = fmt.Sprintf("%s (%s)", plural(n[reason], "object"), reason)
	}
	return strings.Join(reasons, ", ")
}
