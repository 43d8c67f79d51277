package threeway

import (
	"cmp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// propagateFailures marks the objects that Helm does not process because another one fails. An object that cannot be built or adopted ends
// the upgrade before any write, one that cannot be created ends it at its position in the manifest, and any failure prevents deletions
// (helm v3.22.0 pkg/kube/client.go update). Hooks that run first have replaced their objects by then, or one of them has ended the upgrade
// (pkg/action/upgrade.go releasingUpgrade).
func propagateFailures(objects []ObjectComparison) {
	for i := range objects {
		objects[i].unblockDeletion()
	}
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

// firstOfAll returns the objects on which Helm ends before it writes anything: those that it cannot build or adopt or, if there are none,
// those that it has no record for, because that cannot be stored (helm v3.22.0 pkg/action/install.go RunWithContext).
func firstOfAll(failing []*ObjectComparison) []*ObjectComparison {
	with := func(s scope) []*ObjectComparison {
		return object.Filter(failing, func(o *ObjectComparison) bool { return o.failure.scope == s })
	}
	if all := with(scopeAll); len(all) > 0 {
		return all
	}
	return with(scopeRecord)
}

// firstFailingHook returns the object that becomes the first hook that fails before Helm writes the manifest; nil if there is none.
func firstFailingHook(failing []*ObjectComparison) *ObjectComparison {
	var first *ObjectComparison
	for _, o := range failing {
		if o.failure.scope == scopeManifest && (first == nil || o.hook < first.hook) {
			first = o
		}
	}
	return first
}

// failuresInOrder lists the objects that fail, in the order in which Helm processes them.
func failuresInOrder(objects []ObjectComparison) []*ObjectComparison {
	var failing []*ObjectComparison
	for i := range objects {
		if objects[i].Action == report.ActionFail {
			failing = append(failing, &objects[i])
		}
	}
	slices.SortFunc(failing, func(a, b *ObjectComparison) int { return cmp.Compare(a.index, b.index) })
	return failing
}

func (o *ObjectComparison) skip(by ...*ObjectComparison) {
	o.Action, o.BlockedBy = report.ActionSkip, nil
	for _, other := range by {
		o.BlockedBy = append(o.BlockedBy, report.ObjectKey{Key: other.key})
	}
	o.blockFields()
}

func (o *ObjectComparison) blockFields() {
	for i := range o.Findings {
		o.Findings[i].Blocked = true
	}
}

// unblockDeletion reverts skip for a deletion: after a dry run, the object that prevented it may no longer fail.
func (o *ObjectComparison) unblockDeletion() {
	if !o.deletes || o.Action != report.ActionSkip {
		return
	}
	o.Action, o.BlockedBy = report.ActionDelete, nil
	for i := range o.Findings {
		o.Findings[i].Blocked = false
	}
}

// isOpen reports whether it is not certain that the object fails, or that it does not.
func (o *ObjectComparison) isOpen() bool {
	return o.open && !o.isCertain() && o.Action != report.ActionSkip && (o.Action != report.ActionFail || o.failure.onlyConflicts)
}

// deletionNote returns the reason why the deletion of an object is not certain: it depends on whether others fail. It is empty for most.
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
