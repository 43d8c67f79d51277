package threeway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says what becomes of each object. Comparison.settle computes every outcome anew from the decisions, which nobody changes: first
// that of each object by itself, then what the failure of one object means for the others.

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
	// immutable are the immutable fields because of which the API server refuses the write.
	immutable []object.Path
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

// settlement is what the answer of the API server settles about an object. The zero value settles nothing.
type settlement struct {
	// settles is set if the verdicts that were not certain are certain now.
	settles bool
	// rejected is why the server rejects a write that was predicted to succeed.
	rejected string
	// succeeds is set if the server takes a write that was predicted to fail on conflicts.
	succeeds bool
}

// applyTo settles a finding.
func (s settlement) applyTo(f *verdict.Finding) {
	if s.succeeds && f.Verdict == report.Conflict {
		f.Verdict = report.Overwrite
		if f.Live == nil {
			f.Verdict = report.Add
		}
	}
	if s.settles && !f.Certain {
		f.Certain, f.Notes = true, slices.Clone(f.Notes)
		f.Notes.Add("the server's dry run settles it")
	}
}

// outcome returns what becomes of an object if no other one fails: the failure, if Helm fails on it, or else its action. ActionNone with
// findings that an upgrade writes is an update.
func (d decision) outcome(why failure, fails bool, s settlement) (report.Action, outcome) {
	out := outcome{Findings: slices.Clone(d.Findings), Reason: d.reason}
	for i := range out.Findings {
		s.applyTo(&out.Findings[i])
	}
	switch {
	case s.succeeds:
		out.Reason = ""
		return report.ActionUpdate, out
	case fails:
		out.Reason, out.failure = why.reason, why
		return report.ActionFail, out
	case d.action != "" && d.action != report.ActionNone:
		out.deletes = d.action == report.ActionDelete
		return d.action, out
	case !slices.ContainsFunc(d.Findings, verdict.Finding.Writes):
		return report.ActionNone, out
	case d.Engine == report.EngineReplace:
		return report.ActionReplace, out
	}
	return report.ActionUpdate, out
}

// failureOf returns why Helm fails on an object, and false if it does not. Record is the failure of recordFailure, and adopts is set for an
// install that finds an object in the cluster, whether it adopts it or not. Such an install works like an upgrade and reads each object by
// its name (helm v4.3.1 pkg/action/install.go performInstall, toBeAdopted). Any other install creates its objects kind by kind, with the
// objects of a kind in parallel, and goes on after a failure (helm v3.22.0 pkg/kube/client.go Create, batchPerform).
func (c *Comparison) failureOf(o *ObjectComparison, s settlement, record failure, adopts bool) (out failure, fails bool) {
	out, fails = furthestFailure(o.failures)
	switch {
	case s.rejected != "":
		return failure{scope: scopeDeletions, reason: s.rejected}, true
	case o.isDefinition():
	case record.reason != "":
		return record, true
	case c.Input.Operation != report.OperationInstall:
	case adopts && o.Name == "" && out.scope < scopeRecord:
		return failure{scope: scopeLater, reason: "could not get information about the resource: " + emptyName}, true
	case adopts:
	case !fails && c.createsTwice(o):
		return failure{scope: scopeDeletions, reason: apierrors.NewAlreadyExists(resourceOf(o.Ref), o.Name).Error()}, true
	case out.scope == scopeLater:
		out.scope = scopeDeletions
	}
	return out, fails
}

// createsTwice reports whether an object is created twice: the chart names it more than once, or it is the namespace of the release and
// --create-namespace has created it. Client-side, Helm creates each of them, and the second creation finds the object of the first (helm
// v3.22.0 pkg/kube/client.go Create, pkg/action/install.go RunWithContext). Server-side, Helm applies each of them, and that succeeds.
func (c *Comparison) createsTwice(o *ObjectComparison) bool {
	twice := o.Times > 1 || c.Input.CreateNamespace && o.Kind == "Namespace" && o.Group == "" && o.Name == c.Input.StorageNamespace
	return twice && o.action == report.ActionCreate && !c.Input.ServerSide()
}

