package live

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/helmdrift/helmdrift/pkg/cluster"
)

// unsafeKinds returns the requested kinds that get no dry run, because nothing proves that the Kubernetes API server
// itself serves them. Each has a reason.
func (c *Cluster) unsafeKinds(ctx context.Context, requests []cluster.Request) map[schema.GroupVersionKind]string {
	unsafe := map[schema.GroupVersionKind]string{}
	var custom []schema.GroupKind
	for _, request := range requests {
		kind := request.Ref.GVK()
		if !isBuiltInGroup(kind.Group) {
			custom = append(custom, kind.GroupKind())
			unsafe[kind] = mayIgnoreDryRun(kind)
		}
	}
	for _, read := range c.definitions(ctx, custom) {
		for kind := range unsafe {
			switch {
			case kind.GroupKind() != read.kind:
			case read.err == nil && servesVersion(read.object, kind.Version):
				delete(unsafe, kind)
			case read.err != nil && !isObjectNotFound(read.err):
				unsafe[kind] = warning("", "get", read.resourceName(), read.err, mayIgnoreDryRun(kind)).Message
			}
		}
	}
	return unsafe
}

func mayIgnoreDryRun(kind schema.GroupVersionKind) string {
	return fmt.Sprintf("its API server may not support dry runs (%s is neither built in nor known to be defined by a "+
		"CustomResourceDefinition)", kind.GroupVersion())
}

// isBuiltInGroup reports whether the Kubernetes API server itself serves an API group. Such groups have types in client-go,
// except for the two parts of the server that bring types of their own.
func isBuiltInGroup(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// servesVersion reports whether a CustomResourceDefinition serves a version. Another API server may serve other versions of
// the same group.
func servesVersion(definition *unstructured.Unstructured, version string) bool {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	return slices.ContainsFunc(versions, func(v any) bool {
		fields, _ := v.(map[string]any)
		return fields["name"] == version && fields["served"] == true
	})
}
