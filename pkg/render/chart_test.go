package render

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
)

const webChart = "testdata/charts/web"

// capabilities of a cluster that serves apps/v1 unless other versions are given.
func capabilities(apiVersions ...string) *chartutil.Capabilities {
	if apiVersions == nil {
		apiVersions = []string{"v1", "apps/v1"}
	}
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"},
		APIVersions: apiVersions,
	}
}

func webOptions(change func(*ChartOptions)) ChartOptions {
	o := ChartOptions{
		Path: webChart, ReleaseName: "shop", Namespace: "prod", LastRevision: 7,
		Config:       map[string]any{"replicas": 5.0, "million": 1000000.0},
		Capabilities: capabilities(),
	}
	if change != nil {
		change(&o)
	}
	return o
}

func valuesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestChartAsHelmUpgrade holds Chart against Helm's own dry run, byte for byte.
func TestChartAsHelmUpgrade(t *testing.T) {
	quiet(t)
	packaged := packageChart(t, webChart)
	first := valuesFile(t, "nested: {drop: null, more: {a: 1, b: 2}}\nlist: [x]\nmillion: 2000000\n")
	second := valuesFile(t, "nested: {more: {b: 3}}\nreplicas: 4\n")
	tests := map[string]func(*ChartOptions){
		"values of the record": nil,
		"packaged chart":       func(o *ChartOptions) { o.Path = packaged },
		"no values at all":     func(o *ChartOptions) { o.Config = nil },
		"one file":             func(o *ChartOptions) { o.Values.Files = []string{first} },
		"two files":            func(o *ChartOptions) { o.Values.Files = []string{first, second} },
		"empty file":           func(o *ChartOptions) { o.Values.Files = []string{valuesFile(t, "# nothing\n")} },
		"set":                  func(o *ChartOptions) { o.Values.Set = []string{"replicas=9,list={p,q}", "nested.drop=null"} },
		"set over file": func(o *ChartOptions) {
			o.Values = ValueOptions{Files: []string{second}, Set: []string{"replicas=1", "list[1]=z"}}
		},
		"subchart off":        func(o *ChartOptions) { o.Values.Set = []string{"cache.enabled=false"} },
		"tag off":             func(o *ChartOptions) { o.Values.Set = []string{"tags.background=false"} },
		"other api versions":  func(o *ChartOptions) { o.Capabilities = capabilities("v1") },
		"values of subcharts": func(o *ChartOptions) { o.Values.Set = []string{"cache.size=1,cache.exported.port=11"} },
		"library chart":       func(o *ChartOptions) { o.Path = "testdata/charts/lib" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			o := webOptions(change)
			want := helmUpgrade(t, o)
			got, err := Chart(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Manifest, got.Manifest); diff != "" {
				t.Errorf("manifest (-helm +got):\n%s", diff)
			}
			var hooks []Hook
			for _, h := range want.Hooks {
				hooks = append(hooks, Hook{Kind: h.Kind, Name: h.Name, Path: h.Path})
			}
			if diff := cmp.Diff(hooks, got.Hooks); diff != "" {
				t.Errorf("hooks (-helm +got):\n%s", diff)
			}
		})
	}
}

// helmUpgrade is what Helm's own dry run of the same upgrade would store.
func helmUpgrade(t *testing.T, o ChartOptions) *release.Release {
	t.Helper()
	upgrade, vals, ch := prepareHelm(t, o)
	r, err := upgrade.Run(o.ReleaseName, ch, vals)
	if err != nil {
		t.Fatalf("helm: %v", err)
	}
	return r
}

func prepareHelm(t *testing.T, o ChartOptions) (*action.Upgrade, map[string]any, *chart.Chart) {
	t.Helper()
	memory := driver.NewMemory()
	memory.SetNamespace(o.Namespace)
	cfg := &action.Configuration{
		Releases:     storage.Init(memory),
		KubeClient:   &kubefake.PrintingKubeClient{Out: io.Discard, LogOutput: io.Discard},
		Capabilities: o.Capabilities,
		Log:          t.Logf,
	}
	stored := &release.Release{
		Name: o.ReleaseName, Namespace: o.Namespace, Version: o.LastRevision, Config: o.Config,
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "old", Version: "0.0.1"}},
		Info:  &release.Info{Status: release.StatusDeployed},
	}
	if err := cfg.Releases.Create(stored); err != nil {
		t.Fatal(err)
	}
	given := values.Options{ValueFiles: o.Values.Files, Values: o.Values.Set}
	vals, err := given.MergeValues(getter.Providers{})
	if err != nil {
		t.Fatal(err)
	}
	ch, err := loader.Load(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace = o.Namespace
	upgrade.DryRun, upgrade.DryRunOption = true, "client"
	return upgrade, vals, ch
}

