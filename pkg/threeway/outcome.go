package threeway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says on which objects Helm fails, and what that means for the others. Comparison.settle computes the outcome of each object
// from its decision, which nobody changes, and from its fate: what the failures of the operation mean for it.

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
	// scopeRecord: Helm cannot store the record, and ends before it writes anything. All but a rollback have built the manifest and looked at
	// what exists by then.
	scopeRecord
	// scopeAll: the operation ends before it writes any object. A rollback has stored its record by then, and leaves it pending; any other
	// operation has not.
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

// fate is what the failures of an operation mean for one object.
type fate struct {
	// fails is set if Helm fails on the object, and why says why.
	fails bool
	why   failure
	// by are the objects whose failure makes Helm skip this one.
	by []*ObjectComparison
	// isBlocked is set if the failure of this object or of another one keeps Helm from writing the fields.
	isBlocked bool
}

// fates returns what the failures of the operation mean for each object. Record is the failure of recordFailure.
func (c *Comparison) fates(settled map[object.Key]settlement, record failure) []fate {
	adopts := slices.ContainsFunc(c.Objects, func(o ObjectComparison) bool { return o.liveText != nil && !o.isDefinition() })
	out := make([]fate, len(c.Objects))
	for i := range c.Objects {
		s := settled[c.Objects[i].key]
		why, fails := c.failureOf(&c.Objects[i], s, record, adopts)
		if fails && !s.succeeds {
			out[i].fails, out[i].why = true, why
		}
	}
	if !c.Input.By.Syncs() {
		c.propagateFailures(out)
	}
	return out
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

// recordFailure returns why the operation cannot store the record of the new revision: the namespace is being deleted, is missing, or
// cannot be labelled. It is the zero value if Helm stores the record, or fails before that. Helm stores it before it writes anything but
// definitions, and after it has checked what it cannot build or adopt. Only a rollback checks nothing before that (helm v3.22.0 and v4.3.1
// pkg/action/upgrade.go performUpgrade, install.go RunWithContext, rollback.go Run).
func (c *Comparison) recordFailure() failure {
	in, conflict := c.Input, c.namespaceConflict()
	reason := namespaceNotFound(in.StorageNamespace)
	switch {
	case in.Operation != report.OperationRollback && anyStopsAll(c.Objects):
		return failure{}
	case conflict != "":
		return failure{scope: scopeRecord, reason: conflictError(object.NamespaceRef(in.StorageNamespace), conflict)}
	case in.Records == "":
		return failure{}
	case in.Terminating[in.StorageNamespace]:
		record := fmt.Sprintf("sh.helm.release.v1.%s.v%d", in.Name, in.nextRevision())
		reason = namespaceTerminating(schema.GroupResource{Resource: in.Records}, record, in.StorageNamespace)
	case !in.LacksNamespace():
		return failure{}
	}
	return failure{scope: scopeRecord, reason: recordError + reason}
}

// namespaceConflict returns why a server-side installation cannot apply the namespace of the release for --create-namespace, or "" if it
// can.
func (c *Comparison) namespaceConflict() string {
	_, done := c.appliedNamespace()
	return done.Refusal
}

// appliedNamespace returns the live namespace of the release and what becomes of it with --create-namespace. Server-side, Helm applies it
// also if it exists, with one label (helm v4.3.1 pkg/action/install.go RunWithContext). Live is nil if Helm writes no namespace that exists.
func (c *Comparison) appliedNamespace() (live map[string]any, done engine.Written) {
	ref := object.NamespaceRef(c.Input.StorageNamespace)
	live = c.Input.Live[ref].Object
	if live == nil || !c.Input.CreateNamespace || !c.Input.NeedsNamespace() {
		return nil, done
	}
	metadata := map[string]any{"name": ref.Name, "labels": map[string]any{"name": ref.Name}}
	done, _ = c.job.writer.ApplyNew(ref, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, live)
	return live, done
}

// warnOfNamespace warns of labels and annotations that the namespace of the release loses by --create-namespace. An apply takes away what
// the same manager applied before and no longer names, such as what another release has set.
func (c *Comparison) warnOfNamespace() {
	live, done := c.appliedNamespace()
	if live == nil || done.Refusal != "" || done.Result == nil {
		return
	}
	var lost []string
	for _, field := range []string{"labels", "annotations"} {
		was, is := object.Child(object.Child(live, "metadata"), field), object.Child(object.Child(done.Result, "metadata"), field)
		for _, name := range object.SortedKeys(was) {
			if _, kept := is[name]; !kept {
				lost = append(lost, object.Path{}.Field("metadata").Field(field).Field(name).String())
			}
		}
	}
	if len(lost) > 0 {
		c.warn(report.Message{Code: "namespace-loses", Object: object.NamespaceRef(c.Input.StorageNamespace).Key.String(),
			Message: "--create-namespace applies the namespace with its label \"name\" alone, so it loses what Helm applied to it before: " +
				strings.Join(lost, ", ")})
	}
}

// failOnRecord adds an error if the operation fails because of its record, and no object shows that: the chart has none, or only hooks.
// Record is the failure of recordFailure.
func (c *Comparison) failOnRecord(record failure) {
	fails := func(o ObjectComparison) bool { return o.Action == report.ActionFail }
	if record.reason != "" && !slices.ContainsFunc(c.Objects, fails) {
		c.Errors = append(c.Errors, report.Message{Code: "record", Message: "the " + string(c.Input.Operation) + " fails: " + record.reason})
	}
}

// nextRevision returns the revision that the operation makes.
func (in Input) nextRevision() int {
	if in.Last == nil {
		return 1
	}
	return in.Last.Revision + 1
}

// warnOfPending warns of a rollback that leaves its record pending. It stores the record first, and changes the status only if it succeeds
// or fails on an object of the manifest: not if it cannot build the manifests or fails on a hook (helm v3.22.0 and v4.3.1
// pkg/action/rollback.go performRollback).
func (c *Comparison) warnOfPending() {
	furthest, fails := scopeNothing, false
	for _, o := range c.Objects {
		if o.Action == report.ActionFail {
			furthest, fails = max(furthest, o.failure.scope), true
		}
	}
	if fails && c.Input.Operation == report.OperationRollback && slices.Contains([]scope{scopeNothing, scopeManifest, scopeAll}, furthest) {
		text := fmt.Sprintf("the rollback leaves revision %d as pending-rollback, because Helm stores it first", c.Input.nextRevision())
		if c.Input.By == nil { // helm-controller marks such a record as failed, and goes on
			text += "; until another rollback succeeds, an upgrade ends with \"another operation (install/upgrade/rollback) is in progress\""
		}
		c.warn(report.Message{Code: "left-pending", Message: text})
	}
}

// propagateFailures marks the objects that Helm does not process because another one fails. An object that cannot be built or adopted ends
// the upgrade before any write, one that cannot be created ends it at its position in the manifest, and any failure prevents deletions
// (helm v3.22.0 pkg/kube/client.go update). Hooks that run first have already replaced their objects, or one of them has ended the upgrade
// (pkg/action/upgrade.go releasingUpgrade).
func (c *Comparison) propagateFailures(fates []fate) {
	// failing are the indexes of the failing objects that matter for others, in the order Helm processes them.
	var failing []int
	for i, f := range fates {
		if f.fails && f.why.scope > scopeNothing {
			failing = append(failing, i)
		}
	}
	order.Sort(failing, func(a, b int) int { return cmp.Compare(c.Objects[a].index, c.Objects[b].index) })
	skip := func(i int, by ...int) {
		for _, other := range by {
			fates[i].by = append(fates[i].by, &c.Objects[other])
		}
		fates[i].isBlocked = true
	}
	first := func(is func(i int) bool) int {
		if n := slices.IndexFunc(failing, is); n >= 0 {
			return failing[n]
		}
		return -1
	}
	definition := first(func(i int) bool { return c.Objects[i].isDefinition() })
	later := first(func(i int) bool { return fates[i].why.scope == scopeLater })
	all := firstOfAll(failing, fates)
	hook := -1 // the first failing hook before Helm writes the manifest
	for _, i := range failing {
		if fates[i].why.scope == scopeManifest && (hook < 0 || c.Objects[i].hook < c.Objects[hook].hook) {
			hook = i
		}
	}
	for i := range fates {
		switch o := &c.Objects[i]; {
		case definition >= 0 && o.index > c.Objects[definition].index:
			skip(i, definition)
		case definition >= 0:
			fates[i].isBlocked = i == definition
		case o.isDefinition(): // Helm has written it by then
		case len(all) > 0 && !slices.Contains(all, i):
			skip(i, all...)
		case len(all) == 0 && hook >= 0 && i != hook && c.isLeftBy(&c.Objects[hook], o):
			skip(i, hook)
		case fates[i].fails:
			fates[i].isBlocked = true
		case o.hook > 0:
		case later >= 0 && o.index > c.Objects[later].index:
			skip(i, later)
		case len(failing) > 0 && o.action == report.ActionDelete:
			skip(i, failing...)
		}
	}
}

// isLeftBy reports whether an object stays because a hook fails: it becomes no hook, or a later one, or one that Helm applies over it. What
// Helm applies a hook over, it deletes only after all hooks (helm v4.3.1 pkg/action/hooks.go execHookWithDelayedShutdown).
func (c *Comparison) isLeftBy(failing, o *ObjectComparison) bool {
	return o.hook == 0 || o.hook > failing.hook || !c.job.in.Hooks[o.hook-1].DeletedBefore
}

// firstOfAll returns the objects that end the operation before Helm writes anything: those that Helm cannot build or adopt or, if there
// are none, those whose record cannot be stored (helm v3.22.0 pkg/action/install.go RunWithContext).
func firstOfAll(failing []int, fates []fate) []int {
	with := func(s scope) []int {
		return object.Filter(failing, func(i int) bool { return fates[i].why.scope == s })
	}
	if all := with(scopeAll); len(all) > 0 {
		return all
	}
	return with(scopeRecord)
}

// Immutable returns the immutable fields on which Helm fails. It is empty if Helm fails for another reason, or does not fail.
func (o *ObjectComparison) Immutable() []object.Path { return o.failure.immutable }

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
		stays.Notes.Add(fmt.Sprintf("Helm deletes what it has just updated: it also deletes %s, "+
			"and both are one object, served under two API groups", gone.key))
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
