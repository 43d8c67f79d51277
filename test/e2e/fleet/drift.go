package fleet

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Drift is a change that somebody made to a release without Helm.
type Drift string

// These are the changes.
const (
	NoDrift      Drift = ""
	Scaled       Drift = "scaled"
	ImageSet     Drift = "image set"
	LabelRemoved Drift = "label removed"
	Deleted      Drift = "object deleted"
)

// driftOf returns the drift of a release. The changes take turns.
func driftOf(number int) Drift {
	if number%perDrifted != perDrifted/2 {
		return NoDrift
	}
	return []Drift{Scaled, ImageSet, LabelRemoved, Deleted}[number/perDrifted%4]
}

// apply makes the change of a release, under the field manager of the tool that a person would use.
func (r Release) apply(ctx context.Context, client dynamic.Interface) error {
	patch := func(kind, name, manager string, patch types.PatchType, body string, subresources ...string) error {
		resource, err := resourceOf(kind)
		if err != nil {
			return err
		}
		objects := client.Resource(resource.GroupVersionResource).Namespace(r.Namespace)
		_, err = objects.Patch(ctx, r.Name+"-"+name, patch, []byte(body), metav1.PatchOptions{FieldManager: manager}, subresources...)
		return err
	}
	switch r.Drift {
	case NoDrift:
		return nil
	case Scaled:
		return patch("Deployment", "web", "kubectl", types.MergePatchType, `{"spec":{"replicas":11}}`, "scale")
	case ImageSet:
		return patch("Deployment", "web", "kubectl-set", types.StrategicMergePatchType,
			`{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"registry.example.com/shop/app:hotfix"}]}}}}`)
	case LabelRemoved:
		return patch("Service", "web", "kubectl-label", types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/part-of":null}}}`)
	case Deleted:
		resource, err := resourceOf("ConfigMap")
		if err != nil {
			return err
		}
		return client.Resource(resource.GroupVersionResource).Namespace(r.Namespace).Delete(ctx, r.Name+"-main", metav1.DeleteOptions{})
	}
	return fmt.Errorf("unknown drift %q", r.Drift)
}
