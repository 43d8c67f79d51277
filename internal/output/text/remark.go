package text

import (
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxOwners is how many owners of a finding are named.
const maxOwners = 3

// remarks returns what signs and values do not say about a finding: who wrote the live value, and what else matters.
func (t *text) remarks(f report.Finding) []string {
	if owners := t.owners(f); owners != "" {
		return append([]string{owners}, t.qualities(f)...)
	}
	return t.qualities(f)
}

// qualities returns the remarks on a finding that are not about its owners.
func (t *text) qualities(f report.Finding) []string {
	var said []string
	add := func(condition bool, remark string) {
		if condition && remark != "" {
			said = append(said, remark)
		}
	}
	ignored := f.Verdict == report.Ignore
	add(f.OwnerOnly, "the value stays, only its owner changes")
	add(!f.Managed && ignored, "unmanaged: stays")
	add(!f.Managed && !ignored, "unmanaged")
	add(f.Managed && ignored && len(f.Notes) == 0 && f.IgnoredBy == nil && f.Class == "", "stays")
	add(true, t.class(f))
	add(!f.Certain, "not certain")
	if f.IgnoredBy != nil {
		add(true, t.ignoredBy(f.IgnoredBy))
	}
	if f.After != nil && !f.Masked {
		add(true, "becomes "+t.value(f.After))
	}
	add(true, t.escape(f.Notes.String()))
	return said
}

// class says what a class means for a finding. Of a volatile value it also says where it comes from, since that is the place to fix.
func (t *text) class(f report.Finding) string {
	switch f.Class {
	case report.ClassVolatile:
		if f.Template == "" {
			return "volatile: each rendering changes it"
		}
		return "volatile: each rendering changes it (" + t.escape(f.Template) + ")"
	case report.ClassOrder:
		return "order only"
	case report.ClassAllocated:
		return "a controller fills it in"
	case report.ClassAutoscaled:
	}
	return t.escape(string(f.Class))
}

// ignoredBy names a rule with its author's reason, without which nobody dares to remove it, or the baseline that has a finding already.
func (t *text) ignoredBy(rule *report.IgnoreRule) string {
	name, reason := t.escape(rule.Rule), t.escape(rule.Reason)
	switch {
	case rule.Baseline:
		return reason + " (" + name + ")"
	case reason != "":
		return "ignored by " + name + " (" + reason + ")"
	}
	return "ignored by " + name
}

// owners names who wrote the live value. Where live did not move that is nearly always Helm, and not worth the room, except that a conflict
// is about its owner.
func (t *text) owners(f report.Finding) string {
	if f.Cause == report.CauseChange && f.Verdict != report.Conflict {
		return ""
	}
	switch {
	case f.Unrecorded:
		return "" // the note says why
	case len(f.Owners) == 0 && liveHas(f):
		return "owner unknown"
	case len(f.Owners) == 0 && f.Verdict != report.Conflict && !f.Masked:
		return "removed by an unknown writer"
	}
	names := make([]string, len(f.Owners))
	for i, o := range f.Owners {
		names[i] = t.owner(o)
	}
	return strings.Join(english.AtMost(names, maxOwners), " and ")
}

// owner names a field manager as people know it: "kubectl (scale), 3 min ago". Managers choose their own names, so odd ones are quoted.
func (t *text) owner(o report.Owner) string {
	name := t.word(o.Manager)
	if o.Subresource != "" {
		name += " (" + t.word(o.Subresource) + ")"
	}
	if o.Time != nil {
		name += ", " + age(t.now.Sub(*o.Time))
	}
	return name
}

// age says roughly how long ago something was. Clocks differ, so a time slightly in the future is now.
func age(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return span(d) + " ago"
}

// span says roughly how long something takes or took: "42 s", "3 min", "18 h", "2 d".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, d)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/day)
	}
}
