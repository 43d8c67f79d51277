package live

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/helmdrift/helmdrift/internal/order"
)

// catalog is the result of discovery: the kinds that the server serves, and the groups that could not be discovered. It is zero if
// discovery was not run.
type catalog struct {
	kinds map[schema.GroupVersionKind]resource
	// versions has the served versions of each kind, in the server's order of preference. An object whose own version is no longer served
	// can be read at one of them.
	versions map[schema.GroupKind][]string
	// failed has one error for each group that could not be discovered.
	failed map[string]error

	groups []*metav1.APIGroup
	lists  []*metav1.APIResourceList
}

// errNotKubernetes is the error for a server whose discovery lists nothing. Without it, every kind of the
// release would be reported as unknown to the cluster.
var errNotKubernetes = errors.New("it answers, but serves no Kubernetes API")

// discoverCatalog asks the server what it serves. It calls the package function and not the client's method, because
// that repeats all requests if a group fails (discovery.withRetries), and a broken API service does not recover
// within milliseconds.
func discoverCatalog(ctx context.Context, client *discovery.DiscoveryClient) (*catalog, error) {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, client)
	failures, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return nil, err
	}
	// If discovery is not aggregated, an interrupt makes each group fail.
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c := newCatalog(groups, lists, failures)
	if len(c.kinds) == 0 && len(c.failed) == 0 {
		return nil, errNotKubernetes
	}
	return c, nil
}

func newCatalog(groups []*metav1.APIGroup, lists []*metav1.APIResourceList, failures map[schema.GroupVersion]error) *catalog {
	c := &catalog{
		kinds:    map[schema.GroupVersionKind]resource{},
		versions: map[schema.GroupKind][]string{},
		failed:   map[string]error{},
		groups:   groups,
		lists:    lists,
	}
	byVersion := map[string]*metav1.APIResourceList{}
	for _, list := range lists {
		byVersion[list.GroupVersion] = list
	}
	for _, group := range groups {
		for _, version := range group.Versions {
			if list := byVersion[version.GroupVersion]; list != nil {
				c.addList(schema.GroupVersion{Group: group.Name, Version: version.Version}, list)
			}
		}
	}
	// One failure per group is enough to report. It is the first by version, so that the message is always the
	// same.
	byName := func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) }
	for _, gv := range order.Sorted(maps.Keys(failures), byName) {
		if c.failed[gv.Group] == nil {
			c.failed[gv.Group] = failures[gv]
		}
	}
	return c
}

// addList adds the kinds of one group version. The caller passes the versions in the server's order of preference.
// As in client-go's mapper (restmapper.NewDiscoveryRESTMapper), the list's group and version are used, and the
// later of two resources of one kind wins.
func (c *catalog) addList(gv schema.GroupVersion, list *metav1.APIResourceList) {
	statuses := map[string]bool{}
	for _, r := range list.APIResources {
		if name, isStatus := strings.CutSuffix(r.Name, "/status"); isStatus {
			statuses[name] = true
		}
	}
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") {
			continue // a subresource
		}
		gvk := gv.WithKind(r.Kind)
		if _, again := c.kinds[gvk]; !again {
			c.versions[gvk.GroupKind()] = append(c.versions[gvk.GroupKind()], gv.Version)
		}
		c.kinds[gvk] = resource{
			GroupVersionResource: gv.WithResource(r.Name),
			namespaced:           r.Namespaced,
			get:                  len(r.Verbs) == 0 || slices.Contains(r.Verbs, "get"),
			list:                 len(r.Verbs) == 0 || slices.Contains(r.Verbs, "list"),
			status:               statuses[r.Name],
		}
	}
}

// find looks up a kind. If it is not found and err is nil, the server does not serve it. If any version of the group
// could not be discovered, err says so, because API services of one group usually fail together.
func (c *catalog) find(gvk schema.GroupVersionKind) (r resource, found bool, err error) {
	if c.kinds == nil {
		return r, false, &groupError{gvk.Group, errors.New("discovery was not run")}
	}
	if r, found = c.kinds[gvk]; found {
		return r, true, nil
	}
	if cause := c.failed[gvk.Group]; cause != nil {
		return r, false, &groupError{gvk.Group, cause}
	}
	return r, false, nil
}
