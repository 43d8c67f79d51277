package fleet

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// Resource is a kind of object of a fleet.
type Resource struct {
	schema.GroupVersionResource
	Kind          string
	ClusterScoped bool
}

// Resources returns all kinds of objects that a fleet has.
func Resources() []Resource {
	in := func(group, version, resource, kind string) Resource {
		return Resource{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, Kind: kind}
	}
	const rbac, net = "rbac.authorization.k8s.io", "networking.k8s.io"
	all := []Resource{
		in("", "v1", "configmaps", "ConfigMap"), in("", "v1", "secrets", "Secret"), in("", "v1", "services", "Service"),
		in("", "v1", "serviceaccounts", "ServiceAccount"), in("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
		in("apps", "v1", "deployments", "Deployment"), in("apps", "v1", "statefulsets", "StatefulSet"), in("batch", "v1", "cronjobs", "CronJob"),
		in(rbac, "v1", "roles", "Role"), in(rbac, "v1", "rolebindings", "RoleBinding"),
		in(rbac, "v1", "clusterroles", "ClusterRole"), in(rbac, "v1", "clusterrolebindings", "ClusterRoleBinding"),
		in(net, "v1", "ingresses", "Ingress"), in(net, "v1", "networkpolicies", "NetworkPolicy"),
		in("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
		in("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
		in("fleet.example.com", "v1", "monitors", "Monitor"), in("fleet.example.com", "v1", "certificates", "Certificate"),
	}
	for i := range all {
		all[i].ClusterScoped = strings.HasPrefix(all[i].Kind, "Cluster")
	}
	return all
}

// resourceOf returns the resource of a kind.
func resourceOf(kind string) (Resource, error) {
	for _, r := range Resources() {
		if r.Kind == kind {
			return r, nil
		}
	}
	return Resource{}, fmt.Errorf("no resource for kind %s", kind)
}

// Objects returns the objects of a manifest as Helm 3 sends them: with the label and the annotations that say which release owns them.
func (r Release) Objects(manifest string) ([]*unstructured.Unstructured, error) {
	objects, err := harness.Decode(manifest)
	if err != nil {
		return nil, fmt.Errorf("manifest of %s: %w", r.Name, err)
	}
	for _, object := range objects {
		labels, annotations := object.GetLabels(), object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		labels["app.kubernetes.io/managed-by"] = "Helm"
		annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"] = r.Name, r.Namespace
		object.SetLabels(labels)
		object.SetAnnotations(annotations)
	}
	return objects, nil
}

// postRendered returns a manifest after its objects were changed.
func (r Release) postRendered(manifest string, change func(Release, *unstructured.Unstructured)) (string, error) {
	objects, err := harness.Decode(manifest)
	var out strings.Builder
	for _, o := range objects {
		change(r, o)
		text, errText := yaml.Marshal(o.Object)
		err = errors.Join(err, errText)
		fmt.Fprintf(&out, "---\n%s", text)
	}
	return out.String(), err
}
