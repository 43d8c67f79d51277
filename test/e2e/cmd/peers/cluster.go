package main

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// manager is the field manager of the edits.
const manager = "kubectl-edit"

// cluster reads and edits objects of any kind.
type cluster struct{ harness.Objects }

// of returns the client for an object of a release.
func (c *cluster) of(obj *unstructured.Unstructured, s situation) (dynamic.ResourceInterface, error) {
	client, _, err := c.OfKind(obj.GroupVersionKind(), cmp.Or(obj.GetNamespace(), s.namespace))
	return client, err
}

// states are live objects by label; nil for those that are not there or are being deleted.
type states map[string]*unstructured.Unstructured

// read returns the live objects of manifests.
func (c *cluster) read(ctx context.Context, s situation, objects []*unstructured.Unstructured) (states, error) {
	live := states{}
	for _, obj := range objects {
		name := label(obj.GetKind(), obj.GroupVersionKind().Group, obj.GetName())
		live[name] = nil
		client, err := c.of(obj, s)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		got, err := client.Get(ctx, obj.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		case got.GetDeletionTimestamp() == nil:
			live[name] = got
		}
	}
	return live, nil
}

// apply edits an object as a person would.
func (c *cluster) apply(ctx context.Context, s situation, e *edit) error {
	client, _, err := c.OfKind(schema.FromAPIVersionAndKind(e.apiVersion, e.kind), s.namespace)
	if err != nil {
		return err
	}
	if e.patch == "" {
		return client.Delete(ctx, e.object, metav1.DeleteOptions{})
	}
	_, err = client.Patch(ctx, e.object, e.patchType, []byte(e.patch), metav1.PatchOptions{FieldManager: manager})
	return err
}

// put makes an object as it is in a case, its field managers included. The second write changes nothing but them.
func (c *cluster) put(ctx context.Context, s situation, want *unstructured.Unstructured) error {
	client, err := c.of(want, s)
	if err != nil {
		return err
	}
	for range 2 {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return write(ctx, client, want) })
		if err != nil {
			return err
		}
	}
	return nil
}

// write creates or replaces an object.
func write(ctx context.Context, client dynamic.ResourceInterface, want *unstructured.Unstructured) error {
	next := want.DeepCopy()
	for _, key := range []string{"resourceVersion", "uid", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(next.Object, "metadata", key)
	}
	current, err := client.Get(ctx, want.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		next.SetManagedFields(nil)
		_, err = client.Create(ctx, next, metav1.CreateOptions{FieldManager: manager})
	} else if err == nil {
		next.SetResourceVersion(current.GetResourceVersion())
		_, err = client.Update(ctx, next, metav1.UpdateOptions{FieldManager: manager})
	}
	return err
}

// remove deletes an object, whatever its finalizers say, and waits until it is gone.
func (c *cluster) remove(ctx context.Context, s situation, obj *unstructured.Unstructured) error {
	client, err := c.of(obj, s)
	if err != nil {
		return err
	}
	now := int64(0)
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := client.Delete(ctx, obj.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if obj.GetKind() != "Namespace" { // whose finalizer lets a controller delete what is in it
			_, _ = client.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
		return false, nil
	})
}

// settle waits until no controller has written to the objects for a second.
func (c *cluster) settle(ctx context.Context, s situation, objects []*unstructured.Unstructured) {
	last, quiet := "", 0
	_ = wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, 15*time.Second, true, func(ctx context.Context) (bool, error) {
		live, err := c.read(ctx, s, objects)
		var versions strings.Builder
		for _, obj := range objects {
			if got := live[label(obj.GetKind(), obj.GroupVersionKind().Group, obj.GetName())]; got != nil {
				versions.WriteString(got.GetResourceVersion() + " ")
			}
		}
		quiet++
		if versions.String() != last || err != nil {
			last, quiet = versions.String(), 0
		}
		return quiet == 2, nil
	})
}

// compare says for each object what happened between two readings.
func compare(before, after states) map[string]word {
	words := map[string]word{}
	for name, old := range before {
		now := after[name]
		switch {
		case old == nil && now != nil:
			words[name] = created
		case old != nil && now == nil:
			words[name] = deleted
		case old == nil || reflect.DeepEqual(content(old), content(now)):
			words[name] = unchanged
		default:
			words[name] = changed
		}
	}
	return words
}

// content returns an object without what the API server and controllers keep in it for themselves. The uid stays: another one is another
// object.
func content(obj *unstructured.Unstructured) map[string]any {
	copied := obj.DeepCopy().Object
	delete(copied, "status")
	for _, key := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(copied, "metadata", key)
	}
	unstructured.RemoveNestedField(copied, "metadata", "annotations", "deployment.kubernetes.io/revision")
	return copied
}

// decode reads the objects of a manifest, and those in its lists.
func decode(text string) ([]*unstructured.Unstructured, error) {
	documents, err := harness.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, obj := range documents {
		if !obj.IsList() {
			objects = append(objects, obj)
			continue
		}
		err := obj.EachListItem(func(item runtime.Object) error {
			objects = append(objects, item.(*unstructured.Unstructured))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}
