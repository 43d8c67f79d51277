package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// scope is how far a failure reaches: which other objects Helm does not process because of it.
type scope int

const (
	// scopeNothing: Helm has processed all other objects when it fails.
	scopeNothing scope = iota
	// scopeDeletions: Helm processes the other objects, but deletes none.
	scopeDeletions
	// scopeLater: Helm does not process the objects after this one.
	scopeLater
	// scopeManifest: Helm runs the hooks before this one, and ends before it writes the manifest.
	scopeManifest
	// scopeRecord: Helm has built the manifest and looked at what exists, cannot store the record, and ends before it writes anything.
	scopeRecord
	// scopeAll: the upgrade ends before it writes anything, and before it stores the record.
	scopeAll
)

// failure is why Helm fails on an object, and how far that reaches.
type failure struct {
	scope  scope
	reason string
	// onlyConflicts is set if a server-side apply fails on conflicts alone.
	onlyConflicts bool
}

// furthestFailure returns the failure with the widest scope; of several, the last.
func furthestFailure(failures []failure) (out failure, ok bool) {
	for _, f := range failures {
		if !ok || f.scope >= out.scope {
			out, ok = f, true
		}
	}
	return out, ok
}

// decision is what Helm does with one object, and the comparison on which that is based. Steps add to it; none undoes another.
type decision struct {
	fields
	write
	// action and reason are what Helm does if nothing fails. ActionNone with findings that an upgrade writes is an update.
	action report.Action
	reason string
	// failures are all that Helm fails on, in the order in which they were found.
	failures                     []failure
	missing, terminating, ofLast bool
	// uncreatable is why the API server refuses to create the object; empty if it does not.
	uncreatable string
	// hook is the position, from 1, of the hook that the object becomes, if that runs before Helm writes the manifest.
	hook  int
	notes report.Notes
}

// write is how Helm writes an object.
type write struct {
	// method is empty if Helm sends nothing.
	method Method
	// original is the text from which Helm computes a patch.
	original map[string]any
	// waitsFor names an object of the release that Helm creates first and that this one needs; empty for most.
	waitsFor string
}

// outcome returns the action with its reason: the failure with the widest scope, if there is one.
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
