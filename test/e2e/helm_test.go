package e2e

import (
	"fmt"
	"sync"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubectl/pkg/validation"
)

// helmTimeout limits one call of Helm; no call waits for pods.
const helmTimeout = waitTimeout

// helmGetter is what Helm's command line makes of its flags, but what the API server serves is kept in memory, not in files. Helm asks the
// server anew for each chart, and writing the answers to files took a quarter of the processor time of this process.
type helmGetter struct {
	*genericclioptions.ConfigFlags
	served func() (discovery.CachedDiscoveryInterface, error)
	mapper func() (meta.RESTMapper, error)
}

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (f helmGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return f.served()
}

// ToRESTMapper implements genericclioptions.RESTClientGetter.
func (f helmGetter) ToRESTMapper() (meta.RESTMapper, error) { return f.mapper() }

// configFlags returns the flags for one call of Helm.
func (c *Case) configFlags() helmGetter {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig, flags.Namespace = &c.cluster.kubeconfig, &c.ns
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1
		return config
	}
	served := sync.OnceValues(func() (discovery.CachedDiscoveryInterface, error) {
		config, err := flags.ToRESTConfig()
		if err != nil {
			return nil, err
		}
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			return nil, err
		}
		return memory.NewMemCacheClient(client), nil
	})
	return helmGetter{flags, served, sync.OnceValues(func() (meta.RESTMapper, error) {
		client, err := served()
		if err != nil {
			return nil, err
		}
		return restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client, nil), nil
	})}
}

// config3 returns the configuration of Helm 3's actions.
func (c *Case) config3() (*action.Configuration, error) {
	cfg := &action.Configuration{}
	if err := cfg.Init(c.configFlags(), c.storage, c.driver(), func(string, ...any) {}); err != nil {
		return nil, err
	}
	client := cfg.KubeClient.(*kube.Client)
	client.Factory = factory3{client.Factory, &c.cluster.validated}
	return cfg, nil
}

// factory3 is Helm's factory with another validator.
type factory3 struct {
	kube.Factory
	kinds *validatedKinds
}

// Validator implements kube.Factory.
func (f factory3) Validator(directive string) (validation.Schema, error) {
	return f.kinds.validator(f.Factory, directive)
}

// helm3 calls Helm 3 and returns the manifest of what it installed or upgraded.
func (c *Case) helm3(call helmCall) (string, error) {
	cfg, err := c.config3()
	if err != nil {
		return "", err
	}
	switch call.verb {
	case "install":
		return c.install3(cfg, call)
	case "upgrade":
		return c.upgrade3(cfg, call)
	case "rollback":
		rollback := action.NewRollback(cfg)
		rollback.Version, rollback.Timeout, rollback.Force = call.revision, helmTimeout, call.force
		rollback.DisableHooks = call.noHooks
		return "", rollback.Run(c.release)
	case "uninstall":
		uninstall := action.NewUninstall(cfg)
		uninstall.KeepHistory, uninstall.Timeout = true, helmTimeout
		_, err := uninstall.Run(c.release)
		return "", err
	}
	return "", fmt.Errorf("helm: unknown verb %q", call.verb)
}

func (c *Case) install3(cfg *action.Configuration, call helmCall) (string, error) {
	chart, vals, renderer, err := loaded(call, loader.Load)
	if err != nil {
		return "", err
	}
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.Timeout = c.release, c.ns, helmTimeout
	install.TakeOwnership, install.Force, install.SkipSchemaValidation = call.takeOwnership, call.force, call.skipSchema
	install.DisableOpenAPIValidation, install.EnableDNS = call.noOpenAPI, call.enableDNS
	install.DisableHooks, install.SkipCRDs, install.CreateNamespace = call.noHooks, call.skipCRDs, call.createNamespace
	install.Replace = true // as upgrade --install does, for a name that was uninstalled
	install.PostRenderer = renderer
	return manifest3(install.Run(chart, vals))
}

func (c *Case) upgrade3(cfg *action.Configuration, call helmCall) (string, error) {
	chart, vals, renderer, err := loaded(call, loader.Load)
	if err != nil {
		return "", err
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout, upgrade.MaxHistory, upgrade.Wait = c.ns, call.timeout(), 10, call.wait > 0
	upgrade.TakeOwnership, upgrade.Force, upgrade.SkipSchemaValidation = call.takeOwnership, call.force, call.skipSchema
	upgrade.ReuseValues, upgrade.ResetValues, upgrade.ResetThenReuseValues = call.reuse, call.reset, call.resetToReuse
	if call.dryRun {
		upgrade.DryRunOption = "server"
	}
	upgrade.DisableOpenAPIValidation, upgrade.EnableDNS = call.noOpenAPI, call.enableDNS
	upgrade.DisableHooks, upgrade.SkipCRDs = call.noHooks, call.skipCRDs
	upgrade.PostRenderer = renderer
	return manifest3(upgrade.Run(c.release, chart, vals))
}

func manifest3(r *release.Release, err error) (string, error) {
	if r == nil {
		return "", err
	}
	return r.Manifest, err
}

// manifest does what helm get manifest does.
func (c *Case) manifest() (string, error) {
	cfg, err := c.config3()
	if err != nil {
		return "", err
	}
	return manifest3(action.NewGet(cfg).Run(c.release))
}

// forge changes the last record in a way, or at a time, that Helm would not.
func (c *Case) forge(change func(*release.Release)) error {
	cfg, err := c.config3()
	if err != nil {
		return err
	}
	last, err := cfg.Releases.Last(c.release)
	if err != nil {
		return err
	}
	change(last)
	return cfg.Releases.Update(last)
}
