package e2e

import (
	"sync/atomic"

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
	// fresh is set once this call has emptied the cache.
	fresh atomic.Bool
}

// Fresh reports whether this call has asked the API server itself: a mapper that misses a kind asks again if not, as with a folder that
// another process wrote (k8s.io/client-go v0.37.1 discovery/cached/disk Fresh).
func (s *servedKinds) Fresh() bool { return s.fresh.Load() }

// Invalidate empties the cache for all calls.
func (s *servedKinds) Invalidate() {
	s.CachedDiscoveryInterface.Invalidate()
	s.fresh.Store(true)
}

// OpenAPIV3 returns a client without a cache. The folder of a command line has no schemas.
func (s *servedKinds) OpenAPIV3() openapi.Client { return s.direct.OpenAPIV3() }
