package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// recreate is an action for readers only: to create again what is missing.
const recreate report.Action = "re-create"

// counts are what first and last lines say beyond the summary of the report, which does not count actions.
type counts struct {
	actions              map[report.Action]int
	drifted, terminating int // objects

	fields  map[report.Verdict]int // what will happen, without unmanaged fields that stay
	dryRuns map[string]int

	// What counts apart: fields and whole objects that rules silence, or that a baseline knows; fields of a class; fields that no manifest
	// names; and fields by forgotten writers, which are not listed.
	ignored, known, volatile, autoscaled, unmanaged, forgotten int

	objectErrors, releaseErrors, renderErrors int

	// allPreviews means that each release is a preview, so what follows is said in place of fields.
	allPreviews bool
	edits       edits
	// changed are fields that nobody touched and the operation writes, changedObjects the objects that have one, and unmade the changes
	// that the operation does not make. deletedEdits are the objects that are deleted with edits on them.
	changed, changedObjects, unmade, deletedEdits int
}

// countsOf counts over releases.
func countsOf(releases []report.Release) counts {
	c := counts{
		actions: map[report.Action]int{}, fields: map[report.Verdict]int{}, dryRuns: map[string]int{},
		allPreviews: len(releases) > 0, edits: edits{},
	}
	for _, rel := range releases {
		for _, e := range rel.Errors {
			c.renderErrors += oneIf(e.Code == report.ErrorRender)
			c.releaseErrors += oneIf(e.Code != report.ErrorRender)
		}
		c.allPreviews = c.allPreviews && isPreview(rel.Operation)
		for _, o := range rel.Objects {
			c.object(o)
		}
	}
	return c
}

// object counts what becomes of an object, and its findings. An object that could not be seen counts as an error alone.
func (c *counts) object(o report.Object) {
	c.drifted += oneIf(o.Drifted)
	c.terminating += oneIf(o.Terminating && o.IgnoredBy == nil)
	if o.DryRun != nil {
		c.dryRuns[o.DryRun.Result]++
	}
	if o.Error != nil {
		c.objectErrors++
		return
	}
	c.forgotten += o.Forgotten
	if o.Action == report.ActionCreate && o.Missing {
		c.actions[recreate]++
	} else {
		c.actions[o.Action]++
	}
	if o.Gone() || o.Action == report.ActionFail {
		c.silenced(o.IgnoredBy)
	}
	changed := c.changed
	for _, f := range o.Fields {
		c.field(f, o)
	}
	c.changedObjects += oneIf(c.changed > changed)
	c.deletedEdits += oneIf(o.Action == report.ActionDelete && o.Drifted && o.IgnoredBy == nil)
}

// silenced counts what a rule or a baseline silences; rule is nil for what counts.
func (c *counts) silenced(rule *report.IgnoreRule) {
	c.ignored += oneIf(rule != nil && !rule.Baseline)
	c.known += oneIf(rule != nil && rule.Baseline)
}

// field counts a finding by its verdict. What is silenced, or does not happen because the object fails or goes, is not
// counted as a write.
func (c *counts) field(f report.Finding, o report.Object) {
	c.silenced(f.IgnoredBy)
	if f.Silenced() {
		c.volatile += oneIf(!isIgnored(f) && f.Class == report.ClassVolatile)
		c.autoscaled += oneIf(!isIgnored(f) && f.Class == report.ClassAutoscaled)
		return
	}
	c.unmanaged += oneIf(!f.Managed)
	isConflict := f.Verdict == report.Conflict
	if o.Action == report.ActionDelete || f.Blocked && !isConflict {
		return // the action says what becomes of the field, or nothing becomes of it
	}
	if o.Action != report.ActionCreate && (f.Managed || f.Verdict != report.Ignore) {
		c.fields[f.Verdict]++
	}
	e, isEdit := editOf(f)
	switch {
	case o.IgnoredBy != nil || isConflict:
	case isEdit:
		c.edits[e]++
	case f.Verdict == report.Ignore:
		c.unmade++
	default:
		c.changed++
	}
}

