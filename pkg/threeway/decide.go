package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file decides about objects that are not just updated (object.go): the chart adds or drops them, they are not live, or they have no
// name. versions.go has those that change their API version, and definitions.go the objects of the crds folder.

// decideMissing decides about an object that is not live.
func (c *comparer) decideMissing(p pair, why cluster.Absence) decision {
	if p.desired == nil {
		return decision{} // neither desired nor live has it: converged
	}
	d := decision{missing: p.old != nil, action: report.ActionCreate, write: write{method: cluster.MethodCreate}}
	if d.missing && c.in.LastObjects != nil && p.last == nil && c.in.Last != nil {
		d.OfLast = true
		d.notes.Add(fmt.Sprintf("failed revision %d no longer has it", c.in.Last.Revision))
	}
	if i := slices.IndexFunc(c.in.Definitions, func(o object.Object) bool { return o.Key == p.key }); i >= 0 && !p.isDefinition() {
		c.checkOwnership(&d, p.desired, c.in.Definitions[i].Content) // Helm finds what it has just written from the crds folder
	}
	switch namespace := p.desired.Namespace; {
	case c.in.Terminating[namespace]:
		d.fail(scopeLater, namespaceTerminating(resourceOf(p.desired.Ref), p.desired.Name, namespace))
	case why != cluster.AbsentNamespace:
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

// decideBrought decides about an object of a kind that the API server does not serve before the operation. So nobody could look for the
// object, but its namespace was read.
func (c *comparer) decideBrought(p pair) decision {
	why := cluster.AbsentObject
	if c.in.Live[object.NamespaceRef(p.subject().Namespace)].Absence == cluster.AbsentObject {
		why = cluster.AbsentNamespace
	}
	d := c.decideMissing(p, why)
	d.waitsFor = "its CustomResourceDefinition"
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

// prerequisite names an object of the release that must exist before the API server admits a Pod. It is empty if there is none.
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
func (c *comparer) decideAdopted(p pair, rules ignore.ObjectRules, live map[string]any) decision {
	target := c.helmText(p.desired.Content)
	p.old = p.desired
	d := c.decideUpdate(p, rules, live, target)
	d.action = report.ActionAdopt
	if c.in.ForceReplace && c.in.ServerSide() {
		d.fail(scopeAll, "invalid operation: cannot use server-side apply and force replace together")
	}
	c.checkOwnership(&d, p.desired, live)
	c.dropOld(&d, "")
	return d
}

// dropOld turns a decision that was made with old = desired into one without old. Nothing can have drifted, and the verdict on whatever
// desired sets is add, even if live has it. If note is not empty, it replaces the notes of each finding that no manifest names.
func (c *comparer) dropOld(d *decision, note string) {
	kept := d.Findings[:0]
	for _, f := range d.Findings {
		if !f.Managed && !f.Writes() {
			continue
		}
		f.Cause, f.Old = report.CauseChange, nil
		switch {
		case f.Verdict == report.Overwrite && f.Managed && f.Class != report.ClassOrder:
			f.Verdict = report.Add
		case f.Verdict == report.Ignore:
			f.Notes = report.Notes{c.in.Operation.Command() + " (client-side) adopts the object without changing it"}
		case !f.Managed && note != "":
			f.Notes = report.NotesOf(note)
		}
		kept = append(kept, f)
	}
	d.Findings, d.Old = kept, nil
}

// checkOwnership fails an object that does not carry this release's metadata (helm v3.22.0 pkg/action/validate.go
// existingResourceConflict). Helm checks it if old has no object of the same version, except in a rollback or with
// --take-ownership (requireAdoption).
func (c *comparer) checkOwnership(d *decision, o *object.Object, live map[string]any) {
	reason := ownershipConflict(live, c.in.Name, c.in.Namespace)
	if reason == "" || c.in.TakeOwnership || c.in.Operation == report.OperationRollback || c.in.By.Syncs() {
		return
	}
	d.fail(scopeAll, fmt.Sprintf("%s %q in namespace %q exists and cannot be imported into the current release: "+
		"invalid ownership metadata; %s", o.Kind, o.Name, o.Namespace, reason))
}

// ownershipConflict returns Helm's reason for not adopting an object. It is empty if Helm adopts the object.
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
func (c *comparer) decideDropped(p pair, rules ignore.ObjectRules, live map[string]any) decision {
	compared := c.compareFields(p.withoutChange(), rules, live, p.old.Content) // Helm sends no patch, so an error does not matter
	d := decision{action: report.ActionDelete}
	fieldVerdict, notes := report.Remove, report.Notes(nil)
	hook, position := c.hookOf(p.old)
	switch {
	case c.isDeletedByHook(hook):
		if hook.First {
			d.hook = position
		}
		d.reason = "the chart turns it into a hook: Helm deletes the live object, whatever its resource policy, before it runs the hook"
		if !hook.DeletedBefore {
			d.reason = "the chart turns it into a hook: Helm applies the hook over the live object and deletes it when it has succeeded"
		}
	case c.in.leaves(live) != "":
		d.action, d.reason = report.ActionKeep, c.in.leaves(live)
		fieldVerdict, notes = report.Ignore, report.Notes{"the object is kept as it is"}
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
	c.failHook(&d, p.old, live, hook, position)
	d.Old, d.Live, d.liveText = compared.Old, compared.Live, compared.liveText
	d.Controllers, d.Forgotten, d.wantsSchema = compared.Controllers, compared.Forgotten, compared.wantsSchema
	return d
}

// decideRolledBack decides about an object that the last revision lacks, desired has, and the cluster holds. A rollback does not check
// who owns it, and uses live as the original of its patch ("using cluster state as baseline", helm v3.22.0 pkg/kube/client.go update):
// it removes whatever desired does not name, much like a replacement. It also removes the resourceVersion, and the API server rejects
// some kinds without one.
func (c *comparer) decideRolledBack(p pair, rules ignore.ObjectRules, live map[string]any) decision {
	p.old = p.desired
	d := c.decideUpdate(p, rules, live, live)
	d.action = report.ActionAdopt
	if len(d.failures) == 0 && d.method == cluster.MethodPatch && (d.Engine == report.EngineMerge || wantsResourceVersion(p.desired.Key)) {
		d.fail(scopeDeletions, fmt.Sprintf("cannot patch %q with kind %s: "+
			"metadata.resourceVersion: Invalid value: 0: must be specified for an update", p.desired.Name, p.desired.Kind))
	}
	c.dropOld(&d, "the last revision does not have the object, so the rollback removes what its target does not name")
	return d
}

// wantsResourceVersion reports whether the API server rejects updates of a kind without a resourceVersion (kubernetes v1.36.3
// pkg/registry/*/*/strategy.go AllowUnconditionalUpdate, and apiextensions-apiserver's). Custom resources and APIServices are
// among them; Helm's engine identifies them.
func wantsResourceVersion(key object.Key) bool {
	kinds := map[string][]string{
		"admissionregistration.k8s.io": {
			"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		},
		"apiextensions.k8s.io": {"CustomResourceDefinition"},
		"certificates.k8s.io":  {"ClusterTrustBundle", "PodCertificateRequest"},
		"coordination.k8s.io":  {"Lease", "LeaseCandidate"},
		"node.k8s.io":          {"RuntimeClass"},
		"policy":               {"PodDisruptionBudget"},
		"storage.k8s.io":       {"CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment"},
	}
	return slices.Contains(kinds[key.Group], key.Kind)
}

const emptyName = "resource name may not be empty"

// decideUnnamed compares the manifests of an object with generateName. It has no live state, so it cannot drift.
func (c *comparer) decideUnnamed(p pair, rules ignore.ObjectRules) decision {
	var d decision
	if p.desired == nil {
		return d
	}
	if p.old != nil {
		if d.fields = c.compareFields(p, rules, c.helmText(p.old.Content), p.old.Content); d.unpatched != nil {
			d.Findings = nil
		}
	}
	for i := range d.Findings {
		d.Findings[i].Live, d.Findings[i].Owners = nil, nil
	}
	d.Live, d.Result, d.liveText = nil, nil, nil
	c.refuseUnnamed(&d, p)
	return d
}

// refuseTwoNames fails an object with a name and a generateName. Helm 4 refuses it when it looks whether the object exists, before it
// writes anything (helm v4.3.1 pkg/action/validate.go validateNameAndGenerateName). Helm 3 does not, nor does a rollback.
func (c *comparer) refuseTwoNames(d *decision, p pair) {
	isNew := p.desired != nil && !p.isDefinition() && (p.old == nil || p.old.Version != p.desired.Version)
	if !isNew {
		return
	}
	prefix, _ := object.Child(p.desired.Content, "metadata")["generateName"].(string)
	if p.desired.Name != "" && prefix != "" && c.in.helm4() && c.in.Operation != report.OperationRollback {
		d.fail(scopeAll, "metadata.name and metadata.generateName cannot both be set")
	}
}

// refuseUnnamed fails an object at the step where Helm reads it without a name. An upgrade reads an object when it processes it (helm
// v3.22.0 pkg/kube/client.go update); Helm 3 reads a new one before that, to check its owner, at an install too (pkg/action/validate.go
// existingResourceConflict). Helm 4 does not (v4.3.1, the same function), so its install succeeds, except server-side: the API server
// generates no names for an apply.
func (c *comparer) refuseUnnamed(d *decision, p pair) {
	readsFirst := p.old == nil && c.in.Operation != report.OperationRollback && !c.in.helm4()
	switch {
	case readsFirst:
		d.fail(scopeAll, fmt.Sprintf("could not get information about the resource %s %q in namespace %q: %s",
			p.desired.Kind, "", p.desired.Namespace, emptyName))
	case c.in.Operation == report.OperationInstall && c.in.ServerSide():
		d.fail(scopeLater, fmt.Sprintf("server-side apply failed for object %s/ %s: %s", p.desired.Namespace, p.desired.GVK(), emptyName))
	case c.in.Operation == report.OperationInstall:
		d.action = report.ActionCreate
	default:
		d.fail(scopeLater, emptyName+": Helm cannot upgrade an object with generateName")
	}
}
