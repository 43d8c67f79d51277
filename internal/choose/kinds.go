package choose

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// shortNames returns the short names that kubectl knows for built-in kinds (kubectl api-resources, Kubernetes 1.34).
func shortNames() map[string]string {
	return map[string]string{
		"cm": "ConfigMap", "ep": "Endpoints", "ev": "Event", "limits": "LimitRange", "no": "Node", "ns": "Namespace",
		"po": "Pod", "pv": "PersistentVolume", "pvc": "PersistentVolumeClaim", "quota": "ResourceQuota", "rc": "ReplicationController",
		"sa": "ServiceAccount", "svc": "Service", "crd": "CustomResourceDefinition", "crds": "CustomResourceDefinition",
		"deploy": "Deployment", "ds": "DaemonSet", "rs": "ReplicaSet", "sts": "StatefulSet", "hpa": "HorizontalPodAutoscaler",
		"cj": "CronJob", "csr": "CertificateSigningRequest", "ing": "Ingress", "ip": "IPAddress", "netpol": "NetworkPolicy",
		"pdb": "PodDisruptionBudget", "pc": "PriorityClass", "sc": "StorageClass", "vac": "VolumeAttributesClass",
	}
}

// isKind reports whether a word and a group, both in lower case, name the kind of an object. The group may be empty. A short name is that
// of a built-in kind, because a definition chooses the short names of a custom kind itself.
func isKind(word, group string, key object.Key) bool {
	if group != "" && group != strings.ToLower(key.Group) {
		return false
	}
	kind := strings.ToLower(key.Kind)
	plural, singular := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: key.Kind})
	if word == kind || word == plural.Resource || word == singular.Resource {
		return true
	}
	return shortNames()[word] == key.Kind && !report.ObjectKey{Key: key}.IsCustom()
}
