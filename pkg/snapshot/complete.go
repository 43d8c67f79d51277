package snapshot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// complete reads what a later comparison of the same objects may need and the recorded ones did not: what the server serves, the
// definitions and OpenAPI documents of custom kinds, and autoscalers.
func (r *Recorder) complete(ctx context.Context, namespace string) {
	capabilities, err := r.cluster.Capabilities(ctx)
	if err == nil {
		for _, text := range capabilities.APIVersions {
			if kind, ok := servedKind(text); ok {
				_, _ = r.cluster.Scope(kind)
			}
		}
	}
	for _, group := range r.connection.Cluster.Undiscovered() {
		r.undiscovered[group] = r.connection.Cluster.Incomplete([]string{group})
	}
	namespaces := []string{namespace}
	for _, ref := range sortedRefs(r.objects) {
		r.completeKind(ctx, ref)
		if namespaced, known := r.connection.Cluster.Scope(ref.GVK()); known && namespaced {
			namespaces = append(namespaces, ref.Namespace)
		}
	}
	slices.Sort(namespaces)
	missing := slices.DeleteFunc(slices.Compact(namespaces), func(name string) bool { return name == "" || r.autoscalers[name].any })
	_, _ = r.cluster.Autoscalers(ctx, missing)
}

// completeKind reads the definition and the OpenAPI document of a custom kind.
func (r *Recorder) completeKind(ctx context.Context, ref object.Ref) {
	kind := ref.GVK()
	if kinds.NativeApply().Scheme.Recognizes(kind) {
		return
	}
	_, _ = r.cluster.CRDs(ctx, []schema.GroupKind{kind.GroupKind()})
	if _, served := r.connection.Cluster.Scope(kind); served {
		_, _ = r.cluster.OpenAPI(ctx, []schema.GroupVersion{kind.GroupVersion()})
	}
}

// sortedRefs returns the objects that were asked for, in a fixed order.
func sortedRefs[V any](objects map[object.Ref]V) []object.Ref {
	return order.Sorted(maps.Keys(objects), func(a, b object.Ref) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Version, b.Version))
	})
}

// servedKind returns the kind that an entry of the API versions names, such as "v1/Pod" or "apps/v1/Deployment"; some entries name none.
func servedKind(text string) (schema.GroupVersionKind, bool) {
	switch parts := strings.Split(text, "/"); {
	case len(parts) == 3:
		return schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}, true
	case len(parts) == 2 && parts[1] != "" && parts[1][0] >= 'A' && parts[1][0] <= 'Z':
		return schema.GroupVersionKind{Version: parts[0], Kind: parts[1]}, true
	}
	return schema.GroupVersionKind{}, false
}
