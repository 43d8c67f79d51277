package harness

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// Objects gives access to objects of any kind, without Helm and without a limit of requests per second.
type Objects struct {
	Config *rest.Config
	Client dynamic.Interface
	Mapper *restmapper.DeferredDiscoveryRESTMapper
}

// NewObjects connects to the cluster of a kubeconfig.
func NewObjects(kubeconfig string) (Objects, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return Objects{}, fmt.Errorf("load kubeconfig: %w", err)
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return Objects{}, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return Objects{}, err
	}
	return Objects{config, client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))}, nil
}

// OfKind returns the client for objects of a kind. For cluster-scoped kinds it ignores the namespace.
func (o Objects) OfKind(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, *meta.RESTMapping, error) {
	mapping, err := o.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		o.Mapper.Reset() // the kind may be new
		mapping, err = o.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return o.Client.Resource(mapping.Resource), mapping, nil
	}
	return o.Client.Resource(mapping.Resource).Namespace(namespace), mapping, nil
}

// Decode decodes a stream of YAML documents with the decoder that Helm uses. It leaves out empty documents.
func Decode(text string) ([]*unstructured.Unstructured, error) {
	const window = 4096 // within which the decoder looks for the start of JSON
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), window); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// ReleaseName returns the name of a chart's folder or archive as the name of a release.
func ReleaseName(chart string) string {
	name := notInNames.ReplaceAllString(strings.TrimSuffix(filepath.Base(chart), ".tgz"), "-")
	return strings.Trim(name[:min(len(name), 30)], "-")
}
