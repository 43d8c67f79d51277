package live

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// CRDs reads the CustomResourceDefinitions of custom kinds, one get each. A kind that has none (it is built in or comes
// from an aggregated API server) or is not served is missing from the result. One that could not be read is a warning:
// its objects are then compared without a schema.
func (c *Cluster) CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []threeway.Message) {
	found := map[schema.GroupKind]map[string]any{}
	var warnings []threeway.Message
	for _, d := range c.definitions(ctx, kinds) {
		switch {
		case d.err == nil:
			found[d.kind] = d.object.Object
		case !isObjectNotFound(d.err):
			warnings = append(warnings, warning(d.kind.String(), "get", d.noun(), d.err, "its objects are compared without a schema"))
		}
	}
	return found, warnings
}

// definition is a custom kind and its CustomResourceDefinition, whose name is always "plural.group".
type definition struct {
	kind   schema.GroupKind
	name   string
	object *unstructured.Unstructured
	err    error
}

func (d definition) noun() string {
	return fmt.Sprintf("customresourcedefinitions.apiextensions.k8s.io %q", d.name)
}

// definitions reads the definitions of those of the kinds that are served.
func (c *Cluster) definitions(ctx context.Context, kinds []schema.GroupKind) []definition {
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	return inParallel(c.definitionNames(kinds), func(d definition) (read definition) {
		read = d
		defer recovered(&read.err)
		read.object, read.err = c.dynamic.Resource(resource).Get(ctx, d.name, metav1.GetOptions{})
		return read
	})
}

func (c *Cluster) definitionNames(kinds []schema.GroupKind) []definition {
	var out []definition
	for _, kind := range kinds {
		versions := c.Versions(kind)
		if len(versions) == 0 || slices.ContainsFunc(out, func(d definition) bool { return d.kind == kind }) {
			continue
		}
		r := c.served.kinds[kind.WithVersion(versions[0])]
		out = append(out, definition{kind: kind, name: r.Resource + "." + r.Group})
	}
	return out
}

// Autoscalers tells which objects of the namespaces have their replicas set by a HorizontalPodAutoscaler: the key is the
// scaled object, the value names the autoscaler. One list per namespace, of all autoscalers: KEDA and people make them
// too, without Helm's label. A namespace that could not be read is a warning.
func (c *Cluster) Autoscalers(ctx context.Context, namespaces []string) (map[threeway.Key]string, []threeway.Message) {
	out := map[threeway.Key]string{}
	r, found, err := c.autoscalerResource()
	if err == nil && !found {
		return out, nil
	}
	names := slices.Compact(slices.Sorted(slices.Values(namespaces)))
	type result struct {
		list *unstructured.UnstructuredList
		err  error
	}
	results := inParallel(names, func(namespace string) (answer result) {
		defer recovered(&answer.err)
		if err != nil {
			return result{err: err}
		}
		answer.list, answer.err = c.dynamic.Resource(r.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		return answer
	})
	var warnings []threeway.Message
	for i, answer := range results {
		if answer.err != nil {
			noun := fmt.Sprintf("horizontalpodautoscalers.autoscaling in namespace %q", names[i])
			warnings = append(warnings, warning("", "list", noun, answer.err, "replicas that an autoscaler sets count as drift"))
			continue
		}
		addScaled(out, names[i], answer.list.Items)
	}
	return out, warnings
}

// autoscalerResource finds the autoscalers at a version that has scaleTargetRef at the place we look; v1 is on every server.
func (c *Cluster) autoscalerResource() (r resource, found bool, err error) {
	for _, version := range []string{"v2", "v1"} {
		r, found, err = c.served.find(schema.GroupVersionKind{Group: "autoscaling", Version: version, Kind: "HorizontalPodAutoscaler"})
		if found {
			return r, true, nil
		}
	}
	return r, false, err
}

// addScaled files autoscalers under what they scale. The controller resolves the target by group and kind
// (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler), so the version plays no part.
func addScaled(out map[threeway.Key]string, namespace string, autoscalers []unstructured.Unstructured) {
	for _, hpa := range autoscalers {
		target, _, _ := unstructured.NestedStringMap(hpa.Object, "spec", "scaleTargetRef")
		gv, err := schema.ParseGroupVersion(target["apiVersion"])
		if err != nil || target["name"] == "" {
			continue
		}
		key := threeway.Key{Group: gv.Group, Kind: target["kind"], Namespace: namespace, Name: target["name"]}
		label := "HorizontalPodAutoscaler " + hpa.GetName()
		// Two autoscalers of one object are a mistake; naming always the same one is enough.
		if other, taken := out[key]; !taken || label < other {
			out[key] = label
		}
	}
}

// recovered turns a panic into an error; it is called by defer.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error: %s", oneLine(fmt.Sprint(p)))
	}
}
