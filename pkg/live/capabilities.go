package live

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
)

// Capabilities is what charts see of the cluster as .Capabilities: the same content as Helm's own
// (helm v3.22.0 pkg/action/action.go getCapabilities), at one request instead of a second discovery. Groups that could
// not be discovered are absent, as they are for Helm, which logs a warning; Undiscovered names them.
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

// versionSet lists each served "group/version" and "group/version/Kind". Kinds of subresources are among them, such as
// apps/v1/Scale, and only groups decide about the former: GetVersionSet of the same file has it so. Helm's order
// is that of a map; sorted, a chart that prints the set renders alike each time.
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