func packageChart(t *testing.T, dir string) string {
	t.Helper()
	ch, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err := chartutil.Save(ch, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// quiet does what a caller of this package must: Helm's libraries write to the standard logger.
func quiet(t *testing.T) {
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
}

// TestChartErrorsAsHelm compares the failures that Helm words itself.
func TestChartErrorsAsHelm(t *testing.T) {
	quiet(t)
	tests := map[string]func(*ChartOptions){
		"kubeVersion":   func(o *ChartOptions) { o.Capabilities.KubeVersion.Version = "v1.19.0" },
		"values schema": func(o *ChartOptions) { o.Values.Set = []string{"replicas=many"} },
		"failing chart": func(o *ChartOptions) { o.Values.Set = []string{"failure=told so"} },
		"template error": func(o *ChartOptions) {
			o.Values.Files = []string{valuesFile(t, "motto: '{{ .Values.motto.deep }}'")}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			o := webOptions(change)
			upgrade, vals, ch := prepareHelm(t, o)
			_, want := upgrade.Run(o.ReleaseName, ch, vals)
			_, got := Chart(context.Background(), o)
			if want == nil || got == nil {
				t.Fatalf("helm: %v, got: %v", want, got)
			}
			if !strings.HasSuffix(got.Error(), want.Error()) {
				t.Errorf("got  %v\nhelm %v", got, want)
			}
		})
	}
}

func TestChartErrors(t *testing.T) {
	quiet(t)
	tests := []struct {
		name   string
		change func(*ChartOptions)
		want   []string
	}{
		{"no such chart", func(o *ChartOptions) { o.Path = "bitnami/nginx" }, []string{"bitnami/nginx", "helm pull"}},
		{"not a chart", func(o *ChartOptions) { o.Path = "testdata" }, []string{"Chart.yaml file is missing"}},
		{"not an archive", func(o *ChartOptions) { o.Path = "chart_test.go" }, []string{"chart_test.go", "archive"}},
		{"missing dependency", func(o *ChartOptions) { o.Path = "testdata/charts/umbrella" },
			[]string{"found in Chart.yaml, but missing in charts/ directory: redis", "helm dependency build testdata/charts/umbrella"}},
		{"no capabilities", func(o *ChartOptions) { o.Capabilities = nil }, []string{"capabilities"}},
		{"no such file", func(o *ChartOptions) { o.Values.Files = []string{"nope.yaml"} }, []string{"reading values", "nope.yaml"}},
		{"bad expression", func(o *ChartOptions) { o.Values.Set = []string{"a"} }, []string{"--set", `key "a" has no value`}},
		{"template place", func(o *ChartOptions) { o.Values.Set = []string{"failure=told so"} },
			[]string{"web/templates/extra.yaml:7:3", "told so"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Chart(context.Background(), webOptions(tt.change))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// TestChartErrorsKeepSecrets: what a template made of a secret value, and a values file, are not quoted.
func TestChartErrorsKeepSecrets(t *testing.T) {
	quiet(t)
	bad := map[string]string{
		"rendered, syntax": `badYAML: "canary: canary"`,
		"rendered, decode": `badYAML: "{? {a: canary} : canary}"`,
		"file, syntax":     "a: canary: canary\n",
		"file, decode":     "{? {a: canary} : canary}\n",
		"file, not a map":  "canary\n",
	}
	for name, text := range bad {
		t.Run(name, func(t *testing.T) {
			_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) {
				o.Values.Files = []string{valuesFile(t, text)}
			}))
			if err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("error %v", err)
			}
			if strings.HasPrefix(name, "rendered") && !strings.Contains(err.Error(), "web/templates/extra.yaml") {
				t.Errorf("error %v does not name the template", err)
			}
		})
	}
}

func TestChartSaysWhatItRendered(t *testing.T) {
	quiet(t)
	got, err := Chart(context.Background(), webOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got.ChartName != "web" || got.ChartVersion != "1.2.0" || got.AppVersion != "4.5" || got.Warnings != nil {
		t.Errorf("got %q %q %q %v", got.ChartName, got.ChartVersion, got.AppVersion, got.Warnings)
	}
	if strings.Contains(got.Manifest, "notes of a subchart") {
		t.Error("the notes are in the manifest")
	}
	m := Parse(got.Manifest, ParseOptions{Namespace: "prod", Scope: scope})
	if len(m.Errors) > 0 || len(m.Objects) != 5 {
		t.Errorf("manifest has %d objects, errors %v", len(m.Objects), m.Errors)
	}

	library, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path = "testdata/charts/lib" }))
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, w := range library.Warnings {
		codes = append(codes, w.Code)
	}
	if diff := cmp.Diff([]string{CodeDeprecatedChart, CodeLibraryChart}, codes); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestChartLeavesItsOptionsAlone(t *testing.T) {
	quiet(t)
	o := webOptions(nil)
	if _, err := Chart(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(webOptions(nil).Config, o.Config); diff != "" {
		t.Errorf("config changed (-want +got):\n%s", diff)
	}
}

func TestChartStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Chart(ctx, webOptions(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
