package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// CRDs reads the CustomResourceDefinitions of custom kinds, one get each. A kind that has none (it is built in or comes
// from an aggregated API server) or is not served is missing from the result. One that could not be read is a warning:
// its objects are then compared without a schema.
func (c *Cluster) CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	found := map[schema.GroupKind]map[string]any{}
	var warnings []report.Message
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

// scaler is a kind whose objects set the replicas of what their spec.scaleTargetRef names.
type scaler struct {
	group, kind, plural string
	// versions are those that have the reference at the place we look.
	versions []string
	// apiVersion and target are what a reference means that names none.
	apiVersion, target string
	// toZero reports whether one of them may set the replicas to 0.
	toZero func(object *unstructured.Unstructured) bool
}

// scalers are the kinds that we know. The autoscalers of KEDA make one of Kubernetes, but not while they pause, and scale from and to
// zero themselves; their reference has defaults (KEDA v2 apis/keda/v1alpha1 ParseGVKR). Version 1 of Kubernetes' is on every server.
func scalers() []scaler {
	return []scaler{
		{group: "autoscaling", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", versions: []string{"v2", "v1"},
			toZero: minimumIsZero},
		{group: "keda.sh", kind: "ScaledObject", plural: "scaledobjects", versions: []string{"v1alpha1"},
			apiVersion: "apps/v1", target: "Deployment", toZero: idlesAtZero},
	}
}

// minimumIsZero reports whether an autoscaler of Kubernetes may scale to 0: its minReplicas is 0. Any other is disabled while its target
// has 0 replicas (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler: "scaling is disabled since the
// replica count of the target is zero"); without minReplicas it takes 1.
func minimumIsZero(object *unstructured.Unstructured) bool {
	minimum, found, err := unstructured.NestedInt64(object.Object, "spec", "minReplicas")
	return err == nil && found && minimum == 0
}

// idlesAtZero reports whether KEDA may scale to 0: the minimum of the ScaledObject is 0, which is the default, it idles at 0, or it is
// paused at 0 (KEDA v2 pkg/scaling/executor/scale_scaledobjects.go RequestScale).
func idlesAtZero(object *unstructured.Unstructured) bool {
	minimum, _, err := unstructured.NestedInt64(object.Object, "spec", "minReplicaCount")
	idle, idles, _ := unstructured.NestedInt64(object.Object, "spec", "idleReplicaCount")
	return err == nil && minimum == 0 || idles && idle == 0 || object.GetAnnotations()["autoscaling.keda.sh/paused-replicas"] == "0"
}

// Autoscalers returns the autoscalers of the namespaces by the objects that they scale. One list per namespace of each kind that is
// served, of all autoscalers: controllers and people make them too, without Helm's label. What could not be read is a warning.
func (c *Cluster) Autoscalers(ctx context.Context, namespaces []string) (map[object.Key]object.Autoscaler, []report.Message) {
	out := map[object.Key]object.Autoscaler{}
	var warnings []report.Message
	for _, l := range inParallel(c.scalerLists(namespaces), func(l scalerList) scalerList { return l.read(ctx, c) }) {
		if l.err != nil {
			noun := fmt.Sprintf("%s.%s in namespace %q", l.plural, l.group, l.namespace)
			warnings = append(warnings, warning("", "list", noun, l.err, "replicas that an autoscaler sets count as drift"))
			continue
		}
		l.addTo(out)
	}
	return out, warnings
}

// scalerList is one list of autoscalers, to be read or read.
type scalerList struct {
	scaler
	namespace string
	resource  schema.GroupVersionResource
	found     *unstructured.UnstructuredList
	err       error
}

// scalerLists are the lists to read. Of a kind that is not served there is none; where discovery does not know, the error stands in it.
func (c *Cluster) scalerLists(namespaces []string) []scalerList {
	var out []scalerList
	for _, s := range scalers() {
		r, served, err := c.scalerResource(s)
		if !served && err == nil {
			continue
		}
		for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
			out = append(out, scalerList{scaler: s, namespace: namespace, resource: r.GroupVersionResource, err: err})
		}
	}
	return out
}

// scalerResource finds a kind of autoscaler at one of its versions.
func (c *Cluster) scalerResource(s scaler) (r resource, found bool, err error) {
	for _, version := range s.versions {
		r, found, err = c.served.find(schema.GroupVersionKind{Group: s.group, Version: version, Kind: s.kind})
		if found {
			return r, true, nil
		}
	}
	return r, false, err
}

func (l scalerList) read(ctx context.Context, c *Cluster) (read scalerList) {
	read = l
	defer recovered(&read.err)
	if l.err == nil {
		read.found, read.err = c.dynamic.Resource(l.resource).Namespace(l.namespace).List(ctx, metav1.ListOptions{})
	}
	return read
}

// addTo files autoscalers under what they scale. The controller resolves the target by group and kind
// (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler), so the version plays no part.
func (l scalerList) addTo(out map[object.Key]object.Autoscaler) {
	for _, o := range l.found.Items {
		target, _, _ := unstructured.NestedMap(o.Object, "spec", "scaleTargetRef")
		text := func(field string) string {
			s, _ := target[field].(string)
			return s
		}
		gv, err := schema.ParseGroupVersion(cmp.Or(text("apiVersion"), l.apiVersion))
		if err != nil || text("name") == "" {
			continue
		}
		key := object.Key{Group: gv.Group, Kind: cmp.Or(text("kind"), l.target), Namespace: l.namespace, Name: text("name")}
		found := object.Autoscaler{Name: l.kind + " " + o.GetName(), ToZero: l.toZero(&o)}
		if other, taken := out[key]; !taken || precedes(found, other) {
			out[key] = found
		}
	}
}

// precedes chooses between two autoscalers of one object, which are a mistake, or one made the other: the one that scales to 0 says what
// may become of the replicas, and else naming always the same one is enough.
func precedes(a, b object.Autoscaler) bool {
	if a.ToZero != b.ToZero {
		return a.ToZero
	}
	return a.Name < b.Name
}

// recovered turns a panic into an error; it is called by defer.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error: %s", oneLine(fmt.Sprint(p)))
	}
}
