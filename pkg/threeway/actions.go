package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decideMissing decides about an object that is not live.
func (c *comparer) decideMissing(p pair, why Absence) decision {
	if p.desired == nil {
		return decision{} // neither desired nor live has it: converged
	}
	d := decision{missing: p.old != nil, action: report.ActionCreate, write: write{method: MethodCreate}}
	if d.missing && c.in.LastObjects != nil && p.last == nil && c.in.Last != nil {
		d.ofLast = true
		d.notes.Add(report.NoteFailedRevision, fmt.Sprintf("failed revision %d no longer has it", c.in.Last.Revision))
	}
	switch namespace := p.desired.Namespace; {
	case c.in.Terminating[namespace]:
		d.fail(scopeLater, namespaceTerminating(resourceOf(p.desired.Ref), p.desired.Name, namespace))
	case why != AbsentNamespace:
		d.waitsFor = c.prerequisite(p.desired)
	case c.in.Operation == report.OperationInstall && namespace == c.in.StorageNamespace && c.in.CreateNamespace:
		d.waitsFor = "its namespace"
	case c.in.Operation == report.OperationInstall && namespace == c.in.StorageNamespace:
		d.fail(scopeRecord, recordError+namespaceNotFound(namespace))
	case !c.releaseCreates("Namespace", "", namespace):
		d.fail(scopeLater, namespaceNotFound(namespace))
	default:
		d.waitsFor = "its namespace"
	}
	return d
}

// namespaceNotFound returns the API server's error for a write into a namespace that does not exist.
func namespaceNotFound(name string) string { return fmt.Sprintf("namespaces %q not found", name) }

// releaseCreates reports whether the release creates an object of the core group.
func (c *comparer) releaseCreates(kind, namespace, name string) bool {
	return slices.ContainsFunc(c.in.DesiredObjects, func(o object.Object) bool {
		return o.Key == object.Key{Kind: kind, Namespace: namespace, Name: name} && c.in.Live[o.Ref].Object == nil
	})
}

// prerequisite names an object of the release that must exist before the API server admits a Pod; empty if there is none.
func (c *comparer) prerequisite(o *object.Object) string {
	account, _ := object.Child(o.Content, "spec")["serviceAccountName"].(string)
	if o.Kind == "Pod" && o.Group == "" && c.releaseCreates("ServiceAccount", o.Namespace, account) {
		return "its ServiceAccount"
	}
	return ""
}

// decideAdopted decides about an object that old lacks, desired has, and the cluster already holds. Helm adopts it if it carries this
// release's metadata, or with --take-ownership; otherwise Helm stops before it writes anything. It patches an adopted object with old =
// desired, so that it removes next to nothing, and does not change a custom resource at all. An installation with --take-ownership is the
// exception: it merges with live.
func (c *comparer) decideAdopted(p pair, rules *ignore.ObjectRules, live map[string]any) decision {
	target := c.helmText(p.desired.Content)
	p.old = p.desired
	d := c.decideUpdate(p, rules, live, target)
	d.action = report.ActionAdopt
	if c.in.ForceReplace && c.in.ServerSide() {
		d.fail(scopeAll, "invalid operation: cannot use server-side apply and force replace together")
	}
	c.checkOwnership(&d, p.desired, live)
	kept := d.Findings[:0]
	for _, f := range d.Findings {
		if f.Managed || f.Writes() {
			kept = append(kept, c.withoutOld(f))
		}
	}
	d.Findings, d.Old = kept, nil
	return d
}

// withoutOld turns a finding that was made with old = desired into one without old. Nothing can have drifted, and the verdict on what
// desired sets is add, whatever live holds.
func (c *comparer) withoutOld(f verdict.Finding) verdict.Finding {
	f.Cause, f.Old = report.CauseChange, nil
	switch f.Verdict {
	case report.Overwrite:
		if f.Managed && f.Class != report.ClassOrder {
			f.Verdict = report.Add
		}
	case report.Ignore:
		f.Notes = report.Notes{{Kind: report.NoteStays, Text: c.in.Operation.Command() + " (client-side) adopts the object without changing it"}}
	case report.Add, report.Remove, report.Conflict:
	}
	return f
}

