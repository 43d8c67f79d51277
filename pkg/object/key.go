package object

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Key identifies an object the way Helm matches old and desired: by group, kind, namespace and name, never by version
// (helm v3.22.0 pkg/kube/resource.go isMatchingInfo). It is comparable, so it can be a map key; its String is for people.
type Key struct {
	Group     string
	Kind      string
	Namespace string
	Name      string
}

// String returns the key as people write it: "Deployment.apps prod/web".
func (k Key) String() string {
	name := k.Name
	if k.Namespace != "" {
		name = k.Namespace + "/" + k.Name
	}
	return k.GroupKind().String() + " " + name
}

// Compare orders keys by group, kind, namespace and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		cmp.Compare(k.Group, o.Group),
		cmp.Compare(k.Kind, o.Kind),
		cmp.Compare(k.Namespace, o.Namespace),
		cmp.Compare(k.Name, o.Name),
	)
}

// GroupKind returns the kind of the object without its version. Its String is "Kind" or "Kind.group", as tables of kinds have it.
func (k Key) GroupKind() schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

// IsDefinition reports whether the object defines a custom kind.
func (k Key) IsDefinition() bool {
	return k.Group == "apiextensions.k8s.io" && k.Kind == "CustomResourceDefinition"
}

// Ref is a Key with an API version. A request to the API server needs both.
type Ref struct {
	Key
	Version string
}

// NamespaceRef returns the identity of a namespace.
func NamespaceRef(name string) Ref {
	return Ref{Key: Key{Kind: "Namespace", Name: name}, Version: "v1"}
}

// RefOf returns the identity of an object as it names itself. What it does not name is empty.
func RefOf(obj map[string]any) (ref Ref) {
	metadata := Child(obj, "metadata")
	ref.Version, _ = obj["apiVersion"].(string)
	if group, version, isGrouped := strings.Cut(ref.Version, "/"); isGrouped {
		ref.Group, ref.Version = group, version
	}
	ref.Kind, _ = obj["kind"].(string)
	ref.Namespace, _ = metadata["namespace"].(string)
	ref.Name, _ = metadata["name"].(string)
	return ref
}

// APIVersion returns the version as manifests have it: "group/version", or "version" for the core group.
func (r Ref) APIVersion() string {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}.String()
}

// GVK returns the group, version and kind of the object.
func (r Ref) GVK() schema.GroupVersionKind { return r.GroupKind().WithVersion(r.Version) }
