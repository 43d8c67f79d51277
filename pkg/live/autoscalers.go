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

// autoscalerKind is a kind whose objects set the replicas of the object that their spec.scaleTargetRef names.
type autoscalerKind struct {
	group, kind, plural string
	// versions are the API versions that have the reference at spec.scaleTargetRef.
	versions []string
	// apiVersion and target are the defaults of a reference that omits them.
	apiVersion, target string
	// autoscaler returns what an object of the kind does to the replicas.
	autoscaler func(o *unstructured.Unstructured) object.Autoscaler
}

// autoscalerKinds are the known kinds. A ScaledObject of KEDA creates a HorizontalPodAutoscaler, but not while it is paused. Its reference
// has defaults (KEDA v2 apis/keda/v1alpha1 ParseGVKR). Every server has version 1 of HorizontalPodAutoscaler.
func autoscalerKinds() []autoscalerKind {
	return []autoscalerKind{
		{group: "autoscaling", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", versions: []string{"v2", "v1"},
			autoscaler: autoscalerOfKubernetes},
		{group: "keda.sh", kind: "ScaledObject", plural: "scaledobjects", versions: []string{"v1alpha1"},
			apiVersion: "apps/v1", target: "Deployment", autoscaler: autoscalerOfKEDA},
	}
}

// autoscalerOfKubernetes returns what a HorizontalPodAutoscaler does. KEDA controls those that it creates for a ScaledObject (KEDA v2
// controllers/keda/hpa.go newHPAForScaledObject). Others scale a target that has 0 replicas only if they have set them to 0, which their
// condition ScaledToZero says (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go shouldComputeMetricsForZeroReplicas). One
// that has not scaled yet lacks it, and says that scaling is disabled once the replicas are 0. Before 1.36 there is no such condition, and
// minReplicas 0 is enough (kubernetes v1.35.0 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler).
func autoscalerOfKubernetes(o *unstructured.Unstructured) object.Autoscaler {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "ScaledObject" {
		return object.Autoscaler{Name: "ScaledObject " + owner.Name, FromZero: true}
	}
	out := object.Autoscaler{Name: "HorizontalPodAutoscaler " + o.GetName()}
	for _, c := range object.Items(object.Child(o.Object, "status"), "conditions") {
		if c["type"] == "ScaledToZero" || c["reason"] == "ScalingDisabled" {
			out.ToZero, out.FromZero = c["status"] == "True", c["status"] == "True"
			return out
		}
	}
	out.ToZero = object.Equal(object.Child(o.Object, "spec")["minReplicas"], int64(0))
	return out
}

// autoscalerOfKEDA returns what a ScaledObject does. It may scale to 0 if its minimum is 0, which is the default, its idle count is 0, or it
// is paused at 0. It scales from 0 whatever its minimum is (KEDA v2 pkg/scaling/executor/scale_scaledobjects.go RequestScale).
func autoscalerOfKEDA(o *unstructured.Unstructured) object.Autoscaler {
	minimum, _, err := unstructured.NestedInt64(o.Object, "spec", "minReplicaCount")
	idle, idles, _ := unstructured.NestedInt64(o.Object, "spec", "idleReplicaCount")
	toZero := err == nil && minimum == 0 || idles && idle == 0 || o.GetAnnotations()["autoscaling.keda.sh/paused-replicas"] == "0"
	return object.Autoscaler{Name: "ScaledObject " + o.GetName(), ToZero: toZero, FromZero: true, Paused: object.PausesScaling(o.Object)}
}

// Autoscalers returns the autoscalers of the namespaces, keyed by the objects that they scale. It sends one
// list request per namespace and served kind. The lists do not select Helm's label, because controllers and
// people create autoscalers too. A list that cannot be read causes a warning.
func (c *Cluster) Autoscalers(ctx context.Context, namespaces []string) (map[object.Key]object.Autoscaler, []report.Message) {
	out := map[object.Key]object.Autoscaler{}
	var warnings []report.Message
	for _, l := range inParallel(c.autoscalerLists(namespaces), func(l autoscalerList) autoscalerList { return l.read(ctx, c) }) {
		if l.err != nil {
			noun := fmt.Sprintf("%s.%s in namespace %q", l.plural, l.group, l.namespace)
			warnings = append(warnings, warning("", "list", noun, l.err,
				"replicas that the manifest names count as drift also where an autoscaler sets them"))
			continue
		}
		l.addTo(out)
	}
	return out, warnings
}

// autoscalerList is one list of autoscalers, before and after it is read.
type autoscalerList struct {
	autoscalerKind
	namespace string
	resource  schema.GroupVersionResource
	found     *unstructured.UnstructuredList
	err       error
}

// autoscalerLists returns the lists to read. A kind that is not served has no list. If its group could not
// be discovered, its list has that error.
func (c *Cluster) autoscalerLists(namespaces []string) []autoscalerList {
	var out []autoscalerList
	for _, s := range autoscalerKinds() {
		r, served, err := c.autoscalerResource(s)
		if !served && err == nil {
			continue
		}
		for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
			out = append(out, autoscalerList{autoscalerKind: s, namespace: namespace, resource: r.GroupVersionResource, err: err})
		}
	}
	return out
}

// autoscalerResource finds a kind of autoscaler at one of its versions.
func (c *Cluster) autoscalerResource(s autoscalerKind) (r resource, found bool, err error) {
	for i := 0; i < len(s.versions) && !found; i++ {
		r, found, err = c.served.find(schema.GroupVersionKind{Group: s.group, Version: s.versions[i], Kind: s.kind})
	}
	return r, found, err
}

// read returns the list with its objects or its error.
func (l autoscalerList) read(ctx context.Context, c *Cluster) (read autoscalerList) {
	read = l
	defer RecoverError(&read.err)
	if l.err == nil {
		read.found, read.err = c.dynamic.Resource(l.resource).Namespace(l.namespace).List(ctx, metav1.ListOptions{})
	}
	return read
}

// addTo adds the autoscalers to out, under the objects that they scale. The controller resolves the target by group and kind (kubernetes
// v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler), so the version is ignored.
func (l autoscalerList) addTo(out map[object.Key]object.Autoscaler) {
	for _, o := range l.found.Items {
		text := func(field string) string {
			s, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", field)
			return s
		}
		gv, err := schema.ParseGroupVersion(cmp.Or(text("apiVersion"), l.apiVersion))
		if err != nil || text("name") == "" {
			continue
		}
		key := object.Key{Group: gv.Group, Kind: cmp.Or(text("kind"), l.target), Namespace: o.GetNamespace(), Name: text("name")}
		found := l.autoscaler(&o)
		if other, taken := out[key]; !taken || precedes(found, other) {
			out[key] = found
		}
	}
}

// precedes decides between an autoscaler and an earlier one of the same object, which are a mistake unless one created the other. A
// ScaledObject wins over its own autoscaler, which has its name. Otherwise one that is not paused wins, and then one that scales to 0,
// because it says more about what may happen to the replicas. Else the choice only has to be the same each time.
func precedes(a, b object.Autoscaler) bool {
	if a.Name != b.Name && a.Paused != b.Paused {
		return b.Paused
	}
	return a.ToZero && !b.ToZero || a.ToZero == b.ToZero && a.Name <= b.Name
}
