package counts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/edits"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// recreate is an action for readers only: it creates a missing object again.
const recreate report.Action = "re-create"

// Counts are the numbers in first and last lines that the summary of the report lacks, because it does not count actions.
type Counts struct {
	Actions map[report.Action]int
	// Drifted counts objects.
	Drifted int
	DryRuns map[string]int
	// Disputed are those of the objects on which the server disagrees whose prediction is certain.
	Disputed int
	// Ignored and Known are fields and whole objects that rules silence, or that a baseline knows. Unmanaged are fields that no manifest
	// names.
	Ignored, Known, Unmanaged int
	// What the comparison could not see, by what it could not.
	ObjectErrors, ReleaseErrors, RenderErrors int
	Edits                                     edits.Counts

	conflicts int // fields
	// volatile and autoscaled are fields of a class, and forgotten are fields whose writers the API server no longer records. Those are not
	// listed.
	volatile, autoscaled, forgotten int
	// leftOut counts what flags such as --only leave out, by the flag.
	leftOut map[string]int
	// allPreviews is set if each release is a preview.
	allPreviews bool
	// changed counts the fields that nobody touched and the operation writes, changedObjects the objects with such fields, and unmade
	// the changes that the operation does not make. deletedEdits counts the objects that are deleted with edits on them.
	changed, changedObjects, unmade, deletedEdits int
}

// Of counts over releases.
func Of(releases []report.Release) Counts {
	c := Counts{
		Actions: map[report.Action]int{}, DryRuns: map[string]int{}, allPreviews: len(releases) > 0, Edits: edits.Counts{},
		leftOut: map[string]int{},
	}
	for _, rel := range releases {
		for _, e := range rel.Errors {
			c.RenderErrors += layout.OneIf(e.Code == report.ErrorRender)
			c.ReleaseErrors += layout.OneIf(e.Code != report.ErrorRender)
		}
		c.allPreviews = c.allPreviews && IsPreview(rel.Operation)
		for _, o := range rel.Objects {
			c.object(o)
		}
	}
	return c
}

// object counts what becomes of an object, and its findings. An object that could not be seen counts as an error alone.
func (c *Counts) object(o report.Object) {
	c.Drifted += layout.OneIf(o.Drifted)
	if o.DryRun != nil {
		c.DryRuns[o.DryRun.Result]++
		c.Disputed += layout.OneIf(o.Disputed())
	}
	if o.Error != nil {
		c.ObjectErrors++
		return
	}
	c.forgotten += o.Forgotten
	switch {
	case o.IgnoredBy != nil && o.IgnoredBy.LeftOut: // somebody asked for other objects
	case o.Action == report.ActionCreate && o.Missing:
		c.Actions[recreate]++
	default:
		c.Actions[o.Action]++
	}
	if o.Gone() || o.Action == report.ActionFail || o.IgnoredBy != nil && o.IgnoredBy.KnownSince != nil {
		c.silenced(o.IgnoredBy)
	}
	changed := c.changed
	for _, f := range o.Fields {
		c.field(f, o)
	}
	c.changedObjects += layout.OneIf(c.changed > changed)
	c.deletedEdits += layout.OneIf(o.Action == report.ActionDelete && o.Drifted && o.IgnoredBy == nil)
}

// silenced counts what a rule, a baseline or a flag silences. Rule is nil if nothing does.
func (c *Counts) silenced(rule *report.IgnoreRule) {
	switch {
	case rule == nil:
	case rule.LeftOut:
		c.leftOut[rule.Rule]++
	case rule.KnownSince != nil:
		c.Known++
	default:
		c.Ignored++
	}
}

// AllLeftOut counts what all flags leave out.
func (c *Counts) AllLeftOut() int {
	n := 0
	for _, some := range c.leftOut {
		n += some
	}
	return n
}

// field counts a finding by its verdict. A finding that is silenced, or whose object fails or is deleted, does not count as a write.
func (c *Counts) field(f report.Finding, o report.Object) {
	c.silenced(f.IgnoredBy)
	if f.Silenced() {
		c.volatile += layout.OneIf(!IsIgnored(f) && f.Class == report.ClassVolatile)
		c.autoscaled += layout.OneIf(!IsIgnored(f) && f.Class == report.ClassAutoscaled)
		return
	}
	c.Unmanaged += layout.OneIf(!f.Managed)
	isConflict := f.Verdict == report.Conflict
	if o.Action == report.ActionDelete || f.Blocked && !isConflict {
		return // the action says what becomes of the field, or nothing becomes of it
	}
	c.conflicts += layout.OneIf(isConflict)
	e, isEdit := edits.OfFinding(f)
	switch {
	case o.IgnoredBy != nil || isConflict:
	case isEdit:
		c.Edits[e]++
	case f.Verdict == report.Ignore:
		c.unmade++
	default:
		c.changed++
	}
}

// Written counts the objects that the operation writes.
func (c *Counts) Written() int {
	n := 0
	for action, count := range c.Actions {
		if action == recreate || action.Writes() {
			n += count
		}
	}
	return n
}

// Extras counts what --fail-on does not select by default but a reader may look for. Unmanaged is how many unmanaged fields were not
// mentioned yet.
func (c *Counts) Extras(unmanaged int) string {
	var said layout.Clauses
	said.Count(unmanaged, "unmanaged field")
	said.Count(c.volatile, "volatile field")
	said.Count(c.autoscaled, "autoscaled field")
	return strings.Join(said, "; ")
}

// UnlistedCounts counts what the report leaves out, and names the flags that list it. The caller escapes the text: a saved report may name
// any flag.
func (c *Counts) UnlistedCounts(showsIgnored bool) string {
	var said, silenced layout.Clauses
	silenced.AddIf(c.Ignored > 0, fmt.Sprintf("%d ignored by rules", c.Ignored))
	silenced.AddIf(c.Known > 0, fmt.Sprintf("%d known from the baseline", c.Known))
	for _, flag := range slices.Sorted(maps.Keys(c.leftOut)) {
		silenced = append(silenced, fmt.Sprintf("%d left out by %s", c.leftOut[flag], flag))
	}
	if len(silenced) > 0 && !showsIgnored {
		silenced[len(silenced)-1] += " (see --show-ignored)"
	}
	said.AddIf(c.forgotten > 0, english.Count(c.forgotten, "field")+" whose writer the API server no longer records (see --show-controllers)")
	said.AddIf(len(silenced) > 0, strings.Join(silenced, ", "))
	return strings.Join(said, "; ")
}

// Unmentioned counts the unmanaged fields that the line about the operation does not mention, because their object is not reached.
func (c *Counts) Unmentioned() int { return c.Unmanaged - c.Edits.Unmanaged() }

// IsIgnored reports whether a rule or the baseline silences a finding.
func IsIgnored(f report.Finding) bool { return f.IgnoredBy != nil }

// AllIgnored reports whether rules and the baseline silence all findings.
func AllIgnored(fields []report.Finding) bool {
	return !slices.ContainsFunc(fields, func(f report.Finding) bool { return !IsIgnored(f) })
}
