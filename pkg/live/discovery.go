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

	"github.com/helmdrift/helmdrift/pkg/report"
)

// resource is a kind as discovery describes it: the path to ask at, the scope, the verbs that reading needs, and whether it has a status
// subresource.
type resource struct {
	schema.GroupVersionResource
	namespaced, get, list, status bool
}

// catalog is the result of discovery: the kinds that the server serves, and the groups that could not be discovered.
type catalog struct {
	kinds map[schema.GroupVersionKind]resource
	// versions are those at which a kind is served, in the server's order of preference.
	versions map[schema.GroupKind][]string
	// failed has one error for each group that could not be discovered.
	failed map[string]error

	groups []*metav1.APIGroup
	lists  []*metav1.APIResourceList
}

// discoverCatalog asks the server what it serves. It calls the package function and not the client's method, because
// that repeats all requests if a group fails (discovery.withRetries), and a broken API service does not recover
// within milliseconds.
func discoverCatalog(ctx context.Context, client *discovery.DiscoveryClient) (*catalog, error) {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, client)
	failures, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return nil, err
	}
	// If discovery is not aggregated, an interrupt looks like the failure of each group.
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
	// One failure per group is enough to report: the first by version, so that the message is the same each time.
	byName := func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) }
	for _, gv := range slices.SortedFunc(maps.Keys(failures), byName) {
		if c.failed[gv.Group] == nil {
			c.failed[gv.Group] = failures[gv]
		}
	}
	return c
}

// addList adds the kinds of one group version; it is called in the server's order of preference. As in client-go's
// mapper (restmapper.NewDiscoveryRESTMapper), the list's group and version are used, and the later of two resources
// of one kind wins.
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

// groupError is the discovery failure of a group: it is unknown whether its kinds are served.
type groupError struct {
	group string
	err   error
}

func (e *groupError) Error() string {
	return "discovery of group " + cmp.Or(e.group, "core") + " failed: " + oneLine(e.err.Error())
}

// find looks up a kind. If it is not found and err is nil, the server does not serve it. If any version of the group
// could not be discovered, err says so, because API services of one group usually fail together.
func (c *catalog) find(gvk schema.GroupVersionKind) (r resource, found bool, err error) {
	if c == nil {
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

// Scope reports whether objects of a kind live in a namespace. Known is false if the kind is not served or its group
// could not be discovered. The namespace in a manifest is no evidence; Helm relies on discovery too.
func (c *Cluster) Scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	r, found, _ := c.served.find(gvk)
	return r.namespaced, found
}

// versions returns the versions at which a kind is served, the server's preferred one first. They tell where to find
// an object whose own version is no longer served.
func (c *Cluster) versions(kind schema.GroupKind) []string {
	if c.served == nil {
		return nil
	}
	return slices.Clone(c.served.versions[kind])
}

// Undiscovered returns the API groups that could not be discovered, in alphabetical order. Read reports the failure
// on each object of such a group.
func (c *Cluster) Undiscovered() []string {
	if c.served == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.served.failed))
}

// Incomplete returns one message about the given groups, which could not be discovered, or nil if there are none. A
// chart can ask for the served versions while it is rendered, so their failure matters even if the release has no
// object of the group.
func (c *Cluster) Incomplete(groups []string) []report.Message {
	if len(groups) == 0 {
		return nil
	}
	text := (&groupError{groups[0], c.served.failed[groups[0]]}).Error()
	if len(groups) > 1 {
		text += "; discovery of " + strings.Join(groups[1:], ", ") + " failed too"
	}
	text += "; the chart was rendered as if the server did not serve them, as helm renders it"
	return []report.Message{{Code: CodeDiscovery, Message: text}}
}
