package fleet

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// writers is how many releases are written at once.
const writers = 16

//go:embed crds.yaml
var definitions string

// filler writes releases into a cluster.
type filler struct {
	objects    dynamic.Interface
	records    kubernetes.Interface
	postRender func(Release, *unstructured.Unstructured)
}

// Fill writes the releases with the numbers from first up to, but not including, end. It leaves alone what exists already, so that an
// interrupted call can be repeated.
func (f *Fleet) Fill(ctx context.Context, config *rest.Config, first, end int) error {
	config = rest.CopyConfig(config)
	config.QPS = -1           // no limit: the number of writers is the limit
	config.UserAgent = "helm" // the API server takes the field manager of records from it
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	records, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	w := filler{objects: objects, records: records, postRender: f.options.PostRender}
	if err := errors.Join(w.defineKinds(ctx), w.createNamespaces(ctx, first, end)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for number := first; number < end; number++ {
		group.Go(func() error {
			r := f.Release(number)
			if err := w.write(ctx, r); err != nil {
				return fmt.Errorf("release %s/%s: %w", r.Namespace, r.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// write writes the objects and the records of a release, and makes its drift.
func (w filler) write(ctx context.Context, r Release) error {
	manifest, err := r.Manifest()
	if err == nil && w.postRender != nil {
		manifest, err = r.postRendered(manifest, w.postRender)
	}
	if err != nil {
		return err
	}
	objects, err := r.Objects(manifest)
	if err != nil {
		return err
	}
	for _, object := range objects {
		resource, err := resourceOf(object.GetKind())
		if err != nil {
			return err
		}
		namespace := r.Namespace
		if resource.ClusterScoped {
			namespace = ""
		}
		if err := w.create(ctx, resource.GroupVersionResource, namespace, object); err != nil {
			return err
		}
	}
	secrets := driver.NewSecrets(w.records.CoreV1().Secrets(r.Namespace))
	for _, record := range r.Records(manifest) {
		key := fmt.Sprintf("sh.helm.release.v1.%s.v%d", record.Name, record.Version)
		if err := secrets.Create(key, record); err != nil && !errors.Is(err, driver.ErrReleaseExists) {
			return err
		}
	}
	return r.apply(ctx, w.objects)
}

// create creates an object as the field manager helm, unless it exists.
func (w filler) create(
	ctx context.Context, resource schema.GroupVersionResource, namespace string, object *unstructured.Unstructured,
) error {
	_, err := w.objects.Resource(resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{FieldManager: "helm"})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// createNamespaces creates the namespaces of some releases.
func (w filler) createNamespaces(ctx context.Context, first, end int) error {
	for number := first - first%perNamespace; number < end; number += perNamespace {
		namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		namespace.SetName(namespaceOf(number))
		if err := w.create(ctx, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", namespace); err != nil {
			return err
		}
	}
	return nil
}

// defineKinds creates the custom kinds, and waits until they are served.
func (w filler) defineKinds(ctx context.Context) error {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	objects, err := harness.Decode(definitions)
	if err != nil {
		return err
	}
	for _, crd := range objects {
		if err := w.create(ctx, crds, "", crd); err != nil {
			return err
		}
	}
	for _, resource := range Resources() {
		if resource.Group != "fleet.example.com" {
			continue
		}
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := w.objects.Resource(resource.GroupVersionResource).List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil, nil
		})
		if err != nil {
			return fmt.Errorf("wait for %s: %w", resource.Resource, err)
		}
	}
	return nil
}
