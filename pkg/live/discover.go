package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// resource is how a kind is asked for.
type resource struct {
	schema.GroupVersionResource
	namespaced, get, list bool
}

// catalog is what discovery brought: the kinds that are served, and the groups of which that is not known.
type catalog struct {
	kinds    map[schema.GroupVersionKind]resource
	versions map[schema.GroupKind][]string
	failed   map[string]error

	groups []*metav1.APIGroup
	lists  []*metav1.APIResourceList
}

// discoverCatalog asks the server what it serves. The package function is called and not the client's method, which
// repeats everything when a group fails (discovery.withRetries): a dead API service is not cured within milliseconds.
func discoverCatalog(ctx context.Context, client *discovery.DiscoveryClient) (*catalog, error) {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, client)
	failures, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return nil, err
	}
	// Where discovery is not aggregated, an interrupt looks like the failure of each group.
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
	// One failure per group is enough to tell; the first by version, so that the message is the same each time.
	byName := func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) }
	for _, gv := range slices.SortedFunc(maps.Keys(failures), byName) {
		if c.failed[gv.Group] == nil {
			c.failed[gv.Group] = failures[gv]
		}
	}
	return c
}

// addList files the kinds of one group version; it is called in the server's order of preference. As in client-go's mapper
// (restmapper.NewDiscoveryRESTMapper) the list's group and version hold, and of two resources of one kind the later.
func (c *catalog) addList(gv schema.GroupVersion, list *metav1.APIResourceList) {
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
		}
	}
}

// groupError says that nothing can be said about the kinds of a group.
type groupError struct {
	group string
	err   error
}

func (e *groupError) Error() string {
	return "discovery of group " + cmp.Or(e.group, "core") + " failed: " + oneLine(e.err.Error())
}

// find looks up a kind. Not found without an error means that the server does not serve it. As long as any version of
// the group could not be discovered, that is not known: API services of one group usually fall together.
func (c *catalog) find(gvk schema.GroupVersionKind) (r resource, found bool, err error) {
	if c == nil {
		return r, false, &groupError{gvk.Group, fmt.Errorf("the server was not asked")}
	}
	if r, found = c.kinds[gvk]; found {
		return r, true, nil
	}
	if cause := c.failed[gvk.Group]; cause != nil {
		return r, false, &groupError{gvk.Group, cause}
	}
	return r, false, nil
}

// Scope tells whether objects of a kind live in a namespace; known is false where the kind is not served or its group
// could not be discovered. What a manifest says about the namespace is no evidence: Helm goes by discovery too.
func (c *Cluster) Scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	r, found, _ := c.served.find(gvk)
	return r.namespaced, found
}

// Versions lists the versions at which a kind is served, the server's preferred one first. It answers the question
// under which version an object lives on whose own version is no longer served.
func (c *Cluster) Versions(kind schema.GroupKind) []string {
	if c.served == nil {
		return nil
	}
	return slices.Clone(c.served.versions[kind])
}

// Undiscovered lists the API groups that could not be discovered, in alphabetical order. Read reports that on each object concerned.
func (c *Cluster) Undiscovered() []string {
	if c.served == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.served.failed))
}

// Incomplete returns one message about groups that could not be discovered, and none where there are none. They matter by themselves to
// charts, which ask for served versions while they are rendered.
func (c *Cluster) Incomplete(groups []string) []report.Message {
	if len(groups) == 0 {
		return nil
	}
	text := (&groupError{groups[0], c.served.failed[groups[0]]}).Error()
	if more := len(groups) - 1; more > 0 {
		text = fmt.Sprintf("%s; and of %s", text, strings.Join(groups[1:], ", "))
	}
	text += "; the chart was rendered as if the server did not serve them, as helm does"
	return []report.Message{{Code: CodeDiscovery, Message: text}}
}
