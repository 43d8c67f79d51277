package threeway

import (
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
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

// furthestFailure returns the failure with the widest scope. If there are several, it returns the last.
func furthestFailure(failures []failure) (out failure, ok bool) {
	for _, f := range failures {
		if !ok || f.scope >= out.scope {
			out, ok = f, true
		}
	}
	return out, ok
}

// decision is what Helm does with one object, and the comparison behind it. Each step adds to it and undoes no other step, and nobody
// changes it afterwards (outcome.go).
type decision struct {
	fields
	write
	// action and reason are what Helm does if nothing fails. ActionNone with findings that an upgrade writes is an update.
	action report.Action
	reason string
	// failures are everything that Helm fails on, in the order they were found.
	failures             []failure
	missing, terminating bool
	// OfLast is set for a missing object that the last revision no longer has, if that revision failed and so is not old.
	OfLast bool
	// Uncreatable says why the API server is predicted to refuse the creation of the object. It is empty if no refusal is predicted.
	Uncreatable string
	// hook is the position, from 1, of the hook that the object becomes, if the hook runs before Helm writes the manifest.
	hook  int
	notes report.Notes
}

// fields is the result of comparing an object field by field. Its zero value belongs to an object whose fields were not compared.
type fields struct {
	Engine   report.Engine
	Findings []verdict.Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil if absent.
	Old, Desired, Live, Result map[string]any
	// Controllers and Forgotten count fields that controllers and forgotten writers wrote and no upgrade changes.
	Controllers, Forgotten int

	// liveText is the object as it was read, and desiredText the object that Helm would send. The pointers of a report refer to them.
	liveText, desiredText map[string]any
	// conflict is the API server's message if it rejects a server-side apply because of other managers.
	conflict string
	// invalid is the API server's message if it rejects the result of an apply.
	invalid string
	// lostLabels is why the API server rejects the result if it accepts everything else.
	lostLabels string
	// wantsSchema is set if the definition of the kind would make the prediction better, even if nothing differs.
	wantsSchema bool
	// moves is set if the manifests differ and have different versions. Without the schema the apply may then look like no write, because
	// the list items that it removes are not known.
	moves bool
	// open is set if it is not certain whether an apply fails, because of managers at other versions or an unknown deployer.
	open bool
	// duplicates are items that desired has more than once.
	duplicates []object.Path
	// unpatched is the reason why Helm cannot make a patch. Then the findings follow from the table alone.
	unpatched error
}

// write is how Helm writes an object.
type write struct {
	// method is empty if Helm sends nothing.
	method cluster.Method
	// original is the text that Helm computes a patch from.
	original map[string]any
	// waitsFor names an object of the release that Helm creates first and that this one needs; empty for most.
	waitsFor string
}

// fail adds a failure.
func (d *decision) fail(scope scope, reason string) {
	d.failures = append(d.failures, failure{scope: scope, reason: reason})
}
