package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// summary writes the last lines: what was left out on purpose, the answer, and what could not be seen.
func (t *text) summary(r *threeway.Report) {
	if hint := notCompared(r.Releases); hint != "" {
		t.prose("", "not compared: ", t.text(hint))
	}
	c := tally(r)
	t.prose("", "", join("; ", c.drift(r.Summary), c.upgrade(r.Releases), extras(r.Summary)))
	for _, l := range c.incomplete(r.Summary) {
		t.prose("", "", l)
	}
}

// counts are what the last lines say beyond the Report's own summary, which does not count actions.
type counts struct {
	actions       map[threeway.Action]int
	fields        map[threeway.Verdict]int // what will happen, not counting unmanaged fields that stay
	objectErrors  int
	releaseErrors int
}

// tally counts over all releases.
func tally(r *threeway.Report) counts {
	c := counts{actions: map[threeway.Action]int{}, fields: map[threeway.Verdict]int{}}
	for _, rel := range r.Releases {
		c.releaseErrors += len(rel.Errors)
		for _, o := range rel.Objects {
			c.object(o)
		}
	}
	return c
}

func (c *counts) object(o threeway.ObjectReport) {
	if o.Error != nil {
		c.objectErrors++
		return
	}
	c.actions[o.Action]++
	if o.Action == threeway.ActionCreate && o.Missing {
		c.actions[o.Action]--
		c.actions[recreate]++
	}
	// The object's own action has said what becomes of fields that are not listed.
	if o.IgnoredBy != nil || !listsFields(o) {
		return
	}
	for _, f := range o.Fields {
		if !f.Silenced() && (f.Managed || f.Verdict != threeway.Ignore) && (!f.Blocked || f.Verdict == threeway.Conflict) {
			c.fields[f.Verdict]++
		}
	}
}

// recreate is an action for readers only: to create again what is missing.
const recreate threeway.Action = "re-create"

// drift answers the first question: has the cluster left what Helm deployed?
func (c *counts) drift(s threeway.Summary) string {
	if s.Releases == 0 {
		return "no release compared"
	}
	if s.DriftedObjects == 0 && (s.Errors > 0 || c.objectErrors > 0) {
		return fmt.Sprintf("no drift seen in %d of %s", s.Objects-c.objectErrors, plural(s.Objects, "object"))
	}
	if s.DriftedObjects == 0 {
		return "no drift: " + plural(s.Objects, "object") + " compared"
	}
	if s.Releases == 1 {
		return plural(s.DriftedObjects, "object") + " drifted"
	}
	return fmt.Sprintf("%s drifted in %d of %s", plural(s.DriftedObjects, "object"), s.DriftedReleases, plural(s.Releases, "release"))
}

// upgrade answers the second: what will Helm do about it? A failing upgrade comes first, it is the news.
func (c *counts) upgrade(releases []threeway.ReleaseReport) string {
	var does []string
	add := func(n int, verb, thing string) {
		if n > 0 {
			does = append(does, verb+" "+plural(n, thing))
		}
	}
	add(c.actions[threeway.ActionFail], "fails on", "object")
	add(c.fields[threeway.Conflict], "conflicts on", "field")
	add(c.actions[threeway.ActionSkip], "does not reach", "object")
	add(c.fields[threeway.Add], "adds", "field")
	add(c.fields[threeway.Remove], "removes", "field")
	add(c.fields[threeway.Overwrite], "overwrites", "field")
	add(c.actions[recreate], "re-creates", "object")
	add(c.actions[threeway.ActionCreate], "creates", "object")
	add(c.actions[threeway.ActionAdopt], "adopts", "object")
	add(c.actions[threeway.ActionReplace], "replaces", "object")
	add(c.actions[threeway.ActionDelete], "deletes", "object")
	add(c.actions[threeway.ActionKeep], "drops but keeps", "object")
	add(c.fields[threeway.Ignore], "leaves", "field")
	if len(does) == 0 {
		return ""
	}
	return subject(releases) + " " + enumerate(does)
}

// subject is who acts: one operation where the releases share it.
func subject(releases []threeway.ReleaseReport) string {
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

// extras are what --fail-on does not select by default but a reader may wonder about.
func extras(s threeway.Summary) string {
	var parts []string
	if s.Unmanaged > 0 {
		parts = append(parts, fmt.Sprintf("%d unmanaged", s.Unmanaged))
	}
	if s.Ignored > 0 {
		parts = append(parts, fmt.Sprintf("%d ignored", s.Ignored))
	}
	return strings.Join(parts, "; ")
}

// incomplete says what nobody could see. It trusts the larger number: an error that is counted but not listed is one still.
func (c *counts) incomplete(s threeway.Summary) []string {
	var lines []string
	if c.objectErrors > 0 {
		lines = append(lines, plural(c.objectErrors, "object")+" could not be compared")
	}
	if n := max(c.releaseErrors, s.Errors-c.objectErrors); n > 0 {
		lines = append(lines, "the comparison is incomplete: "+plural(n, "error"))
	}
	return lines
}

// notCompared counts by reason what has no live counterpart by design, in the order in which the reasons first occur.
func notCompared(releases []threeway.ReleaseReport) string {
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
