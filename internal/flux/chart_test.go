package flux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
)

// folder writes files into a new folder and returns it.
func folder(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPrepareChart checks the version and the default values that source-controller gives a chart.
func TestPrepareChart(t *testing.T) {
	dir := folder(t, map[string]string{
		"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.0\n", "charts/web/values.yaml": "a: 1\nb: {c: 1}\n",
		"charts/web/prod.yaml": "b: {c: 2}\n", "prod.yaml": "root: true\n", "charts/web/bad.yaml": "[1]",
	})
	chart := filepath.Join(dir, "charts/web")
	for name, test := range map[string]struct {
		order                 ChartOrder
		version, values, fail string
	}{
		"as it is": {ChartOrder{}, "1.2.0", "", ""},
		"digest":   {ChartOrder{Metadata: "0123456789ab"}, "1.2.0+0123456789ab", "map[a:1 b:map[c:1]]", ""},
		"values files": {
			ChartOrder{ValuesFiles: []string{"values.yaml", "prod.yaml"}, Metadata: "3"},
			"1.2.0+3", "map[a:1 b:map[c:2]]", "",
		},
		"without values.yaml": {ChartOrder{ValuesFiles: []string{"./prod.yaml"}, Metadata: "3"}, "1.2.0+3", "map[b:map[c:2]]", ""},
		"of the source":       {ChartOrder{ValuesFiles: []string{"/prod.yaml"}, Root: dir}, "1.2.0", "map[root:true]", ""},
		"missing":             {ChartOrder{ValuesFiles: []string{"gone.yaml"}}, "", "", "the values file gone.yaml"},
		"missing and ignored": {
			ChartOrder{ValuesFiles: []string{"gone.yaml", "prod.yaml"}, IgnoreMissing: true},
			"1.2.0", "map[b:map[c:2]]", "",
		},
		"outside the source": {
			ChartOrder{ValuesFiles: []string{"../../etc/passwd"}, Root: chart},
			"", "", "the values file ../../etc/passwd",
		},
		"no table":                 {ChartOrder{ValuesFiles: []string{"bad.yaml"}}, "", "", "not a YAML document with a table"},
		"metadata that is no such": {ChartOrder{Metadata: "a b"}, "", "", "cannot be added to the version"},
	} {
		t.Run(name, func(t *testing.T) {
			test.order.Path = chart
			got, err := PrepareChart(t.Context(), test.order)
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Errorf("%v, want %q", err, test.fail)
				}
				return
			}
			if err != nil || got.Name != "web" || got.Version != test.version {
				t.Fatalf("%s %s, %v; want %s", got.Name, got.Version, err, test.version)
			}
			if test.values == "" {
				return
			}
			path := filepath.Join(t.TempDir(), "chart.tgz")
			if err := os.WriteFile(path, got.Archive, 0o600); err != nil {
				t.Fatal(err)
			}
			made, err := loader.Load(path)
			if err != nil || made.Metadata.Version != test.version || strings.TrimSpace(fmt.Sprint(made.Values)) != test.values {
				t.Errorf("%+v, %v; want %s", made, err, test.values)
			}
		})
	}
}

// TestCredentials checks that a login is used for its own host and port alone.
func TestCredentials(t *testing.T) {
	config := `{"auths": {"registry.example.com": {"username": "u", "password": "p"},
		"https://registry.example.com:5000/v1/": {"auth": "eDp5"}}}`
	for url, want := range map[string]string{
		"oci://registry.example.com/charts": "u:p", "oci://registry.example.com:5000/charts": "x:y", "oci://example.com/charts": ":",
		"oci://registry.example.com.evil.example/charts": ":",
	} {
		if username, password := loginFor(config, url); username+":"+password != want {
			t.Errorf("%s: %s:%s, want %s", url, username, password, want)
		}
	}
}

// frozen returns a HelmChart that is suspended, after source-controller has observed a generation of it.
func frozen(kind, name string, observed int) map[string]any {
	title := "frozen"
	if observed < 4 {
		title += "-early"
	}
	return map[string]any{
		"metadata": map[string]any{"generation": 4, "namespace": "shop", "name": title},
		"spec":     map[string]any{"chart": "web", "version": "1.x", "suspend": true, "sourceRef": map[string]any{"kind": kind, "name": name}},
		"status":   map[string]any{"observedGeneration": observed, "artifact": map[string]any{"revision": "1.3.0"}},
	}
}

