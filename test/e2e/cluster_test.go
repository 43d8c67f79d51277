package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// waitTimeout limits every wait for a controller and every run of the binary. It is long, because the machine may be busy: a wait that
// ends without a result fails the test.
const waitTimeout = 5 * time.Minute

// cluster gives tests administrator access to an API server, without Helm.
type cluster struct {
	harness.Objects
	kubeconfig string
	validated  validatedKinds
}

func newCluster(kubeconfig string) (*cluster, error) {
	objects, err := harness.NewObjects(kubeconfig)
	if err != nil {
		return nil, err
	}
	return &cluster{Objects: objects, kubeconfig: kubeconfig}, nil
}

// ref names an object as stories write it: kind/name, such as deployment/web. The kind may be qualified (things.ex.com/demo), and the name
// may have a namespace (configmap/other=web).
type ref struct {
	resource, namespace, name string
}

func parseRef(text, namespace string) (ref, error) {
	resource, name, ok := strings.Cut(text, "/")
	if !ok || name == "" {
		return ref{}, fmt.Errorf("%q is not kind/name", text)
	}
	if other, rest, ok := strings.Cut(name, "="); ok {
		namespace, name = other, rest
	}
	return ref{resource: resource, namespace: namespace, name: name}, nil
}

// clientFor returns the client for a ref. For cluster-scoped kinds it ignores the namespace.
func (c *cluster) clientFor(r ref) (dynamic.ResourceInterface, *meta.RESTMapping, error) {
	gvr, gr := schema.ParseResourceArg(r.resource)
	kind, err := c.kindOf(gr, gvr)
	if meta.IsNoMatchError(err) {
		c.Mapper.Reset() // the kind may be new
		kind, err = c.kindOf(gr, gvr)
	}
	if err != nil {
		return nil, nil, err
	}
	return c.OfKind(kind, r.namespace)
}

// kindOf returns the kind of a resource that is written as things, things.ex.com or things.v1.ex.com.
func (c *cluster) kindOf(plain schema.GroupResource, versioned *schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	kind, err := c.Mapper.KindFor(plain.WithVersion(""))
	if err != nil && versioned != nil {
		return c.Mapper.KindFor(*versioned)
	}
	return kind, err
}

func (c *cluster) get(ctx context.Context, r ref) (*unstructured.Unstructured, error) {
	client, _, err := c.clientFor(r)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, r.name, metav1.GetOptions{})
}

// create creates the objects of a YAML stream as the given field manager.
func (c *cluster) create(ctx context.Context, text, namespace, manager string) error {
	return c.eachObject(text, namespace, func(client dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
		_, err := client.Create(ctx, obj, metav1.CreateOptions{FieldManager: manager})
		return err
	})
}

// eachObject calls do for every object of a YAML stream until it fails.
func (c *cluster) eachObject(text, namespace string, do func(dynamic.ResourceInterface, *unstructured.Unstructured) error) error {
	objects, err := decodeObjects(text)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		client, _, err := c.OfKind(obj.GroupVersionKind(), orElse(obj.GetNamespace(), namespace))
		if err != nil {
			return err
		}
		if err := do(client, obj); err != nil {
			return err
		}
	}
	return nil
}

// patch edits an object as the given field manager. The body is YAML. A list is a JSON patch; a map is a strategic merge patch for native
// kinds and a merge patch for others.
func (c *cluster) patch(ctx context.Context, r ref, manager, body string, subresources ...string) error {
	client, mapping, err := c.clientFor(r)
	if err != nil {
		return err
	}
	text, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		return err
	}
	kind := types.StrategicMergePatchType
	switch {
	case text[0] == '[':
		kind = types.JSONPatchType
	case !scheme.Scheme.Recognizes(mapping.GroupVersionKind) || len(subresources) > 0:
		kind = types.MergePatchType
	}
	_, err = client.Patch(ctx, r.name, kind, text, metav1.PatchOptions{FieldManager: manager}, subresources...)
	return err
}

