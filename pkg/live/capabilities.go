package live

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
)

// Capabilities returns what charts see of the cluster as .Capabilities: the same content as Helm's own (helm v3.22.0
// pkg/action/action.go getCapabilities), for one request instead of a second discovery. Groups that could not be
// discovered are missing, as they are for Helm, which logs a warning; Undiscovered names them.
func (c *Cluster) Capabilities(ctx context.Context) (*chartutil.Capabilities, error) {
	if c.served == nil {
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
