package live

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// CRDs reads the CustomResourceDefinitions of custom kinds, with one get each. A kind is missing from the result if
// it is not served or has no definition, because it is built in or comes from an aggregated API server. A definition
// that cannot be read causes a warning: its objects are then compared without a schema.
func (c *Cluster) CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	found := map[schema.GroupKind]map[string]any{}
	var warnings []report.Message
	for _, d := range c.definitions(ctx, kinds) {
		switch {
		case d.err == nil:
			found[d.kind] = d.object.Object
		case !isObjectNotFound(d.err):
			warnings = append(warnings, warning(d.kind.String(), "get", d.resourceName(), d.err, "its objects are compared without a schema"))
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

func (d definition) resourceName() string {
	return fmt.Sprintf("customresourcedefinitions.apiextensions.k8s.io %q", d.name)
}

// definitions reads the definitions of the kinds that are served, each once.
func (c *Cluster) definitions(ctx context.Context, kinds []schema.GroupKind) []definition {
	var wanted []definition
	for _, kind := range kinds {
		versions := c.served.versions[kind]
		if len(versions) == 0 || slices.ContainsFunc(wanted, func(d definition) bool { return d.kind == kind }) {
			continue
		}
		r := c.served.kinds[kind.WithVersion(versions[0])]
		wanted = append(wanted, definition{kind: kind, name: r.Resource + "." + r.Group})
	}
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	return inParallel(wanted, func(d definition) (read definition) {
		read = d
		defer RecoverError(&read.err)
		read.object, read.err = c.dynamic.Resource(resource).Get(ctx, d.name, metav1.GetOptions{})
		return read
	})
}

// OpenAPI reads the OpenAPI v3 documents of group versions, with one get each. A document that cannot be read causes
// a warning.
func (c *Cluster) OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	type result struct {
		text []byte
		err  error
	}
	results := inParallel(wanted, func(gv schema.GroupVersion) (r result) {
		defer RecoverError(&r.err)
		r.text, r.err = c.openAPIDocument(ctx, gv)
		return r
	})
	found := map[schema.GroupVersion][]byte{}
	var warnings []report.Message
	for i, r := range results {
		if r.err != nil {
			noun := fmt.Sprintf("the OpenAPI document of %s", wanted[i])
			warnings = append(warnings, warning("", "get", noun, r.err, "verdicts on its objects are not certain"))
			continue
		}
		found[wanted[i]] = r.text
	}
	return found, warnings
}

// openAPIDocument reads one document. The server publishes it shortly after it has begun to serve a new kind, so a
// missing document is asked for again before it counts as missing.
func (c *Cluster) openAPIDocument(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	path := "/openapi/v3/apis/" + gv.String()
	if gv.Group == "" {
		path = "/openapi/v3/api/" + gv.Version
	}
	for attempt := 0; ; attempt++ {
		text, err := c.discover.RESTClient().Get().AbsPath(path).
			SetHeader("Accept", "application/json").Do(ctx).Raw()
		if !apierrors.IsNotFound(err) || attempt == 3 || retry.Sleep(ctx, firstPause<<attempt) != nil {
			return text, err
		}
	}
}