// TestGeneration checks which changes of a HelmRelease change its HelmChart, whose generation is in the version of a chart with
// valuesFiles.
func TestGeneration(t *testing.T) {
	for spec, want := range map[string]string{
		"  interval: 60m\n  chart: {spec: %s}":                              "4",
		"  interval: 30m\n  chart: {spec: %s}":                              "5",
		"  interval: 30m\n  chart: {spec: %s, interval: 1h}}":               "4",
		"  interval: 1h\n  chart: {spec: %s, verify: {provider: c}}}":       "5",
		"  interval: 1h\n  chart: {spec: %s, reconcileStrategy: Revision}}": "5",
	} {
		const chart = "{chart: web, valuesFiles: [a], sourceRef: {kind: HelmRepository, name: charts}}"
		from := fluxtest.Objects{
			"HelmRepository/charts": {"spec": map[string]any{"url": "https://192.0.2.1/charts"}},
			"HelmChart/shop-web": {
				"metadata": map[string]any{"generation": 4},
				"spec": map[string]any{"chart": "web", "version": "*", "interval": "1h0m0s", "reconcileStrategy": "ChartVersion",
					"valuesFiles": []any{"a"}, "sourceRef": map[string]any{"kind": "HelmRepository", "name": "charts"}},
			},
		}
		text := strings.Replace(fmt.Sprintf(spec, chart), "charts}},", "charts},", 1)
		o, err := offerOf(t.Context(), helmRelease(t, text), from, Question{})
		if err != nil || o.order.Metadata != want {
			t.Errorf("%s: generation %s, want %s; %v", text, o.order.Metadata, want, err)
		}
	}
}

