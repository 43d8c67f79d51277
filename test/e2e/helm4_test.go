package e2e

import (
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/kube"
	ri "helm.sh/helm/v4/pkg/release"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/kubectl/pkg/validation"
)

// helm4 calls Helm 4, which applies server-side unless the call says otherwise, and returns the manifest of what it installed or upgraded.
func (c *Case) helm4(call helmCall) (string, error) {
	cfg := action.NewConfiguration()
	if err := cfg.Init(c.configFlags(), c.storage, c.driver()); err != nil {
		return "", err
	}
	client := cfg.KubeClient.(*kube.Client)
	client.Factory = factory4{client.Factory, &c.cluster.validated}
	switch call.verb {
	case "install":
		return c.install4(cfg, call)
	case "upgrade":
		return c.upgrade4(cfg, call)
	case "rollback":
		rollback := action.NewRollback(cfg)
		rollback.Version, rollback.Timeout, rollback.WaitStrategy = call.revision, helmTimeout, kube.HookOnlyStrategy
		rollback.ServerSideApply, rollback.ForceConflicts, rollback.ForceReplace = call.serverSide, call.forceConflicts, call.force
		rollback.DisableHooks = call.noHooks
		return "", rollback.Run(c.release)
	}
	return "", fmt.Errorf("helm4: unknown verb %q", call.verb)
}

// factory4 is Helm's factory with another validator.
type factory4 struct {
	kube.Factory
	kinds *validatedKinds
}

// Validator implements kube.Factory.
func (f factory4) Validator(directive string) (validation.Schema, error) {
	return f.kinds.validator(f.Factory, directive)
}

func (c *Case) install4(cfg *action.Configuration, call helmCall) (string, error) {
	chart, vals, renderer, err := loaded(call, loader.Load)
	if err != nil {
		return "", err
	}
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.Timeout = c.release, c.ns, helmTimeout
	install.WaitStrategy, install.ServerSideApply = kube.HookOnlyStrategy, call.serverSide != "false"
	install.ForceConflicts, install.ForceReplace = call.forceConflicts, call.force
	install.TakeOwnership, install.SkipSchemaValidation = call.takeOwnership, call.skipSchema
	install.DisableOpenAPIValidation, install.EnableDNS = call.noOpenAPI, call.enableDNS
	install.DisableHooks, install.SkipCRDs, install.CreateNamespace = call.noHooks, call.skipCRDs, call.createNamespace
	install.Replace = true // as upgrade --install does, for a name that was uninstalled
	install.PostRenderer = renderer
	return manifest4(install.Run(chart, vals))
}

func (c *Case) upgrade4(cfg *action.Configuration, call helmCall) (string, error) {
	chart, vals, renderer, err := loaded(call, loader.Load)
	if err != nil {
		return "", err
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout, upgrade.MaxHistory = c.ns, call.timeout(), 10
	upgrade.WaitStrategy, upgrade.ServerSideApply = kube.HookOnlyStrategy, call.serverSide
	if call.wait > 0 {
		upgrade.WaitStrategy = kube.StatusWatcherStrategy
	}
	upgrade.ForceConflicts, upgrade.ForceReplace = call.forceConflicts, call.force
	upgrade.TakeOwnership, upgrade.SkipSchemaValidation = call.takeOwnership, call.skipSchema
	upgrade.ReuseValues, upgrade.ResetValues, upgrade.ResetThenReuseValues = call.reuse, call.reset, call.resetToReuse
	if call.dryRun {
		upgrade.DryRunStrategy = action.DryRunServer
	}
	upgrade.DisableOpenAPIValidation, upgrade.EnableDNS = call.noOpenAPI, call.enableDNS
	upgrade.DisableHooks, upgrade.SkipCRDs = call.noHooks, call.skipCRDs
	upgrade.PostRenderer = renderer
	return manifest4(upgrade.Run(c.release, chart, vals))
}

func manifest4(r ri.Releaser, err error) (string, error) {
	if known, ok := r.(*release.Release); ok && known != nil {
		return known.Manifest, err
	}
	return "", err
}
