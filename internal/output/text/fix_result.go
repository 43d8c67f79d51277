package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxRemaining is how many of the things that remain drifted are named.
const maxRemaining = 3

// FixResult returns what became of a plan: a line for each status and reason, and in the last lines what is true now.
func FixResult(r *report.FixResult, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	for _, status := range []report.FixStatus{report.FixFixed, report.FixDeclined, report.FixRefused, report.FixFailed} {
		for _, g := range t.outcomes(r, func(o report.FixOutcome) bool { return o.Status == status && !isLeftOut(r, o) }) {
			t.Prose(string(status) + ": " + g)
		}
	}
	t.rollouts(r)
	t.lines(append(t.fixSummary(r), notUpClause(r)))
	return t.Out.Bytes()
}

// fixSummary returns the last lines, apart from what is not up.
func (t *text) fixSummary(r *report.FixResult) []string {
	said := doneClause(r)
	if r.After == nil {
		return []string{said, "the release could not be compared again, so it is not known what remains"}
	}
	c := counts.Of(r.After.Releases)
	lines := []string{layout.JoinNonEmpty("; ", t.stateClause(r, said, c), c.Extras(c.Unmanaged))}
	return append(lines, c.Incomplete(r.After.Summary, 0)...)
}

// doneClause says what was written.
func doneClause(r *report.FixResult) string {
	var w work
	for _, o := range r.Results {
		if p, planned := plannedAt(r, o.Object); planned && o.Status == report.FixFixed {
			w.add(p, o.Fields)
		}
	}
	var said layout.Clauses
	said.AddIf(w.fields+w.creates > 0, amount(w.fields, w.creates)+" put back")
	said.AddIf(w.prunes > 0, english.Count(w.prunes, "field")+" pruned")
	said.AddIf(w.handOvers > 0, "the ownership of "+english.Count(w.handOvers, "object")+" handed over")
	switch {
	case r.DryRun != "" && len(r.Plan) > 0:
		return "nothing was written; " + dryRunClause(r)
	case len(said) > 0 && r.DryRun == "":
		return strings.Join(said, ", ")
	case len(r.Plan) > 0:
		return "nothing was written"
	}
	return "nothing to put back"
}

// dryRunClause says what would be written without --dry-run. It leaves out what the server would reject.
func dryRunClause(r *report.FixResult) string {
	accepted := slices.DeleteFunc(slices.Clone(r.Plan), func(p report.FixPlan) bool {
		return slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return o.Object == p.Object && !isLeftOut(r, o) })
	})
	if len(accepted) == 0 {
		return "the API server would reject every write"
	}
	return "--yes instead of --dry-run " + layout.Enumerate(workOf(accepted).clauses(thirdPerson))
}

// stateClause says what was written together with what remains. It says that the release is as Helm deployed it only if all of it was seen.
func (t *text) stateClause(r *report.FixResult, said string, c counts.Counts) string {
	rel := comparedRelease(r)
	fields, objects := rel.ToPutBack()
	remains := amount(fields, objects)
	switch {
	case r.DryRun != "" && len(r.Plan) > 0:
		return said
	case remains == "" && r.After.HasError():
		return said + "; no drift seen, but not everything could be read"
	case remains == "" && isUnfinished(r):
		return said
	case remains == "" && c.Ignored+c.Known > 0:
		return t.Label(r.Name) + asDeployed(rel) + ", except for what rules ignore: " + said
	case remains == "":
		return t.Label(r.Name) + asDeployed(rel) + ": " + said
	}
	verb := " remain"
	if fields+objects == 1 {
		verb = " remains"
	}
	names := ""
	if fields+objects <= maxRemaining {
		names = strings.Join(t.remainingNames(rel), ", ")
	}
	if why := leftOut(r, fields+objects); names != "" && why != "" {
		names += " (" + why + ")"
	} else {
		names += why
	}
	return layout.JoinNonEmpty("; ", said, layout.JoinNonEmpty(": ", remains+verb, names))
}

