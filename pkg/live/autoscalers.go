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
	// reachesZero reports whether an autoscaler may set the replicas to 0.
	reachesZero func(object *unstructured.Unstructured) bool
}

// autoscalerKinds are the known kinds. A ScaledObject of KEDA creates a HorizontalPodAutoscaler, but not while
// it is paused, and KEDA itself scales from and to zero. Its reference has defaults (KEDA v2 apis/keda/v1alpha1
// ParseGVKR). Every server has version 1 of HorizontalPodAutoscaler.
func autoscalerKinds() []autoscalerKind {
	return []autoscalerKind{
		{group: "autoscaling", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", versions: []string{"v2", "v1"},
			reachesZero: autoscalerReachesZero},
		{group: "keda.sh", kind: "ScaledObject", plural: "scaledobjects", versions: []string{"v1alpha1"},
			apiVersion: "apps/v1", target: "Deployment", reachesZero: kedaReachesZero},
	}
}

// autoscalerReachesZero reports whether an autoscaler of Kubernetes may scale to 0, which it does only if its
// minReplicas is 0. Any other is disabled while its target has 0 replicas (kubernetes v1.36.3
// pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler: "scaling is disabled since the replica count of the
// target is zero"). The default of minReplicas is 1.
func autoscalerReachesZero(object *unstructured.Unstructured) bool {
	minimum, found, err := unstructured.NestedInt64(object.Object, "spec", "minReplicas")
	return err == nil && found && minimum == 0
}

// kedaReachesZero reports whether KEDA may scale to 0: the minimum of the ScaledObject is 0, which is the default,
// its idle count is 0, or it is paused at 0 (KEDA v2 pkg/scaling/executor/scale_scaledobjects.go RequestScale).
func kedaReachesZero(object *unstructured.Unstructured) bool {
	minimum, _, err := unstructured.NestedInt64(object.Object, "spec", "minReplicaCount")
	idle, idles, _ := unstructured.NestedInt64(object.Object, "spec", "idleReplicaCount")
	return err == nil && minimum == 0 || idles && idle == 0 || object.GetAnnotations()["autoscaling.keda.sh/paused-replicas"] == "0"
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
	for _, version := range s.versions {
		r, found, err = c.served.find(schema.GroupVersionKind{Group: s.group, Version: version, Kind: s.kind})
		if found {
			return r, true, nil
		}
	}
	return r, false, err
}

// read returns the list with its objects or its error.
func (l autoscalerList) read(ctx context.Context, c *Cluster) (read autoscalerList) {
	read = l
	defer recoverError(&read.err)
	if l.err == nil {
		read.found, read.err = c.dynamic.Resource(l.resource).Namespace(l.namespace).List(ctx, metav1.ListOptions{})
	}
	return read
}

// addTo adds the autoscalers to out, under the objects that they scale. The controller resolves the target by group
// and kind (kubernetes v1.36.3 pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler), so the version is
// ignored.
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
		found := object.Autoscaler{Name: l.kind + " " + o.GetName(), ToZero: l.reachesZero(&o), Paused: object.PausesScaling(o.Object)}
		// A ScaledObject controls the autoscaler that it creates (KEDA v2 controllers/keda/hpa.go newHPAForScaledObject).
		owner := metav1.GetControllerOf(&o)
		isPart := owner != nil && owner.Kind == "ScaledObject"
		if isPart {
			found.Name = "ScaledObject " + owner.Name
		}
		// KEDA scales from 0 whatever its minimum is (KEDA v2 pkg/scaling/executor/scale_scaledobjects.go RequestScale).
		found.FromZero = found.ToZero || isPart || l.group == "keda.sh"
		if other, taken := out[key]; !taken || precedes(found, other) {
			out[key] = found
		}
	}
}

// precedes decides between an autoscaler and an earlier one of the same object, which are a mistake unless one created the other. A
// ScaledObject wins over its own autoscaler. Otherwise the one that scales to 0 wins, because it says more about what may happen to the
// replicas, or the choice only has to be the same each time.
func precedes(a, b object.Autoscaler) bool {
	return a.ToZero && !b.ToZero || a.ToZero == b.ToZero && a.Name <= b.Name
}
