package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decideRolledBack decides about an object that the last revision lacks, desired has, and the cluster holds. A rollback does not check
// who owns it, and uses live as the original of its patch ("using cluster state as baseline", helm v3.22.0 pkg/kube/client.go
// update): it removes whatever desired does not name, much like a replacement. It also removes the resourceVersion, without which
// the API server rejects some kinds.
func (c *comparer) decideRolledBack(p pair, rules *ignore.ObjectRules, live map[string]any) decision {
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

// wantsResourceVersion reports whether the API server rejects updates of a kind without a resourceVersion (kubernetes v1.36.3
// pkg/registry/*/*/strategy.go AllowUnconditionalUpdate, and apiextensions-apiserver's). Custom resources and APIServices are
// among them; they are known by Helm's engine.
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