// recordFailure returns why the operation fails if Helm cannot store the record of the new revision, because its namespace is being deleted
// or does not exist. It is the zero value if Helm stores the record, or fails before that. Helm stores the record before it writes anything
// but definitions, and after it has checked what it cannot build or adopt (helm v3.22.0 and v4.3.1 pkg/action/upgrade.go performUpgrade,
// install.go RunWithContext, rollback.go Run).
func (c *Comparison) recordFailure() failure {
	in := c.Input
	reason := namespaceNotFound(in.StorageNamespace)
	switch {
	case in.Records == "" || anyStopsAll(c.Objects):
		return failure{}
	case in.Terminating[in.StorageNamespace]:
		revision := 1
		if in.Last != nil {
			revision += in.Last.Revision
		}
		record := fmt.Sprintf("sh.helm.release.v1.%s.v%d", in.Name, revision)
		reason = namespaceTerminating(schema.GroupResource{Resource: in.Records}, record, in.StorageNamespace)
	case !in.LacksNamespace():
		return failure{}
	}
	return failure{scope: scopeRecord, reason: recordError + reason}
}

// propagateFailures marks the objects that Helm does not process because another one fails. An object that cannot be built or adopted ends
// the upgrade before any write, one that cannot be created ends it at its position in the manifest, and any failure prevents deletions
// (helm v3.22.0 pkg/kube/client.go update). Hooks that run first have already replaced their objects, or one of them has ended the upgrade
// (pkg/action/upgrade.go releasingUpgrade).
func propagateFailures(objects []ObjectComparison) {
	failing := object.Filter(failuresInOrder(objects), func(o *ObjectComparison) bool { return o.failure.scope > scopeNothing })
	if skipAfterDefinition(objects, failing) {
		return
	}
	all := firstOfAll(failing)
	hook := firstFailingHook(failing)
	later := slices.IndexFunc(failing, func(o *ObjectComparison) bool { return o.failure.scope == scopeLater })
	for i := range objects {
		o := &objects[i]
		switch {
		case o.isDefinition(): // Helm has written it by then
		case len(all) > 0 && !slices.Contains(all, o):
			o.skip(all...)
		case len(all) == 0 && hook != nil && o != hook && (o.hook == 0 || o.hook > hook.hook):
			o.skip(hook)
		case o.Action == report.ActionFail:
			o.blockFields()
		case o.hook > 0:
		case later >= 0 && o.index > failing[later].index:
			o.skip(failing[later])
		case len(failing) > 0 && o.Action == report.ActionDelete:
			o.skip(failing...)
		}
	}
}

// skipAfterDefinition skips what Helm does not process because it fails on an object of the crds folder, and reports whether it does.
func skipAfterDefinition(objects []ObjectComparison, failing []*ObjectComparison) bool {
	i := slices.IndexFunc(failing, (*ObjectComparison).isDefinition)
	if i < 0 {
		return false
	}
	for j := range objects {
		switch o := &objects[j]; {
		case o.index > failing[i].index:
			o.skip(failing[i])
		case o == failing[i]:
			o.blockFields()
		}
	}
	return true
}

// firstOfAll returns the objects that end the operation before Helm writes anything: those that Helm cannot build or adopt or, if there
// are none, those whose record cannot be stored (helm v3.22.0 pkg/action/install.go RunWithContext).
func firstOfAll(failing []*ObjectComparison) []*ObjectComparison {
	with := func(s scope) []*ObjectComparison {
		return object.Filter(failing, func(o *ObjectComparison) bool { return o.failure.scope == s })
	}
	if all := with(scopeAll); len(all) > 0 {
		return all
	}
	return with(scopeRecord)
}

// firstFailingHook returns the object that becomes the first failing hook before Helm writes the manifest, or nil if there is none.
func firstFailingHook(failing []*ObjectComparison) *ObjectComparison {
	var first *ObjectComparison
	for _, o := range failing {
		if o.failure.scope == scopeManifest && (first == nil || o.hook < first.hook) {
			first = o
		}
	}
	return first
}

