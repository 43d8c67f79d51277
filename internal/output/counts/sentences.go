package counts

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

// Drift answers the first question: has the cluster left what Helm deployed? A release that is not installed has nothing to leave.
func (c *Counts) Drift(r *report.Report) string {
	s := r.Summary
	compared := english.Count(s.Objects, "object") + " compared"
	switch {
	case s.Releases == 0:
		return "no release compared"
	case s.DriftedObjects > 0:
	case !slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return !IsInstall(rel) }):
		return ""
	case s.Errors > c.RenderErrors || c.ObjectErrors > 0:
		return fmt.Sprintf("%s seen in %d of %s", layout.NoDrift(r.Releases...), s.Objects-c.ObjectErrors, english.Count(s.Objects, "object"))
	case s.DriftedReleases > 0:
		return "a namespace is being deleted: " + compared
	default:
		return layout.NoDrift(r.Releases...) + ": " + compared
	}
	said := "drifted: " + found.In(r.Releases...).Drift(s.Objects)
	if s.Releases > 1 {
		said += fmt.Sprintf(" (%d of %s)", s.DriftedReleases, english.Count(s.Releases, "release"))
	}
	return said
}

// Operation answers the second question: what will Helm do? It is empty if nothing is known of it.
func (c *Counts) Operation(releases []report.Release) string {
	does := c.Does()
	if len(does) == 0 || len(releases) == 0 {
		return ""
	}
	return Subject(releases) + " " + layout.Enumerate(does)
}

// Does says what Helm will do. It begins with failures, goes on with the edits that are lost and with what else changes, and ends with the
// edits that stay.
func (c *Counts) Does() layout.Clauses {
	stay, lost := c.Edits.Divided()
	lost.AddIf(c.changed > 0, "changes "+english.Count(c.changed, "field")+" in "+english.Count(c.changedObjects, "object"))
	if n := c.Actions[report.ActionKeep]; n > 0 {
		stay = append(layout.Clauses{"leaves " + english.Count(n, "dropped object") + " in the cluster"}, stay...)
	}
	return c.doing(lost, stay)
}

// DoesInShort is does for a narrow terminal: it counts edits without saying how each is undone.
func (c *Counts) DoesInShort() layout.Clauses {
	left, all := 0, 0
	for e, n := range c.Edits {
		left += n * layout.OneIf(e.Verb == edits.Leaves)
		all += n
	}
	var lost, stay layout.Clauses
	lost.Add("undoes", all-left, "edit")
	lost.Add("changes", c.changed, "field")
	stay.Add(edits.Leaves, left, "edit")
	if n := c.Actions[report.ActionKeep]; n > 0 {
		rest := strings.TrimPrefix(layout.Enumerate(stay), edits.Leaves+" ")
		stay = layout.Clauses{layout.JoinNonEmpty(" and ", "leaves "+english.Count(n, "dropped object"), rest)}
	}
	return c.doing(lost, stay)
}

// doing says what Helm will do with clauses about what is lost and changes, and about what stays.
func (c *Counts) doing(lost, stay layout.Clauses) layout.Clauses {
	var does layout.Clauses
	does.Add("fails on", c.Actions[report.ActionFail], "object")
	does.Add("conflicts on", c.conflicts, "field")
	does.Add("does not reach", c.Actions[report.ActionSkip], "object")
	does = append(does, lost...)
	does.Add("does not make", c.unmade, "change")
	c.objectClauses(&does)
	does = append(does, stay...)
	fails, writes := c.Actions[report.ActionFail] > 0, c.Written() > 0
	switch {
	case fails && !writes:
		does = append(does, "changes no object")
	case len(does) == 0 && writes:
		does = append(does, "changes only what does not count as drift")
	case len(does) == 0 && c.ReleaseErrors+c.ObjectErrors+c.RenderErrors == 0:
		does = append(does, "changes nothing")
	}
	return does
}

