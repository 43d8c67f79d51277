package harness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
