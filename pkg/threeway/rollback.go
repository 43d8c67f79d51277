package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// rollOver decides an object that the last revision does not have, desired brings, and the cluster holds. A rollback asks nobody
// who owns it, and takes live as the original of its patch ("using cluster state as baseline", helm v3.22.0 pkg/kube/client.go
// update): whatever desired does not name goes, so it is all but a replacement. The resourceVersion goes too, and some kinds are
// not written without one.
func (c comparer) rollOver(out *ObjectComparison, p pair, live map[string]any) {
	out.Action = report.ActionAdopt
	p.old = p.desired
	c.update(out, p, live, live)
	if out.Action != report.ActionFail && out.sends == MethodPatch && (out.Engine == report.EngineMerge || wantsResourceVersion(out.Key)) {
		out.fail(stopNothing, fmt.Sprintf("cannot patch %q with kind %s: metadata.resourceVersion: Invalid value: 0: must be specified for an update",
			out.Name, out.Kind))
	}
	kept := out.Findings[:0]
	for _, f := range out.Findings {
		if !f.Managed && !f.writes() {
			continue
		}
		if f.Managed {
			f = c.adopted(f)
		} else {
			f = c.adopted(f)
			f.Note = "the last revision does not have the object, so the rollback removes what its target does not name"
		}
		kept = append(kept, f)
	}
	out.Findings, out.Old = kept, nil
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