// TestCheckTag compares the tag of an OCIRepository with the version of its chart.
func TestCheckTag(t *testing.T) {
	for _, test := range []struct {
		tag, version string
		refused      bool
	}{
		{"1.0.0", "1.0.0+0123456789ab", false}, {"v1.0.0", "1.0.0", false}, {"latest", "1.0.0", false}, {"", "1.0.0", false},
		{"1.1.0", "1.0.0", true}, {"1.0.0+build", "1.0.0+0123456789ab", false},
	} {
		if got := (&offer{tag: test.tag}).checkTag(test.version); got != "" != test.refused {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestOffer checks what is fetched from each source, with the version that the controllers give the chart.
func TestOffer(t *testing.T) {
	from := fluxtest.Objects{
		"HelmRepository/charts": {"spec": map[string]any{"url": "https://192.0.2.1/charts"}},
		"HelmRepository/oci":    {"spec": map[string]any{"url": "oci://192.0.2.1/charts/", "type": "oci", "insecure": true}},
		"OCIRepository/web": {
			"metadata": map[string]any{"generation": 1},
			"spec":     map[string]any{"url": "oci://192.0.2.1/web", "ref": map[string]any{"tag": "1.0.0"}},
			"status":   map[string]any{"observedGeneration": 1, "artifact": map[string]any{"revision": "1.0.0@sha256:0123456789abcdef"}},
		},
		"OCIRepository/new": {
			"metadata": map[string]any{"generation": 2},
			"spec":     map[string]any{"url": "oci://192.0.2.1/web", "ref": map[string]any{"semver": ">=1"}},
			"status":   map[string]any{"observedGeneration": 1, "artifact": map[string]any{"revision": "1.0.0@sha256:0123456789abcdef"}},
		},
		"OCIRepository/any": {"metadata": map[string]any{"generation": 1}, "spec": map[string]any{"url": "oci://192.0.2.1/web"}},
		"OCIRepository/suspended": {
			"metadata": map[string]any{"generation": 2},
			"spec":     map[string]any{"url": "oci://192.0.2.1/web", "suspend": true, "ref": map[string]any{"tag": "2.0.0"}},
			"status":   map[string]any{"observedGeneration": 1, "artifact": map[string]any{"revision": "1.0.0@sha256:0123456789abcdef"}},
		},
		"HelmChart/frozen":       frozen("HelmRepository", "charts", 4),
		"HelmChart/frozen-early": frozen("HelmRepository", "charts", 3),
		"HelmChart/frozen-git":   frozen("GitRepository", "repo", 4),
		"OCIRepository/metadata": {"spec": map[string]any{"url": "oci://169.254.169.254/web"}},
		"GitRepository/repo":     {"status": map[string]any{"artifact": map[string]any{"revision": "main@sha1:fedcba9876543210"}}},
		"HelmChart/shop-web": {
			"metadata": map[string]any{"generation": 4, "namespace": "shop", "name": "shop-web"},
			"spec":     map[string]any{"chart": "web", "version": "1.x", "sourceRef": map[string]any{"kind": "HelmRepository", "name": "charts"}},
			"status":   map[string]any{"observedGeneration": 4, "artifact": map[string]any{"revision": "1.3.0"}},
		},
		"HelmChart/stalled": {
			"metadata": map[string]any{"generation": 1, "namespace": "shop", "name": "stalled"},
			"spec":     map[string]any{"chart": "web", "sourceRef": map[string]any{"kind": "HelmRepository", "name": "charts"}},
			"status": map[string]any{"observedGeneration": 1, "conditions": []any{
				map[string]any{"type": "Stalled", "status": "True", "message": "no such chart"}}},
		},
	}
	for spec, want := range map[string]string{
		"chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}": "" +
			"web 1.x https://192.0.2.1/charts + current:true",
		"chart: {spec: {chart: web, version: 2.x, sourceRef: {kind: HelmRepository, name: charts}}}": "" +
			"web 2.x https://192.0.2.1/charts + current:false",
		"chart: {spec: {chart: web, version: 2.x, valuesFiles: [a], sourceRef: {kind: HelmRepository, name: charts}}}": "" +
			"web 2.x https://192.0.2.1/charts +5 current:false",
		"chart: {spec: {chart: web, version: 2.x, valuesFiles: [./values.yaml], sourceRef: {kind: HelmRepository, name: charts}}}": "" +
			"web 2.x https://192.0.2.1/charts + current:false",
		"chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: oci}}}": "" +
			"oci://192.0.2.1/charts/web   + current:false plain",
		"chart: {spec: {chart: c/web, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: repo}}}": "" +
			"   +fedcba987654 current:false",
		"chartRef: {kind: OCIRepository, name: web}": "" +
			"oci://192.0.2.1/web@sha256:0123456789abcdef   +0123456789ab current:false",
		"chartRef: {kind: OCIRepository, name: new}": "" +
			"oci://192.0.2.1/web >=1  +helmdrift-unknown-5d1c7e current:false",
		"chartRef: {kind: OCIRepository, name: any}": "" +
			"oci://192.0.2.1/web latest  +helmdrift-unknown-5d1c7e current:false",
		"chartRef: {kind: OCIRepository, name: suspended}": "" +
			"oci://192.0.2.1/web 2.0.0  +helmdrift-unknown-5d1c7e current:false waits: OCIRepository shop/suspended is suspended, and " +
			"source-controller has not looked at it as it is now",
		"chartRef: {kind: HelmChart, name: frozen}": "" +
			"web 1.3.0 https://192.0.2.1/charts + current:true",
		"chartRef: {kind: HelmChart, name: frozen-early}": "" +
			"web 1.x https://192.0.2.1/charts + current:false waits: HelmChart shop/frozen-early is suspended, and source-controller has not " +
			"built it as it is now",
		"chartRef: {kind: HelmChart, name: frozen-git}": "" +
			"   + current:true",
		"chartRef: {kind: HelmChart, name: stalled}": "" +
			"web  https://192.0.2.1/charts + current:false waits: HelmChart shop/stalled is not ready: no such chart",
		"chartRef: {kind: ExternalArtifact, name: x}": "" +
			"   + current:false",
		"chartRef: {kind: OCIRepository, name: metadata}": "error: spec.url of OCIRepository shop/metadata has the address 169.254.169.254, " +
			"where a cloud serves credentials of a machine",
		"chartRef: {kind: OCIRepository, name: gone}": "" +
			"error: the source of the chart: OCIRepository shop/gone: it does not exist",
		"suspend: true": "error: HelmRelease shop/web has neither spec.chart nor spec.chartRef",
	} {
		o, err := offerOf(t.Context(), helmRelease(t, "  "+spec), from, Question{})
		got := "error: "
		if err != nil {
			got += err.Error()
		} else {
			got = strings.Join([]string{o.ref, o.from.Version, o.from.RepoURL, "+" + o.order.Metadata, "current:" + fmt.Sprint(o.isCurrent)}, " ")
			if o.from.PlainHTTP {
				got += " plain"
			}
			if o.waits != "" {
				got += " waits: " + o.waits
			}
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", spec, got, want)
		}
	}
}

// TestPostRender checks the order of post-renderers, common metadata and the labels of Flux, which win.
func TestPostRender(t *testing.T) {
	h := helmRelease(t, `
  postRenderers:
  - kustomize: {images: [{name: nginx, newTag: "2"}]}
  - kustomize: {patches: [{patch: '- {op: replace, path: /spec/containers/0/image, value: "last"}', target: {kind: Pod, name: b}}]}
  commonMetadata: {labels: {team: shop, helm.toolkit.fluxcd.io/name: mine}, annotations: {note: x}}`)
	order := renderOrder(h, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {team: other}}\n"+
		"spec: {containers: [{name: c, image: nginx:1}]}\n"+
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: [{name: c, image: nginx:1}]}\n"))
	got, err := PostRender(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"image":"nginx:2"`, `"image":"last"`, `"team":"shop"`, `"helm.toolkit.fluxcd.io/name":"web"`, `"note":"x"`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	order.Manifest = []byte("a: b\n")
	if _, err := PostRender(t.Context(), order); err == nil {
		t.Error("a manifest without an object is no error")
	}
}

// TestInTemp lets a job end as a child process that is killed does, before it removes its files, and looks for what is left of them.
func TestInTemp(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	dir := folder(t, map[string]string{"web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.0\n", "web/values.yaml": "a: 1\n"})
	order := ChartOrder{Artifact: &ArtifactOrder{Dir: dir, Kind: "GitRepository", Chart: "web"}}
	_, err := order.InTemp(func(o ChartOrder) (ChartAnswer, error) {
		all, err := filepath.Glob(filepath.Join(temp, "*"))
		if err != nil || len(all) != 1 || o.Temp != all[0] {
			t.Errorf("%q is not the only one of %q: %v", o.Temp, all, err)
		}
		t.Setenv("TMPDIR", filepath.Join(temp, "absent")) // so that no other folder can be used
		t.Setenv("TMP", filepath.Join(temp, "absent"))
		if err := os.WriteFile(filepath.Join(o.Temp, "left"), nil, 0o600); err != nil {
			t.Error(err)
		}
		return PrepareChart(t.Context(), o)
	})
	if err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}