// written counts the objects that the operation writes.
func (c *counts) written() int {
	n := 0
	for action, count := range c.actions {
		if action == recreate || action.Writes() {
			n += count
		}
	}
	return n
}

// previewClauses say what an operation does to fields, edits first.
func (c *counts) previewClauses() clauses {
	said := c.edits.clauses()
	if c.changed > 0 {
		said = append(said, "changes "+english.Count(c.changed, "field")+" in "+english.Count(c.changedObjects, "object"))
	}
	said.add("does not make", c.unmade, "change")
	return said
}

// extras counts what --fail-on does not select by default and a reader may look for. A preview has said already what becomes of unmanaged
// fields, except of those whose object is not reached.
func (c *counts) extras() string {
	unmanaged := c.unmanaged
	if c.allPreviews {
		unmanaged -= c.edits.unmanaged()
	}
	var said clauses
	said.count(unmanaged, "unmanaged field")
	said.count(c.volatile, "volatile field")
	said.count(c.autoscaled, "autoscaled field")
	return strings.Join(said, "; ")
}

// unlistedCounts counts what the report does not list, and names the flags that list it.
func (c *counts) unlistedCounts(showsIgnored bool) string {
	forgotten, silenced := "", ""
	if c.forgotten > 0 {
		forgotten = english.Count(c.forgotten, "field") + " by forgotten writers (see --show-controllers)"
	}
	if c.ignored > 0 {
		silenced = fmt.Sprintf("%d ignored by rules", c.ignored)
	}
	if c.known > 0 {
		silenced = english.JoinNonEmpty(", ", silenced, fmt.Sprintf("%d known from the baseline", c.known))
	}
	if silenced != "" && !showsIgnored {
		silenced += " (see --show-ignored)"
	}
	return english.JoinNonEmpty("; ", forgotten, silenced)
}

// edit is what an operation does to a field that left old, and whether a manifest names the field.
type edit struct {
	verb    string
	managed bool
}

// The verbs for edits, in the order in which they are said: what is lost comes first.
const (
	overwrites = "overwrites"
	removes    = "removes"
	reAdds     = "re-adds"
	leaves     = "leaves"
)

// editOf returns what becomes of a finding that drifted. It returns false for one that did not drift or does not count.
func editOf(f report.Finding) (edit, bool) {
	if f.Silenced() || f.Cause == report.CauseChange || f.Equivalent || f.Verdict == report.Conflict || f.Blocked {
		return edit{}, false
	}
	verb := overwrites
	switch {
	case f.Verdict == report.Remove:
		verb = removes
	case f.Verdict == report.Ignore:
		verb = leaves
	case f.Verdict == report.Add && !liveHas(f):
		verb = reAdds
	}
	return edit{verb, f.Managed}, true
}

// edits counts the edits among findings.
type edits map[edit]int

// editsOf counts the edits among findings that nobody silenced.
func editsOf(fields []report.Finding) edits {
	n := edits{}
	for _, f := range fields {
		if e, ok := editOf(f); ok {
			n[e]++
		}
	}
	return n
}

// clauses say what becomes of edits: first those of managed fields, which are drift, and then the others.
func (n edits) clauses() clauses {
	var said clauses
	for _, managed := range []bool{true, false} {
		thing := "unmanaged field"
		if managed {
			thing = "drifted field"
		}
		for _, verb := range []string{overwrites, removes, reAdds, leaves} {
			said.add(verb, n[edit{verb, managed}], thing)
		}
	}
	return said
}

// unmanaged counts the edits of unmanaged fields.
func (n edits) unmanaged() int {
	sum := 0
	for e, count := range n {
		sum += count * oneIf(!e.managed)
	}
	return sum
}

// isIgnored reports whether a rule or the baseline silences a finding.
func isIgnored(f report.Finding) bool { return f.IgnoredBy != nil }

// allIgnored reports whether rules and the baseline silence all findings.
func allIgnored(fields []report.Finding) bool {
	return !slices.ContainsFunc(fields, func(f report.Finding) bool { return !isIgnored(f) })
}
