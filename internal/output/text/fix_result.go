package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxRemaining is how many of the things that remain drifted are named.
const maxRemaining = 3

// FixResult returns what became of a plan: a line for each status and reason, and in the last lines what is true now.
func FixResult(r *report.FixResult, opts Options) []byte {
	t := newText(opts, r.Time)
	for _, status := range []report.FixStatus{report.FixFixed, report.FixDeclined, report.FixRefused, report.FixFailed} {
		for _, g := range t.outcomes(r, func(o report.FixOutcome) bool { return o.Status == status && !isLeftOut(r, o) }) {
			t.prose(string(status) + ": " + g.String())
		}
	}
	t.rollouts(r)
	for _, l := range t.fixSummary(r) {
		t.prose(l)
	}
	return t.out.Bytes()
}

// fixSummary returns the last lines.
func (t *text) fixSummary(r *report.FixResult) []string {
	said := doneClause(r)
	if r.After == nil {
		return withNonEmpty([]string{said, "the release could not be compared again, so it is not known what remains"}, notUpClause(r))
	}
	c := countsOf(r.After.Releases)
	lines := []string{english.JoinNonEmpty("; ", t.stateClause(r, said, c), c.extras())}
	return withNonEmpty(append(lines, c.incomplete(r.After.Summary, 0)...), notUpClause(r))
}

// withNonEmpty appends a line unless it is empty.
func withNonEmpty(lines []string, line string) []string {
	if line == "" {
		return lines
	}
	return append(lines, line)
}

// doneClause says what was written.
func doneClause(r *report.FixResult) string {
	var w work
	for _, o := range r.Results {
		if p, planned := plannedAt(r, o.Object); planned && o.Status == report.FixFixed {
			w.add(p, o.Fields)
		}
	}
	var said clauses
	if put := amount(w.fields, w.creates); put != "" {
		said = append(said, put+" put back")
	}
	if w.prunes > 0 {
		said = append(said, english.Count(w.prunes, "field")+" pruned")
	}
	if w.handOvers > 0 {
		said = append(said, "the ownership of "+english.Count(w.handOvers, "object")+" handed over")
	}
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
	return "--yes instead of --dry-run " + english.Enumerate(workOf(accepted).clauses(thirdPerson))
}

// stateClause says what was written together with what remains. It says that the release is as Helm deployed it only if all of it was seen.
func (t *text) stateClause(r *report.FixResult, said string, c counts) string {
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
	case remains == "" && c.ignored+c.known > 0:
		return t.label(r.Name) + asDeployed(rel) + ", except for what rules ignore: " + said
	case remains == "":
		return t.label(r.Name) + asDeployed(rel) + ": " + said
	}
	verb := " remain"
	if fields+objects == 1 {
		verb = " remains"
	}
	names := ""
	if fields+objects <= maxRemaining {
		names = strings.Join(t.remainingNames(rel), ", ")
	}
	return english.JoinNonEmpty("; ", said, english.JoinNonEmpty(": ", remains+verb, names))
}

// asDeployed says what a release without drift is like. A failed revision was written at most in part.
func asDeployed(rel report.Release) string {
	if old := rel.Old; old != nil && old.Status == "failed" {
		return fmt.Sprintf(" is as revision %d (failed) has it", old.Revision)
	}
	return " is as Helm deployed it"
}

// isUnfinished reports whether a part of the plan was not put back. The comparison need not show it, because ownership is no drift.
func isUnfinished(r *report.FixResult) bool {
	return slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return o.Status != report.FixFixed && !r.IsNoDrift(o) }) ||
		len(r.Plan) > 0 && (len(r.Results) == 0 || r.DryRun != "")
}

// remainingNames names what still drifts.
func (t *text) remainingNames(rel report.Release) []string {
	var names []string
	for _, o := range rel.Objects {
		name := t.objectName(o, rel)
		drifted, gone := o.ToPutBack()
		if gone {
			names = append(names, name)
		}
		for _, f := range drifted {
			names = append(names, t.escape(f.Path)+" of "+name)
		}
	}
	return names
}
