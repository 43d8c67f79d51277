package render

import (
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// dryRun returns what Helm's own dry run of the same upgrade or install would store.
func dryRun(t *testing.T, o ChartOptions) (*Rendered, error) {
	t.Helper()
	if o.Helm4 {
		return dryRun4(t, o)
	}
	return dryRun3(t, o)
}

func dryRun3(t *testing.T, o ChartOptions) (*Rendered, error) {
	t.Helper()
	memory := driver.NewMemory()
	memory.SetNamespace(o.Namespace)
	cfg := &action.Configuration{
		Releases:     storage.Init(memory),
		KubeClient:   &kubefake.PrintingKubeClient{Out: io.Discard, LogOutput: io.Discard},
		Capabilities: o.Capabilities,
		Log:          t.Logf,
	}
	option := "client"
	if o.Lookup != nil {
		cfg.RESTClientGetter, option = clientGetter{o.Lookup}, "server"
	}
	ch, err := loader.Load(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	values := mergedByHelm(t, o.Values)
	if o.Install {
		install := action.NewInstall(cfg)
		install.ReleaseName, install.Namespace, install.DryRun, install.DryRunOption = o.ReleaseName, o.Namespace, true, option
		return rendered3(install.Run(ch, values))
	}
	stored := &release.Release{
		Name: o.ReleaseName, Namespace: o.Namespace, Version: o.LastRevision, Config: o.Previous.Config,
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "old", Version: "0.0.1"}, Values: o.Previous.Values},
		Info:  &release.Info{Status: release.StatusDeployed},
	}
	if err := cfg.Releases.Create(stored); err != nil {
		t.Fatal(err)
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.DryRun, upgrade.DryRunOption = o.Namespace, true, option
	upgrade.ReuseValues, upgrade.SkipSchemaValidation = o.Values.Reuse == ReuseValues, o.SkipSchemaValidation
	return rendered3(upgrade.Run(o.ReleaseName, ch, values))
}

func rendered3(r *release.Release, err error) (*Rendered, error) {
	if err != nil {
		return nil, err
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

// clientGetter provides the cluster for lookups, and no other client.
type clientGetter struct{ config *rest.Config }

func (g clientGetter) ToRESTConfig() (*rest.Config, error) { return g.config, nil }
func (clientGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return nil, errors.New("no discovery in this test")
}
func (clientGetter) ToRESTMapper() (meta.RESTMapper, error) {
	return nil, errors.New("no mapper in this test")
}

// quiet discards the output of the standard loggers. Helm's libraries write to them.
func quiet(t *testing.T) {
	t.Helper()
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard)
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr)
	})
}

// chartFrom writes the files of an archive as the chart directory "web".
func chartFrom(t *testing.T, files []txtar.File) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "web")
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// chartOf is chartFrom with a Chart.yaml in front, which the text may replace.
func chartOf(t *testing.T, text string) string {
	t.Helper()
	files := txtar.Parse([]byte(text)).Files
	return chartFrom(t, append([]txtar.File{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")}}, files...))
}

// cluster answers the lookups of the tests. It has one Secret and the ServiceAccounts in namespace prod, and forbids
// ConfigMaps. asked counts the requests for objects.
func cluster(t *testing.T) (config *rest.Config, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	answers := map[string]string{
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
			{"name":"secrets","namespaced":true,"kind":"Secret","verbs":["get"]},
			{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["get"]},
			{"name":"serviceaccounts","namespaced":true,"kind":"ServiceAccount","verbs":["get","list"]}]}`,
		"/api/v1/namespaces/prod/secrets/shop": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"shop","namespace":"prod"},"data":{"password":"a2VwdA=="}}`,
		"/api/v1/namespaces/prod/serviceaccounts": `{"apiVersion":"v1","kind":"ServiceAccountList","items":[
			{"metadata":{"name":"one"}},{"metadata":{"name":"two"}}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1" {
			asked.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		if answer, found := answers[r.URL.Path]; found {
			_, _ = io.WriteString(w, answer)
			return
		}
		status, reason := http.StatusNotFound, "NotFound"
		if filepath.Base(filepath.Dir(r.URL.Path)) == "configmaps" {
			status, reason = http.StatusForbidden, "Forbidden"
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server says no","reason":"`+reason+`"}`)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}, asked
}