// leftOut returns the reason for all that remains, if somebody left all of it out: "left out by --only".
func leftOut(r *report.FixResult, remaining int) string {
	n, why := 0, ""
	for _, o := range r.Results {
		if o.LeftOut {
			n, why = n+1, o.Reason
		}
	}
	if n != remaining {
		return ""
	}
	return why
}

// asDeployed says what a release without drift is like. A failed revision was written at most in part.
func asDeployed(rel report.Release) string {
	if old := rel.Old; old != nil && old.Status == "failed" {
		return fmt.Sprintf(" is as revision %d (failed) has it", old.Revision)
	}
	return " is as Helm deployed it"
}

// isUnfinished reports whether a part of the plan was not put back. The comparison may not show this, because ownership is not drift.
func isUnfinished(r *report.FixResult) bool {
	return slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return o.Status != report.FixFixed && !r.IsNoDrift(o) }) ||
		len(r.Plan) > 0 && (len(r.Results) == 0 || r.DryRun != "")
}

// remainingNames names what still drifts.
func (t *text) remainingNames(rel report.Release) []string {
	var names []string
	for _, o := range rel.Objects {
		name := t.ObjectName(o, rel)
		drifted, gone := o.ToPutBack()
		if gone {
			names = append(names, name)
		}
		for _, f := range drifted {
			names = append(names, t.Escape(f.Path)+" of "+name)
		}
	}
	return names
}

// rollouts writes how far the objects came up. It names the objects that are up in one line, and says of each
// other object why it is not.
func (t *text) rollouts(r *report.FixResult) {
	var up []string
	for _, o := range r.Results {
		if o.Rollout != nil && o.IsUp() {
			up = append(up, t.KeyName(o.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions}))
		}
	}
	if len(up) > 0 {
		t.Prose("up: " + strings.Join(t.FirstNames(up, layout.MaxNames), ", "))
	}
	words := map[report.RolloutStatus]string{
		report.RolloutFailed: "not up", report.RolloutTimedOut: "not up in time", report.RolloutInterrupted: "interrupted while waiting",
	}
	for _, o := range r.Results {
		if !o.IsUp() {
			name := t.KeyName(o.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions})
			t.Prose(words[o.Rollout.Status] + ": " + layout.JoinNonEmpty(": ", name, t.RolloutClause(*o.Rollout)))
			t.problem(*o.Rollout)
		}
	}
}

// problem writes why an object is not up, behind a gutter, since all of it comes from the cluster.
func (t *text) problem(r report.Rollout) {
	const indent = "  "
	if said := t.ReasonClause(r.RolloutProblem); said != "" {
		t.Continuation(indent, said)
	}
	for _, e := range r.Events {
		said := t.Escape(e.Object) + ": " + t.Escape(e.Reason)
		if e.Count > 1 {
			said += fmt.Sprintf(" (%d times)", e.Count)
		}
		t.Continuation(indent, layout.JoinNonEmpty(": ", said, t.Escape(e.Message)))
	}
	if len(r.Log) > 0 {
		t.Continuation(indent, "log:")
	}
	for _, l := range r.Log {
		t.Continuation(indent+indent, t.Escape(l))
	}
	for _, unread := range r.Unread {
		t.Continuation(indent, "could not be read: "+t.Escape(unread))
	}
}

// notUpClause counts the objects that are not up. It is empty if all are up, or if the fix waited for none.
func notUpClause(r *report.FixResult) string {
	waited, missing := 0, 0
	for _, o := range r.Results {
		waited += layout.OneIf(o.Rollout != nil)
		missing += layout.OneIf(!o.IsUp())
	}
	if missing == 0 {
		return ""
	}
	verb := " are"
	if missing == 1 {
		verb = " is"
	}
	return fmt.Sprintf("%d of %s%s not up; nothing was rolled back", missing, english.Count(waited, "object"), verb)
}

// RolloutReason returns why an object does not come up, for a message while a fix waits.
func RolloutReason(o report.FixOutcome, namespace string, versions report.CustomVersions, opts layout.Options) string {
	s := layout.NewStyle(opts)
	return layout.JoinNonEmpty(": ",
		s.KeyName(o.Object, layout.Scope{Namespace: namespace, Versions: versions}), s.ReasonClause(o.Rollout.RolloutProblem))
}
