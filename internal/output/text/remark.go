package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/sides"
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
	var said layout.Clauses
	said.AddIf(f.OwnerOnly, "only its owner changes")
	said.AddIf(!f.Managed, "unmanaged")
	said.AddIf(f.KnownLive != nil, "known, value changed "+t.Side(f.KnownLive)+t.Arrow+t.Side(f.Live))
	said.AddNonEmpty(t.class(f))
	said.AddIf(!f.Certain, "not certain")
	if f.IgnoredBy != nil {
		said.AddNonEmpty(t.ignoredBy(f.IgnoredBy))
	}
	said.AddIf(f.After != nil && !f.Masked, "becomes "+t.Value(f.After))
	said.AddNonEmpty(t.Escape(f.Notes.String()))
	return said
}

// class says what a class means for a finding. For a volatile value it also says where the value comes from, since that is the place
// to fix.
func (t *text) class(f report.Finding) string {
	switch f.Class {
	case report.ClassVolatile:
		if f.Template == "" {
			return "volatile: each rendering changes it"
		}
		return "volatile: each rendering changes it (" + t.Escape(f.Template) + ")"
	case report.ClassOrder:
		return "order only"
	case report.ClassAllocated:
		return "a controller fills it in"
	case report.ClassAutoscaled, report.ClassUnknown:
	}
	return t.Escape(string(f.Class))
}

// ignoredBy names a rule with its author's reason, so that people dare to remove it one day, or the baseline that already has a
// finding.
func (t *text) ignoredBy(rule *report.IgnoreRule) string {
	name, reason := t.Escape(rule.Rule), t.Escape(rule.Reason)
	switch {
	case rule.KnownSince != nil:
		return reason + " (" + name + ")"
	case rule.LeftOut:
		return "left out by " + name
	case reason != "":
		return "ignored by " + name + " (" + reason + ")"
	}
	return "ignored by " + name
}

// owners names who wrote the live value. If live did not change, that is nearly always Helm and not worth the room. A conflict always
// names its owner.
func (t *text) owners(f report.Finding) string {
	if f.Cause == report.CauseChange && f.Verdict != report.Conflict {
		return ""
	}
	switch {
	case f.Unrecorded:
		return "" // the note says why
	case len(f.Owners) == 0 && sides.LiveHas(f):
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
	name := t.manager(o)
	if o.Time != nil {
		name += ", " + layout.Age(t.Now.Sub(*o.Time))
	}
	return name
}

// manager names a field manager without a time.
func (t *text) manager(o report.Owner) string {
	name := t.Word(o.Manager)
	if o.Subresource != "" {
		name += " (" + t.Word(o.Subresource) + ")"
	}
	return name
}

// effect says what the write of an object means for pods and data, and what its drift has meant for them.
func (t *text) effect(e *report.Effect) {
	if e == nil {
		return
	}
	said := "effect: " + t.Message(e.Text)
	if e.RestartedAt != nil {
		said += "; an edit restarted its pods " + layout.Age(t.Now.Sub(*e.RestartedAt))
	}
	t.Continuation("  ", said+t.inexact(e.Inexact))
	for _, lost := range e.Lost {
		t.Continuation("  ", "lost for good: "+t.Message(lost))
	}
	for _, note := range e.Notes {
		t.Continuation("  ", t.Message(note))
	}
}

// inexact says why a forecast is not exact. It is empty for an exact one.
func (t *text) inexact(why string) string {
	if why == "" {
		return ""
	}
	return " (not exact: " + t.Message(why) + ")"
}

// effects says what the operations mean for the pods of all releases, and whether somebody has to know that: pods restart or are down. Of
// several releases, it names only those with an outage. It is empty if the operations mean nothing for pods.
func (t *text) effects(releases []report.Release) (said string, isLoud bool) {
	releases = slices.DeleteFunc(slices.Clone(releases), func(rel report.Release) bool { return rel.Effect == nil })
	var sum report.ReleaseEffect
	var down []string
	for _, rel := range releases {
		e := rel.Effect
		sum.Restarts, sum.Workloads = sum.Restarts+e.Restarts, sum.Workloads+e.Workloads
		sum.Starts, sum.Stops = sum.Starts+e.Starts, sum.Stops+e.Stops
		if len(e.Downtime) > 0 {
			down = append(down, t.ReleaseName(rel, rel.Namespace))
		}
	}
	isLoud = sum.Restarts > 0 || len(down) > 0
	switch len(releases) {
	case 0:
		return "", false
	case 1:
		return t.Message(releases[0].Effect.Text) + t.inexact(releases[0].Effect.Inexact), isLoud
	}
	var does layout.Clauses
	does.Add("restarts", sum.Restarts, "pod")
	if sum.Restarts > 0 {
		does[0] += " in " + english.Count(sum.Workloads, "workload")
	}
	does.Add("starts", sum.Starts, "pod")
	does.Add("stops", sum.Stops, "pod")
	said = layout.Enumerate(does) + " of " + english.Count(len(releases), "release")
	if len(down) > 0 {
		said += "; without a ready pod meanwhile: " + strings.Join(t.FirstNames(down, layout.MaxNames), ", ")
	}
	return said, isLoud
}