// failuresInOrder lists the objects that fail, in the order Helm processes them.
func failuresInOrder(objects []ObjectComparison) []*ObjectComparison {
	var failing []*ObjectComparison
	for i := range objects {
		if objects[i].Action == report.ActionFail {
			failing = append(failing, &objects[i])
		}
	}
	order.Sort(failing, func(a, b *ObjectComparison) int { return cmp.Compare(a.index, b.index) })
	return failing
}

// Immutable returns the immutable fields on which Helm fails. It is empty if Helm fails for another reason, or does not fail.
func (o *ObjectComparison) Immutable() []object.Path { return o.failure.immutable }

func (o *ObjectComparison) skip(by ...*ObjectComparison) {
	o.Action = report.ActionSkip
	for _, other := range by {
		o.BlockedBy = append(o.BlockedBy, report.ObjectKey{Key: other.key})
	}
	o.blockFields()
}

func (o *ObjectComparison) blockFields() {
	for i := range o.Findings {
		o.Findings[i].Blocked = !o.Findings[i].Pruned
	}
}

// isOpen reports whether it is not certain if the object fails.
func (o *ObjectComparison) isOpen() bool {
	return o.open && !o.isCertain() && o.Action != report.ActionSkip && (o.Action != report.ActionFail || o.failure.onlyConflicts)
}

// deletionNote returns the reason why the deletion of an object is not certain: it depends on whether other objects fail. It is empty
// for most objects.
func deletionNote(o *ObjectComparison, objects []ObjectComparison) string {
	if !o.deletes || o.hook > 0 {
		return ""
	}
	var open []string
	for i := range objects {
		switch other := &objects[i]; {
		case other.isOpen():
			open = append(open, other.key.String())
		case other.Action == report.ActionFail:
			return "" // for certain
		}
	}
	switch names := strings.Join(open, " or on "); {
	case len(open) == 0:
		return ""
	case o.Action == report.ActionDelete:
		return "not certain: it stays if Helm fails on " + names
	default:
		return "not certain: it is deleted if Helm does not fail on " + names
	}
}

// noteGroupChanges marks an object that moves to another API group while it stays the same object. Helm matches objects by group,
// so it patches desired's object and then deletes old's object, which is the same one (helm v3.22.0 pkg/kube/client.go update,
// resource.go isMatchingInfo and Difference).
func (c *Comparison) noteGroupChanges() {
	kept := map[string]*ObjectComparison{}
	for i := range c.Objects {
		o := &c.Objects[i]
		if uid := o.uid(); uid != "" && o.desiredText != nil {
			kept[uid] = o
		}
	}
	for i := range c.Objects {
		gone := &c.Objects[i]
		stays := kept[gone.uid()]
		if gone.Action != report.ActionDelete || stays == nil {
			continue
		}
		gone.Notes.Add(fmt.Sprintf("this deletes %s as well: both are one object, served under two API groups", stays.key))
		stays.Notes.Add(fmt.Sprintf("Helm deletes what it has just updated: it also deletes %s, and both are one object, served under two API groups", gone.key))
	}
}

// isCertain reports whether all verdicts on the object are certain.
func (o *ObjectComparison) isCertain() bool {
	return !slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return !f.Certain })
}

// isWritten reports whether Helm sends a write for the object. Helm does so even if a failure is predicted, unless the failure ends
// the upgrade before any write.
func (o *ObjectComparison) isWritten() bool {
	switch o.Action {
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionAdopt, report.ActionCreate:
		return o.method != ""
	case report.ActionFail:
		return o.method != "" && o.failure.scope < scopeManifest
	case report.ActionDelete, report.ActionKeep, report.ActionSkip:
	}
	return false
}

// isCreated reports whether the upgrade creates the object, and its kind exists.
func (o ObjectComparison) isCreated() bool {
	return o.Action == report.ActionCreate && o.waitsFor == ""
}

// anyStopsAll reports whether a failing object ends the upgrade before it writes anything.
func anyStopsAll(objects []ObjectComparison) bool {
	return slices.ContainsFunc(objects, func(o ObjectComparison) bool {
		return slices.ContainsFunc(o.failures, func(f failure) bool { return f.scope >= scopeRecord })
	})
}
