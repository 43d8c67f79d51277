package object

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Helm writes this ownership metadata on every object of a release (helm v3.22.0 pkg/action/validate.go).
const (
	ManagedByLabel             = "app.kubernetes.io/managed-by"
	ManagedByHelm              = "Helm"
	ReleaseNameAnnotation      = "meta.helm.sh/release-name"
	ReleaseNamespaceAnnotation = "meta.helm.sh/release-namespace"
)

// HelmMetadata returns obj with the label and the two annotations that mark the objects of a release. They overwrite the chart's, as in
// Helm's own visitor on install, upgrade and rollback (setMetadataVisitor with force). obj does not change; the result shares everything
// with it except metadata, labels and annotations.
//
// It uses Helm's accessors, so unusual metadata becomes what Helm makes of it: null labels become a map, a null value becomes "", a
// labels map with a value that is not a string is replaced, and metadata that is not a map stays as it is.
func HelmMetadata(obj map[string]any, release, namespace string) map[string]any {
	out := maps.Clone(obj)
	if metadata, ok := out["metadata"].(map[string]any); ok {
		out["metadata"] = maps.Clone(metadata)
	}
	u := unstructured.Unstructured{Object: out}

	labels := nonNil(u.GetLabels())
	labels[ManagedByLabel] = ManagedByHelm
	u.SetLabels(labels)

	annotations := nonNil(u.GetAnnotations())
	annotations[ReleaseNameAnnotation] = release
	annotations[ReleaseNamespaceAnnotation] = namespace
	u.SetAnnotations(annotations)
	return u.Object
}

// WithoutVersion returns a copy of an object without its resourceVersion, as Helm sends it to create the object: the API server
// refuses to create an object with a resourceVersion (k8s.io/cli-runtime v0.37 pkg/resource/helper.go CreateWithOptions).
func WithoutVersion(obj map[string]any) map[string]any {
	out, metadata := maps.Clone(obj), maps.Clone(Child(obj, "metadata"))
	if metadata != nil {
		delete(metadata, "resourceVersion")
		out["metadata"] = metadata
	}
	return out
}

// ReleaseName names a release by its namespace and its name. Its records may be in another namespace.
type ReleaseName struct{ Namespace, Name string }

// ReleaseOf returns the release that the annotations of an object name. It is empty unless both annotations are there.
func ReleaseOf(obj map[string]any) ReleaseName {
	annotations := Child(Child(obj, "metadata"), "annotations")
	name, _ := annotations[ReleaseNameAnnotation].(string)
	namespace, _ := annotations[ReleaseNamespaceAnnotation].(string)
	if name == "" || namespace == "" {
		return ReleaseName{}
	}
	return ReleaseName{namespace, name}
}

// nonNil returns m, which an accessor has just made, or an empty map for nil.
func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
