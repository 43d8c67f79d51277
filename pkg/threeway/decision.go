package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// scope is what a failing object keeps Helm from doing.
type scope int

const (
	// scopeDeletions: the visit of the others goes on, but nothing is deleted.
	scopeDeletions scope = iota
	// scopeLater: objects after this one are not reached.
	scopeLater
	// scopeAll: the upgrade ends before it writes anything.
	scopeAll
)

// failure is why Helm fails on an object, and how far that reaches.
type failure struct {
	scope  scope
	reason string
	// onlyConflicts is set where a server-side apply fails on nothing but conflicts.
	onlyConflicts bool
}

// furthestFailure chooses the failure that reaches furthest; of several, the one that was found last.
func furthestFailure(failures []failure) (out failure, ok bool) {
	for _, f := range failures {
		if !ok || f.scope >= out.scope {
			out, ok = f, true
		}
	}
	return out, ok
}

// decision is what Helm does with one object, with what it was decided from. Each step returns one; nothing that a step wrote is
// undone by a later one.
type decision struct {
	fields
	write
	// action and reason are what Helm does if nothing fails. ActionNone with findings that an upgrade writes is an update.
	action report.Action
	reason string
	// failures are all that Helm fails on, in the order in which they were found.
	failures                     []failure
	missing, terminating, ofLast bool
	notes                        report.Notes
}

// write is how Helm writes an object when it reaches it.
type write struct {
	// method is empty where Helm sends nothing.
	method Method
	// original is the text that Helm takes as original for a patch.
	original map[string]any
	// waitsFor is what the release itself brings before it creates the object; empty for most.
	waitsFor string
}

// outcome is the action with its reason: the failure that reaches furthest, if there is one.
func (d decision) outcome() (report.Action, string, failure) {
	if fails, ok := furthestFailure(d.failures); ok {
		return report.ActionFail, fails.reason, fails
	}
	switch {
	case d.action != "" && d.action != report.ActionNone:
		return d.action, d.reason, failure{}
	case !slices.ContainsFunc(d.Findings, verdict.Finding.Writes):
		return report.ActionNone, d.reason, failure{}
	case d.Engine == report.EngineReplace:
		return report.ActionReplace, d.reason, failure{}
	}
	return report.ActionUpdate, d.reason, failure{}
}

// fail adds a failure.
func (d *decision) fail(scope scope, reason string) {
	d.failures = append(d.failures, failure{scope: scope, reason: reason})
}
