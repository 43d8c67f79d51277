package e2e

import (
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/kube"
)

// helm4 calls Helm 4, which applies server-side unless told otherwise.
func (c *Case) helm4(call helmCall) error {
	cfg := action.NewConfiguration()
	if err := cfg.Init(c.configFlags(), c.storage, c.driver()); err != nil {
		return err
	}
	switch call.verb {
	case "install", "upgrade":
	case "rollback":
		rollback := action.NewRollback(cfg)
		rollback.Version, rollback.Timeout, rollback.WaitStrategy = call.revision, helmTimeout, kube.HookOnlyStrategy
		return rollback.Run(c.release)
	default:
		return fmt.Errorf("helm4: unknown verb %q", call.verb)
	}
	if call.postRender {
		return errors.New("helm4: post-renderers are plugins there")
	}
	chart, err := loader.Load(call.chart)
	if err != nil {
		return err
	}
	vals, err := call.merged()
	if err != nil {
		return err
	}
	if call.verb == "install" {
		install := action.NewInstall(cfg)
		install.ReleaseName, install.Namespace, install.Timeout = c.release, c.ns, helmTimeout
		install.WaitStrategy, install.ServerSideApply = kube.HookOnlyStrategy, !call.clientSide
		_, err = install.Run(chart, vals)
		return err
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout, upgrade.MaxHistory = c.ns, helmTimeout, 10
	upgrade.WaitStrategy, upgrade.ServerSideApply = kube.HookOnlyStrategy, "auto"
	_, err = upgrade.Run(c.release, chart, vals)
	return err
}
