package threeway

import (
	"fmt"
	"strings"
)

// absent decides an object that is not live.
func (c comparer) absent(out *ObjectComparison, p pair, why Absence) {
	if p.desired == nil {
		return // old alone had it, and it is gone: converged
	}
	out.Missing = p.old != nil
	out.Action = ActionCreate
	switch why {
	case AbsentKind:
		out.fail(stopAll, fmt.Sprintf("the cluster does not serve kind %q in version %q: ensure its CustomResourceDefinition is installed first", out.Kind, out.APIVersion()))
	case AbsentNamespace:
		if !c.creates(out.Namespace) {
			out.fail(stopRest, fmt.Sprintf("namespaces %q not found", out.Namespace))
		}
	case AbsentObject:
	}
}

// creates tells whether the release brings the namespace itself.
func (c comparer) creates(namespace string) bool {
	for _, o := range c.in.DesiredObjects {
		if o.Kind == "Namespace" && o.Group == "" && o.Name == namespace {
			return true
		}
	}
	return false
}

// adopt decides an object that old does not have, desired brings, and the cluster already holds: Helm takes it over if it
// carries this release's metadata, and otherwise stops before it writes anything (helm v3.22.0 pkg/action/validate.go
// existingResourceConflict). What it takes over it patches with old = desired, so it removes nothing.
func (c comparer) adopt(out *ObjectComparison, p pair, live map[string]any) {
	if reason := ownershipConflict(live, c.in.Name, c.in.Namespace); reason != "" {
		where := ""
		if out.Namespace != "" {
			where = fmt.Sprintf(" in namespace %q", out.Namespace)
		}
		out.fail(stopAll, fmt.Sprintf("%s %q%s exists and cannot be imported into the current release: invalid ownership metadata; %s", out.Kind, out.Name, where, reason))
		return
	}
	out.Action = ActionAdopt
	target := HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)
	c.compareFields(out, pair{old: p.desired, desired: p.desired}, live, target)
	kept := out.Findings[:0]
	for _, f := range out.Findings {
		if f.Managed {
			f.Cause, f.Old = CauseChange, nil
			kept = append(kept, f)
		}
	}
	out.Findings = kept
}

// ownershipConflict says why Helm refuses an object, in Helm's words; empty where it does not.
func ownershipConflict(live map[string]any, release, namespace string) string {
	meta := child(live, "metadata")
	var errs []string
	check := func(what, key string, got map[string]any, want string) {
		switch value, ok := got[key]; {
		case !ok:
			errs = append(errs, fmt.Sprintf("%s validation error: missing key %q: must be set to %q", what, key, want))
		case value != want:
			errs = append(errs, fmt.Sprintf("%s validation error: key %q must equal %q: current value is %q", what, key, want, fmt.Sprint(value)))
		}
	}
	check("label", ManagedByLabel, child(meta, "labels"), ManagedByHelm)
	check("annotation", ReleaseNameAnnotation, child(meta, "annotations"), release)
	check("annotation", ReleaseNamespaceAnnotation, child(meta, "annotations"), namespace)
	return strings.Join(errs, "; ")
}

// drop decides an object that desired no longer has. Helm deletes it unless the live object, not the manifest, carries the
// keep policy, spelled exactly so (helm v3.22.0 pkg/kube/client.go update).
func (c comparer) drop(out *ObjectComparison, live map[string]any) {
	out.Action = ActionDelete
	if child(child(live, "metadata"), "annotations")["helm.sh/resource-policy"] == "keep" {
		out.Action, out.Reason = ActionKeep, "helm.sh/resource-policy: keep"
	}
}

// compareUnnamed compares the texts of an object that asks the server for a name. It has no live side, and Helm 3 cannot
// upgrade it at all.
func (c comparer) compareUnnamed(out *ObjectComparison, p pair) {
	if p.old == nil || p.desired == nil || c.in.Operation == OperationDrift {
		return
	}
	content := p.old.Content
	c.compareFields(out, p, content, content)
	for i := range out.Findings {
		out.Findings[i].Live, out.Findings[i].Owners = nil, nil
	}
	out.Action = ActionNone
	out.fail(stopAll, "resource name may not be empty: Helm 3 cannot upgrade an object with generateName")
}

// block tells every object what a failing one keeps Helm from doing to it: one that cannot be built or adopted stops the
// upgrade before any write, one that cannot be created stops it there, and any failure suppresses deletions.
func block(objects []ObjectComparison) {
	var all, rest, failed []string
	for _, o := range objects {
		if o.Action != ActionFail {
			continue
		}
		failed = append(failed, o.Key.String())
		if o.stops == stopAll {
			all = append(all, o.Key.String())
		}
	}
	for i := range objects {
		o := &objects[i]
		switch {
		case o.Action == ActionFail:
			if o.stops == stopRest && len(rest) == 0 {
				rest = []string{o.Key.String()}
			}
			o.blockFields()
		case len(all) > 0:
			o.skip(all)
		case len(rest) > 0:
			o.skip(rest)
		case len(failed) > 0 && o.Action == ActionDelete:
			o.skip(failed)
		}
	}
}

func (o *ObjectComparison) skip(by []string) {
	o.Action, o.BlockedBy = ActionSkip, by
	o.blockFields()
}

func (o *ObjectComparison) blockFields() {
	for i := range o.Findings {
		o.Findings[i].Blocked = true
	}
}
