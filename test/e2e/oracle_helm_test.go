package e2e

import (
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/kube"
)

// route is which Helms a story takes, and how they write.
type route struct {
	name string
	// installs and goes tell the Helm that deploys before the edits, and the one that is predicted.
	installs4, goes4 bool
	// install are further arguments of the installation.
	install []string
	// serverSide and force are Helm 4's --server-side and --force-conflicts, for what is predicted.
	serverSide string
	force      bool
}

// routes are those of one engine; the first is the one of most stories.
func routes(by4 bool) []route {
	if !by4 {
		return []route{
			{name: "helm 3"},
			{name: "helm 4 client-side", installs4: true, goes4: true, install: []string{"--client-side"}, serverSide: "auto"},
			{name: "helm 3 after helm 4", installs4: true},
		}
	}
	return []route{
		{name: "helm 4", installs4: true, goes4: true, serverSide: "auto"},
		{name: "helm 4 --force-conflicts", installs4: true, goes4: true, serverSide: "auto", force: true},
		{name: "helm 4 --server-side after helm 3", goes4: true, serverSide: "true"},
	}
}

// flags are helmdrift's words for the route.
func (r route) flags() []string {
	out := []string{"--helm-version", "3"}
	if r.goes4 {
		out = []string{"--helm-version", "4", "--server-side", r.serverSide}
	}
	if r.force {
		out = append(out, "--force-conflicts")
	}
	return out
}

// words are the flags that a story's helm4 needs for the route.
func (r route) words() string {
	out := ""
	if r.goes4 && r.serverSide != "auto" {
		out += " --server-side=" + r.serverSide
	}
	if r.force {
		out += " --force-conflicts"
	}
	return out
}

// goes lets the predicted Helm upgrade to a chart, or roll back to revision 1.
func (r route) goes(c *Case, rollback bool) error {
	switch {
	case rollback && r.goes4:
		return r.rollback4(c)
	case rollback:
		return c.helm(false, "rollback", "1")
	case r.goes4:
		return r.upgrade4(c)
	}
	return c.helm(false, "upgrade", "new.yaml")
}

func (r route) rollback4(c *Case) error {
	cfg := action.NewConfiguration()
	if err := cfg.Init(c.configFlags(), c.storage, c.driver()); err != nil {
		return err
	}
	rollback := action.NewRollback(cfg)
	rollback.Version, rollback.Timeout, rollback.WaitStrategy = 1, helmTimeout, kube.HookOnlyStrategy
	rollback.ServerSideApply, rollback.ForceConflicts = r.serverSide, r.force
	return rollback.Run(c.release)
}

func (r route) upgrade4(c *Case) error {
	cfg := action.NewConfiguration()
	if err := cfg.Init(c.configFlags(), c.storage, c.driver()); err != nil {
		return err
	}
	path, err := c.chart("new.yaml")
	if err != nil {
		return err
	}
	chart, err := loader.Load(path)
	if err != nil {
		return err
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout, upgrade.WaitStrategy = c.ns, helmTimeout, kube.HookOnlyStrategy
	upgrade.ServerSideApply, upgrade.ForceConflicts = r.serverSide, r.force
	_, err = upgrade.Run(c.release, chart, map[string]any{})
	return err
}
