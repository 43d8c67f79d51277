package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// absent decides an object that is not live.
func (c comparer) absent(out *ObjectComparison, p pair, why Absence) {
	if p.desired == nil {
		return // old alone had it, and it is gone: converged
	}
	out.Missing = p.old != nil
	c.noteDropped(out, p)
	out.Action, out.sends = report.ActionCreate, MethodCreate
	if c.in.Terminating[out.Namespace] {
		out.fail(stopRest, noNewContent(resourceOf(out.Ref), out.Name, out.Namespace))
		return
	}
	if why != AbsentNamespace {
		out.awaits = c.firstNeeds(out)
		return
	}
	reason := fmt.Sprintf("namespaces %q not found", out.Namespace)
	switch {
	case c.in.Operation == report.OperationInstall && out.Namespace == c.in.StorageNamespace:
		out.fail(stopAll, noRecord+reason)
	case !c.creates("Namespace", "", out.Namespace):
		out.fail(stopRest, reason)
	default:
		out.awaits = "its namespace"
	}
}

// creates tells whether the release brings an object of the core group that is not live yet.
func (c comparer) creates(kind, namespace, name string) bool {
	return slices.ContainsFunc(c.in.DesiredObjects, func(o object.Object) bool {
		return o.Key == object.Key{Kind: kind, Namespace: namespace, Name: name} && c.in.Live[o.Ref].Object == nil
	})
}

// firstNeeds names what a Pod needs before the API server admits it, where the release brings that too.
func (c comparer) firstNeeds(o *ObjectComparison) string {
	account, _ := object.Child(o.Content, "spec")["serviceAccountName"].(string)
	if o.Kind == "Pod" && o.Group == "" && c.creates("ServiceAccount", o.Namespace, account) {
		return "its ServiceAccount"
	}
	return ""
}

// adopt decides an object that old does not have, desired brings, and the cluster already holds: Helm takes it over if it
// carries this release's metadata, or --take-ownership is given, and otherwise stops before it writes anything. What it takes over
// it patches with old = desired, so it removes next to nothing, and of a custom resource it changes nothing at all; but for an
// installation with --take-ownership, which looks at live then.
func (c comparer) adopt(out *ObjectComparison, p pair, live map[string]any) {
	out.Action = report.ActionAdopt
	target := object.HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)
	p.old = p.desired
	c.update(out, p, live, target)
	if c.in.ForceReplace && c.in.serverSide() {
		out.fail(stopAll, "invalid operation: cannot use server-side apply and force replace together")
	}
	c.checkOwnership(out, live)
	kept := out.Findings[:0]
	for _, f := range out.Findings {
		if f.Managed || f.writes() {
			kept = append(kept, c.adopted(f))
		}
	}
	out.Findings, out.Old = kept, nil
}

// adopted turns a finding made with old = desired into one without old: nothing can have drifted, and what desired brings is
// added, whatever live holds.
func (c comparer) adopted(f Finding) Finding {
	f.Cause, f.Old = report.CauseChange, nil
	switch f.Verdict {
	case report.Overwrite:
		if f.Managed && f.Class != report.ClassOrder {
			f.Verdict = report.Add
		}
	case report.Ignore:
		f.Note = c.in.Operation.Command() + " (client-side) takes the object over without changing it"
	case report.Add, report.Remove, report.Conflict:
	}
	return f
}

// checkOwnership refuses an object that does not carry this release's metadata (helm v3.22.0 pkg/action/validate.go
// existingResourceConflict). Helm asks for it wherever old has no object of the same version, but for a rollback, and not with
// --take-ownership (requireAdoption).
func (c comparer) checkOwnership(out *ObjectComparison, live map[string]any) {
	reason := ownershipConflict(live, c.in.Name, c.in.Namespace)
	if reason == "" || c.in.TakeOwnership || c.in.Operation == report.OperationRollback {
		return
	}
	out.fail(stopAll, fmt.Sprintf("%s %q in namespace %q exists and cannot be imported into the current release: invalid ownership metadata; %s",
		out.Kind, out.Name, out.Namespace, reason))
}

// ownershipConflict says why Helm refuses an object, in Helm's words; empty where it does not.
func ownershipConflict(live map[string]any, release, namespace string) string {
	meta := object.Child(live, "metadata")
	var errs []string
	check := func(what, key string, got map[string]any, want string) {
		switch value, ok := got[key]; {
		case !ok:
			errs = append(errs, fmt.Sprintf("%s validation error: missing key %q: must be set to %q", what, key, want))
		case value != want:
			errs = append(errs, fmt.Sprintf("%s validation error: key %q must equal %q: current value is %q", what, key, want, fmt.Sprint(value)))
		}
	}
	check("label", object.ManagedByLabel, object.Child(meta, "labels"), object.ManagedByHelm)
	check("annotation", object.ReleaseNameAnnotation, object.Child(meta, "annotations"), release)
	check("annotation", object.ReleaseNamespaceAnnotation, object.Child(meta, "annotations"), namespace)
	return strings.Join(errs, "; ")
}

// becomesHook tells whether the operation runs the object as a hook. Unless the hook names another policy, Helm deletes what is there
// before it creates one (helm v3.22.0 pkg/action/hooks.go execHook, release.HookBeforeHookCreation).
func (c comparer) becomesHook(o *object.Object) bool {
	return slices.Contains(c.in.Hooks, Hook{Kind: o.Kind, Name: o.Name})
}

// drop decides an object that desired no longer has. Helm deletes it unless the live object, not the manifest, carries the
// keep policy, spelled exactly so (helm v3.22.0 pkg/kube/client.go update). What drifted on it is told all the same.
func (c comparer) drop(out *ObjectComparison, p pair, live map[string]any) {
	// A patch that cannot be made matters not: none will be sent.
	_ = c.compareFields(out, p.unchanged(), live, p.old.Content)
	out.Action = report.ActionDelete
	word, note := report.Remove, ""
	switch {
	case c.becomesHook(p.old):
		out.Reason = "the chart makes a hook of it: Helm deletes what is there, whatever its resource policy, before it runs the hook"
	case object.Child(object.Child(live, "metadata"), "annotations")["helm.sh/resource-policy"] == "keep":
		out.Action, out.Reason = report.ActionKeep, "helm.sh/resource-policy: keep"
		word, note = report.Ignore, "the object is kept as it is"
	}
	out.deletes = out.Action == report.ActionDelete
	kept := out.Findings[:0]
	for _, f := range out.Findings {
		if f.Cause == report.CauseChange {
			continue
		}
		if f.Managed {
			f.Cause = report.CauseBoth
		}
		f.Verdict, f.Certain, f.Note, f.Desired, f.After = word, true, note, nil, nil
		kept = append(kept, f)
	}
	out.Findings, out.Engine, out.Desired, out.Result, out.desiredText, out.repeated = kept, "", nil, nil, nil, nil
}
