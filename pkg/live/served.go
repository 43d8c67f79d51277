package live

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Capabilities returns what charts see of the cluster as .Capabilities: the same content as Helm's own (helm v3.22.0
// pkg/action/action.go getCapabilities), for one request instead of a second discovery. Groups that could not be
// discovered are missing, as they are for Helm, which logs a warning; Undiscovered names them.
func (c *Cluster) Capabilities(ctx context.Context) (*chartutil.Capabilities, error) {
	if c.served.kinds == nil {
		return nil, fmt.Errorf("read capabilities of %s: the server was not asked for what it serves", c.server)
	}
	version, err := c.discover.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("read version of %s: %w", c.server, err)
	}
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
		APIVersions: c.served.versionSet(),
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}

// versionSet lists each served "group/version" and "group/version/Kind". As in Helm's GetVersionSet (the same file),
// every discovered version counts for the first form, and the kinds of subresources, such as apps/v1/Scale, count for
// the second. Helm lists them in the random order of a map; here they are sorted, so that a chart that prints the set
// renders the same text each time.
func (c *catalog) versionSet() chartutil.VersionSet {
	set := map[string]bool{}
	for _, group := range c.groups {
		for _, version := range group.Versions {
			set[version.GroupVersion] = true
		}
	}
	for _, list := range c.lists {
		for _, r := range list.APIResources {
			set[path.Join(list.GroupVersion, r.Kind)] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Scope reports whether objects of a kind live in a namespace. Known is false if the kind is not served or its group
// could not be discovered. A namespace in the manifest proves nothing about the kind. Helm relies on discovery too.
func (c *Cluster) Scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	r, found, _ := c.served.find(gvk)
	return r.namespaced, found
}

// Undiscovered returns the API groups that could not be discovered, in alphabetical order. Read reports the failure
// on each object of such a group.
func (c *Cluster) Undiscovered() []string {
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
	return []report.Message{{Code: cluster.CodeDiscovery, Message: text}}
}
