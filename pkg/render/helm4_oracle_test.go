package render

import (
	"errors"
	"io"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	kubefake "helm.sh/helm/v4/pkg/kube/fake"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
)

func dryRun4(t *testing.T, o ChartOptions) (*Rendered, error) {
	t.Helper()
	memory := driver.NewMemory()
	memory.SetNamespace(o.Namespace)
	cfg := action.NewConfiguration()
	cfg.Releases = storage.Init(memory)
	cfg.KubeClient = &kubefake.PrintingKubeClient{Out: io.Discard, LogOutput: io.Discard}
	cfg.Capabilities = o.helm4Capabilities()
	strategy := action.DryRunClient
	if o.Lookup != nil {
		cfg.RESTClientGetter, strategy = clientGetter{o.Lookup}, action.DryRunServer
	}
	ch, err := loader.Load(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	values := mergedByHelm(t, o.Values)
	if o.Install {
		install := action.NewInstall(cfg)
		install.ReleaseName, install.Namespace, install.WaitStrategy = o.ReleaseName, o.Namespace, kube.HookOnlyStrategy
		install.DryRunStrategy = action.DryRunServer // DryRunClient would invent capabilities
		return rendered4(install.Run(ch, values))
	}
	stored := &release.Release{
		Name: o.ReleaseName, Namespace: o.Namespace, Version: o.LastRevision, Config: o.Previous.Config,
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "old", Version: "0.0.1"}, Values: o.Previous.Values},
		Info:  &release.Info{Status: rcommon.StatusDeployed},
	}
	if err := cfg.Releases.Create(stored); err != nil {
		t.Fatal(err)
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.DryRunStrategy, upgrade.WaitStrategy = o.Namespace, strategy, kube.HookOnlyStrategy
	upgrade.ReuseValues, upgrade.SkipSchemaValidation = o.Values.Reuse == ReuseValues, o.SkipSchemaValidation
	return rendered4(upgrade.Run(o.ReleaseName, ch, values))
}

func rendered4(releaser any, err error) (*Rendered, error) {
	if err != nil {
		return nil, err
	}
	r, ok := releaser.(*release.Release)
	if !ok {
		return nil, errors.New("helm 4 returned another type of release")
	}
	rendered := &Rendered{Manifest: r.Manifest}
	for _, h := range r.Hooks {
		rendered.Hooks = append(rendered.Hooks, Hook{
			Kind: h.Kind, Name: h.Name, Path: h.Path, Weight: h.Weight,
			Events: stringsOf(h.Events), DeletePolicies: stringsOf(h.DeletePolicies), Text: h.Manifest,
		})
	}
	return rendered, nil
}