// kubectlApply does what kubectl apply does with each object of a YAML stream: it creates or patches the object and stores the text in the
// annotation.
func (c *cluster) kubectlApply(ctx context.Context, text, namespace, manager string) error {
	return c.eachObject(text, namespace, func(client dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
		if err := setLastApplied(obj); err != nil {
			return err
		}
		_, err := client.Create(ctx, obj, metav1.CreateOptions{FieldManager: manager})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		body, err := json.Marshal(obj)
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, obj.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager})
		return err
	})
}

func setLastApplied(obj *unstructured.Unstructured) error {
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[lastApplied] = string(text) + "\n"
	obj.SetAnnotations(annotations)
	return nil
}

func (c *cluster) delete(ctx context.Context, r ref) error {
	client, _, err := c.clientFor(r)
	if err != nil {
		return err
	}
	policy := metav1.DeletePropagationBackground
	return client.Delete(ctx, r.name, metav1.DeleteOptions{PropagationPolicy: &policy})
}

// poll calls done until it reports true, fails, or waitTimeout is over.
func poll(ctx context.Context, what string, done func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, waitTimeout, true, func(context.Context) (bool, error) { return done() })
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}

// waitFor waits until check reports true for an object.
func (c *cluster) waitFor(ctx context.Context, r ref, what string, check func(*unstructured.Unstructured) bool) error {
	var last error
	err := poll(ctx, what+" of "+r.resource+"/"+r.name, func() (bool, error) {
		var obj *unstructured.Unstructured
		obj, last = c.get(ctx, r)
		return last == nil && check(obj), nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("%w (last: %w)", err, last)
	}
	return err
}

// waitUntilGone waits until an object no longer exists.
func (c *cluster) waitUntilGone(ctx context.Context, r ref) error {
	return poll(ctx, "the deletion of "+r.resource+"/"+r.name, func() (bool, error) {
		_, err := c.get(ctx, r)
		return apierrors.IsNotFound(err), nil
	})
}

// waitUntilServed waits until discovery offers a resource of a version of a group. A definition may be established before that.
func (c *cluster) waitUntilServed(ctx context.Context, version, resource string) error {
	served, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	return poll(ctx, resource+" of "+version+" to be served", func() (bool, error) {
		list, err := served.ServerResourcesForGroupVersion(version)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }), err
	})
}

// waitUntilDefined waits until the kind of a definition is served in all its versions.
func (c *cluster) waitUntilDefined(ctx context.Context, name string) error {
	r := ref{resource: "customresourcedefinition", name: name}
	if err := c.waitFor(ctx, r, "Established", isEstablished); err != nil {
		return err
	}
	definition, err := c.get(ctx, r)
	if err != nil {
		return err
	}
	plural, group, _ := strings.Cut(name, ".")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		if version, _ := v.(map[string]any); version["served"] == true {
			if err := c.waitUntilServed(ctx, fmt.Sprintf("%s/%s", group, version["name"]), plural); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitUntilUnserved waits until discovery no longer offers a version of a group.
func (c *cluster) waitUntilUnserved(ctx context.Context, version string) error {
	served, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	return poll(ctx, version+" to be no longer served", func() (bool, error) {
		groups, err := served.ServerGroups()
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(groups.Groups, func(group metav1.APIGroup) bool {
			return slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.GroupVersion == version })
		}), nil
	})
}

// installCRDs installs the custom kinds that stories use.
func (c *cluster) installCRDs(ctx context.Context) error {
	files, err := filepath.Glob("testdata/crds/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := c.create(ctx, string(text), "", "kubectl-create"); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := c.waitUntilDefined(ctx, strings.TrimSuffix(filepath.Base(file), ".yaml")); err != nil {
			return err
		}
	}
	c.Mapper.Reset()
	return nil
}

func isEstablished(crd *unstructured.Unstructured) bool {
	return hasCondition(crd, "Established", "True")
}

func hasCondition(obj *unstructured.Unstructured, name, status string) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == name && condition["status"] == status
	})
}

// decodeObjects parses a YAML stream. Integers stay exact.
func decodeObjects(text string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, doc := range strings.Split("\n"+text, "\n---") {
		body, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, err
		}
		if string(body) == "null" {
			continue
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(body); err != nil {
			return nil, err
		}
		out = append(out, obj)
	}
	return out, nil
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