// checkOwnership fails an object that does not carry this release's metadata (helm v3.22.0 pkg/action/validate.go
// existingResourceConflict). Helm checks it if old has no object of the same version, except in a rollback or with
// --take-ownership (requireAdoption).
func (c *comparer) checkOwnership(d *decision, o *object.Object, live map[string]any) {
	reason := ownershipConflict(live, c.in.Name, c.in.Namespace)
	if reason == "" || c.in.TakeOwnership || c.in.Operation == report.OperationRollback {
		return
	}
	d.fail(scopeAll, fmt.Sprintf("%s %q in namespace %q exists and cannot be imported into the current release: invalid ownership metadata; %s",
		o.Kind, o.Name, o.Namespace, reason))
}

// ownershipConflict returns Helm's reason for not adopting an object; empty if Helm adopts it.
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

// decideDropped decides about an object that desired no longer has. Helm deletes it unless the live object, not the manifest, has the
// keep policy in exactly this spelling (helm v3.22.0 pkg/kube/client.go update). Its drift is reported anyway.
func (c *comparer) decideDropped(p pair, rules *ignore.ObjectRules, live map[string]any) decision {
	compared := c.compareFields(p.withoutChange(), rules, live, p.old.Content) // Helm sends no patch, so an error does not matter
	d := decision{action: report.ActionDelete}
	fieldVerdict, notes := report.Remove, report.Notes(nil)
	hook := c.hookOf(p.old)
	switch {
	case c.isDeletedByHook(hook):
		if hook.First {
			d.hook = c.position(hook)
		}
		d.reason = "the chart turns it into a hook: Helm deletes the live object, whatever its resource policy, before it runs the hook"
		if !hook.DeletedBefore {
			d.reason = "the chart turns it into a hook: Helm applies the hook over the live object and deletes it when it has succeeded"
		}
	case isKept(live):
		d.action, d.reason = report.ActionKeep, "helm.sh/resource-policy: keep"
		fieldVerdict, notes = report.Ignore, report.Notes{{Kind: report.NoteObject, Text: "the object is kept as it is"}}
	}
	for _, f := range compared.Findings {
		if f.Cause == report.CauseChange {
			continue
		}
		if f.Managed {
			f.Cause = report.CauseBoth
		}
		f.Verdict, f.Certain, f.Notes, f.Desired, f.After = fieldVerdict, true, notes, nil, nil
		d.Findings = append(d.Findings, f)
	}
	c.failHook(&d, p.old, hook)
	d.Old, d.Live, d.liveText = compared.Old, compared.Live, compared.liveText
	d.Controllers, d.Forgotten, d.wantsSchema = compared.Controllers, compared.Forgotten, compared.wantsSchema
	return d
}

// decideUpdate decides about an object that Helm patches or replaces. Original is the text from which Helm computes its patch.
func (c *comparer) decideUpdate(p pair, rules *ignore.ObjectRules, live, original map[string]any) decision {
	d := decision{fields: c.compareFields(p, rules, live, original)}
	if d.unpatched != nil {
		d.fail(scopeDeletions, d.unpatched.Error())
		return d
	}
	if d.conflict != "" {
		reason := fmt.Sprintf("conflict occurred while applying object %s/%s %s: %s", p.desired.Namespace, p.desired.Name, p.desired.GVK(), d.conflict)
		d.failures = append(d.failures, failure{scope: scopeDeletions, reason: reason, onlyConflicts: true})
	}
	d.write = write{method: MethodPatch, original: original}
	if d.Engine == report.EngineReplace {
		d.write = write{method: MethodReplace}
	}
	return d
}
