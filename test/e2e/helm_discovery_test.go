package e2e

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/restmapper"
)

// helmFlags are the flags of one call of Helm. What the API server serves is in the memory that all calls share, as the calls of a command
// line share it in a folder. Writing such a folder anew after each new definition took a third of the processor time of the stories.
type helmFlags struct {
	*genericclioptions.ConfigFlags
	served *servedKinds
}

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (f helmFlags) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return f.served, nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter, as ConfigFlags does.
func (f helmFlags) ToRESTMapper() (meta.RESTMapper, error) {
	return restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(f.served), f.served, nil), nil
}

// servedKinds is the view that one call of Helm has of the shared cache.
type servedKinds struct {
	discovery.CachedDiscoveryInterface
	direct discovery.DiscoveryInterface
}

// Fresh returns false, so that a mapper that misses a kind asks the API server once more: another call may have filled the cache, and the API
// server serves a definition only a moment after it is established.
func (s *servedKinds) Fresh() bool { return false }

// OpenAPIV3 returns a client without a cache. The folder of a command line has no schemas.
func (s *servedKinds) OpenAPIV3() openapi.Client { return s.direct.OpenAPIV3() }
