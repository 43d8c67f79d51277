package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decideRolledBack decides an object that the last revision does not have, desired brings, and the cluster holds. A rollback asks nobody
// who owns it, and takes live as the original of its patch ("using cluster state as baseline", helm v3.22.0 pkg/kube/client.go
// update): whatever desired does not name goes, so it is all but a replacement. The resourceVersion goes too, and some kinds are
// not written without one.
func (c comparer) decideRolledBack(p pair, rules *ignore.ObjectRules, live map[string]any) decision {
	p.old = p.desired
	d := c.decideUpdate(p, rules, live, live)
	d.action = report.ActionAdopt
	if len(d.failures) == 0 && d.method == MethodPatch && (d.Engine == report.EngineMerge || wantsResourceVersion(p.desired.Key)) {
		d.fail(scopeDeletions, fmt.Sprintf("cannot patch %q with kind %s: metadata.resourceVersion: Invalid value: 0: must be specified for an update",
			p.desired.Name, p.desired.Kind))
	}
	kept := d.Findings[:0]
	for _, f := range d.Findings {
		if !f.Managed && !f.Writes() {
			continue
		}
		f = c.withoutOld(f)
		if !f.Managed {
			f.Notes = report.NotesOf(report.NoteObject, "the last revision does not have the object, so the rollback removes what its target does not name")
		}
		kept = append(kept, f)
	}
	d.Findings, d.Old = kept, nil
	return d
}

// wantsResourceVersion names the kinds that the API server does not write without a resourceVersion (kubernetes v1.36.3
// pkg/registry/*/*/strategy.go AllowUnconditionalUpdate, and apiextensions-apiserver's). Custom resources and APIServices are
// among them; Helm's engine tells those.
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