// objectClauses say which objects come and go.
func (c *Counts) objectClauses(does *layout.Clauses) {
	does.AddVerbs("object",
		layout.Verb{Name: "re-creates", N: c.Actions[recreate]}, layout.Verb{Name: "creates", N: c.Actions[report.ActionCreate]},
		layout.Verb{Name: "adopts", N: c.Actions[report.ActionAdopt]}, layout.Verb{Name: "replaces", N: c.Actions[report.ActionReplace]},
		layout.Verb{Name: "deletes", N: c.Actions[report.ActionDelete]})
	if n := c.deletedEdits; c.allPreviews && n > 0 {
		(*does)[len(*does)-1] += fmt.Sprintf(" (%d drifted)", n)
	}
}

// OperationName returns what the report predicts, as the subject of a sentence.
func OperationName(op report.Operation) string {
	if IsPreview(op) {
		return "the " + string(op)
	}
	return "the next upgrade"
}

// IsPreview reports whether somebody is about to run the operation. Such a report separates the changes of the operation from drift. A
// report of drift, or of an operation of a later version, does not.
func IsPreview(op report.Operation) bool {
	switch op {
	case report.OperationUpgrade, report.OperationRollback, report.OperationInstall, report.OperationSync:
		return true
	case report.OperationDrift:
	}
	return false
}

// IsInstall reports whether the operation has no revision to start from.
func IsInstall(rel report.Release) bool {
	return rel.Operation == report.OperationInstall && rel.Old == nil
}

// Subject returns who acts: the operation if all releases have the same one.
func Subject(releases []report.Release) string {
	op := OperationName(releases[0].Operation)
	if slices.ContainsFunc(releases, func(rel report.Release) bool { return OperationName(rel.Operation) != op }) {
		return "Helm"
	}
	return op
}

// Server says what the API server answered, if it was asked. A disagreement about what is certain is a bug of this program, and comes
// first.
func (c *Counts) Server() layout.Clauses {
	var said layout.Clauses
	uncertain := c.DryRuns[report.DryRunDisagrees] - c.Disputed
	said.AddIf(c.Disputed > 0, "disagrees on "+english.Count(c.Disputed, "object")+" (please report it)")
	said.AddIf(uncertain > 0, "disagrees on "+english.Count(uncertain, "object")+" with an uncertain verdict")
	said.Add("agrees on", c.DryRuns[report.DryRunAgrees], "object")
	said.Add("could not be asked about", c.DryRuns[report.DryRunRefused], "object")
	return said
}

// WasSearched reports whether the place of an error was searched for releases all the same: a name, or the value of a flag, names nothing
// there, or some orphans may be missing.
func WasSearched(e report.ScanError) bool {
	return slices.Contains([]string{report.ErrorNotFound, report.ErrorSelection, report.ErrorOrphans}, e.Code)
}

// Unsearched counts what could not be searched. It is empty if there are no errors.
func Unsearched(errors []report.ScanError) string {
	clusters, namespaces := map[string]bool{}, map[[2]string]bool{}
	for _, e := range errors { // a cluster that cannot be reached may have an error for each namespace to search
		if e.Namespace == "" {
			clusters[e.Cluster] = true
		} else {
			namespaces[[2]string{e.Cluster, e.Namespace}] = true
		}
	}
	var said layout.Clauses
	said.Count(len(clusters), "cluster")
	said.Count(len(namespaces), "namespace")
	return layout.Enumerate(said)
}

// Incomplete says what could not be seen. It includes errors that the summary counts but no release lists, except those about what could
// not be searched, because a scan says more about these.
func (c *Counts) Incomplete(s report.Summary, unsearched int) []string {
	var lines layout.Clauses
	lines.AddIf(c.ObjectErrors > 0, english.Count(c.ObjectErrors, "object")+" could not be compared")
	lines.AddIf(c.RenderErrors > 0, "the chart could not be rendered, so what it would change is not known")
	others := max(c.ReleaseErrors, s.Errors-c.ObjectErrors-c.RenderErrors-unsearched)
	lines.AddIf(others > 0, "the comparison is incomplete: "+english.Count(others, "error"))
	return lines
}
