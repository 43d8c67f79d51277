package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const webChart = "testdata/charts/web"

// capabilities returns the capabilities of a cluster that serves the given versions, by default
// apps/v1.
func capabilities(apiVersions ...string) *chartutil.Capabilities {
	if apiVersions == nil {
		apiVersions = []string{"v1", "apps/v1"}
	}
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"},
		APIVersions: apiVersions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}
}

func webOptions(change func(*ChartOptions)) ChartOptions {
	o := ChartOptions{
		Path: webChart, ReleaseName: "shop", Namespace: "prod", LastRevision: 7,
		Previous:     Previous{Config: map[string]any{"replicas": 5.0, "million": 1000000.0}},
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

// bothHelms runs a test with Helm 3 and with Helm 4.
func bothHelms(t *testing.T, test func(t *testing.T, four bool)) {
	t.Helper()
	t.Run("helm 3", func(t *testing.T) { test(t, false) })
	t.Run("helm 4", func(t *testing.T) { test(t, true) })
}

// sameAsHelm compares Chart with Helm's own dry run, byte for byte except for the lines that a second rendering
// changes.
func sameAsHelm(t *testing.T, o ChartOptions) *Rendered {
	t.Helper()
	want, err := dryRun(t, o)
	if err != nil {
		t.Fatalf("helm: %v", err)
	}
	got, err := Chart(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	blankWant, blankGot := want.Manifest, got.Manifest
	if got.Again != "" {
		blankWant, blankGot = blank(t, want.Manifest, got), blank(t, got.Manifest, got)
	}
	if diff := cmp.Diff(blankWant, blankGot); diff != "" {
		t.Errorf("manifest (-helm +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Hooks, got.Hooks); diff != "" {
		t.Errorf("hooks (-helm +got):\n%s", diff)
	}
	return got
}

// blank empties the lines that differ between the two renderings.
func blank(t *testing.T, manifest string, rendered *Rendered) string {
	t.Helper()
	lines := strings.Split(manifest, "\n")
	first, second := strings.Split(rendered.Manifest, "\n"), strings.Split(rendered.Again, "\n")
	if len(first) != len(second) || len(first) != len(lines) {
		t.Fatalf("renderings of %d, %d and %d lines", len(lines), len(first), len(second))
	}
	for i := range lines {
		if first[i] != second[i] {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// TestChartLikeHelmUpgrade tries many values with one chart.
func TestChartLikeHelmUpgrade(t *testing.T) {
	quiet(t)
	packaged := packageChart(t, webChart)
	first := valuesFile(t, "nested: {drop: null, more: {a: 1, b: 2}}\nlist: [x]\nmillion: 2000000\n")
	second := valuesFile(t, "nested: {more: {b: 3}}\nreplicas: 4\n")
	tests := map[string]func(*ChartOptions){
		"values of the record": nil,
		"packaged chart":       func(o *ChartOptions) { o.Path = packaged },
		"no values at all":     func(o *ChartOptions) { o.Previous = Previous{} },
		"one file":             func(o *ChartOptions) { o.Values.Files = []string{first} },
		"two files":            func(o *ChartOptions) { o.Values.Files = []string{first, second} },
		"empty file":           func(o *ChartOptions) { o.Values.Files = []string{valuesFile(t, "# nothing\n")} },
		"set":                  func(o *ChartOptions) { o.Values.Set = []string{"replicas=9,list={p,q}", "nested.drop=null"} },
		"set over file": func(o *ChartOptions) {
			o.Values = ValueOptions{Files: []string{second}, Set: []string{"replicas=1", "list[1]=z"}}
		},
		"old defaults": func(o *ChartOptions) {
			o.Values.Reuse = ReuseValues
			o.Previous.Values = map[string]any{"replicas": 2.0, "motto": "old", "list": []any{"o"}, "nested": map[string]any{"old": 1.0, "drop": nil}}
		},
		"old defaults with a null for a subchart": func(o *ChartOptions) {
			o.Values.Reuse = ReuseValues
			o.Previous.Config = map[string]any{"cache": map[string]any{"enabled": true}}
			o.Previous.Values = map[string]any{"motto": "old", "cache": map[string]any{"size": nil}}
		},
		"subchart off":        func(o *ChartOptions) { o.Values.Set = []string{"cache.enabled=false"} },
		"tag off":             func(o *ChartOptions) { o.Values.Set = []string{"tags.background=false"} },
		"other api versions":  func(o *ChartOptions) { o.Capabilities = capabilities("v1") },
		"values of subcharts": func(o *ChartOptions) { o.Values.Set = []string{"cache.size=1,cache.exported.port=11"} },
		"library chart":       func(o *ChartOptions) { o.Path = "testdata/charts/lib" },
		"schema skipped": func(o *ChartOptions) {
			o.Values.Set, o.SkipSchemaValidation = []string{"replicas=many"}, true
		},
		"install": func(o *ChartOptions) { o.Install, o.LastRevision, o.Previous = true, 0, Previous{} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			bothHelms(t, func(t *testing.T, four bool) {
				o := webOptions(change)
				o.Helm4 = four
				sameAsHelm(t, o)
			})
		})
	}
}

// TestChartsLikeHelm compares the charts of testdata/rendered with Helm 3 and Helm 4. The section "given" is a values
// file, and the others are the chart. A line above them is "helm 4" for a chart that only Helm 4 renders, "volatile"
// for a chart that changes with each rendering, or a text that the manifest must contain, so that no chart is empty
// by mistake.
func TestChartsLikeHelm(t *testing.T) {
	quiet(t)
	names, err := filepath.Glob("testdata/rendered/*.txtar")
	if err != nil || len(names) < 12 {
		t.Fatalf("%d charts, %v", len(names), err)
	}
	lookup, _ := cluster(t)
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			bothHelms(t, func(t *testing.T, four bool) {
				if !four && slices.Contains(words, "helm 4") {
					t.Skip("only Helm 4 has its functions")
				}
				o := webOptions(func(o *ChartOptions) { o.Helm4, o.Lookup, o.Previous = four, lookup, Previous{} })
				o.Path, o.Values.Files = unpack(t, archive)
				got := sameAsHelm(t, o)
				if volatile := slices.Contains(words, "volatile"); volatile != (got.Again != "") {
					t.Errorf("another rendering: %q", got.Again)
				}
				for _, word := range words {
					if want, found := strings.CutPrefix(word, "has "); found && !strings.Contains(got.Manifest, want) {
						t.Errorf("%q is not in\n%s", want, got.Manifest)
					}
				}
			})
		})
	}
}

// unpack writes the chart of an archive and its values file.
func unpack(t *testing.T, archive *txtar.Archive) (path string, values []string) {
	t.Helper()
	var files []txtar.File
	for _, f := range archive.Files {
		if f.Name == "given" {
			values = append(values, valuesFile(t, string(f.Data)))
			continue
		}
		files = append(files, f)
	}
	return chartFrom(t, files), values
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

func TestRenderedMetadata(t *testing.T) {
	quiet(t)
	got, err := Chart(context.Background(), webOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got.ChartName != "web" || got.ChartVersion != "1.2.0" || got.AppVersion != "4.5" || got.Warnings != nil || got.Brings != nil {
		t.Errorf("got %q %q %q %v %v", got.ChartName, got.ChartVersion, got.AppVersion, got.Warnings, got.Brings)
	}
	if strings.Contains(got.Manifest, "notes of a subchart") {
		t.Error("the notes are in the manifest")
	}
	m := Parse(got.Manifest, ParseOptions{Namespace: "prod", Scope: scope})
	if len(m.Errors) > 0 || len(m.Objects) != 5 {
		t.Errorf("manifest has %d objects, errors %v", len(m.Objects), m.Errors)
	}
}

func TestChartWarnings(t *testing.T) {
	quiet(t)
	bothHelms(t, func(t *testing.T, four bool) {
		got, err := Chart(context.Background(), webOptions(func(o *ChartOptions) {
			o.Path, o.Helm4 = "testdata/charts/lib", four
			o.PostRender = func(_ context.Context, manifest []byte) ([]byte, error) { return manifest, nil }
		}))
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, w := range got.Warnings {
			codes = append(codes, w.Code)
		}
		want := []string{CodeDeprecatedChart, CodeLibraryChart}
		if four {
			want = append(want, CodeHooksNotPostRendered)
		}
		if diff := cmp.Diff(want, codes); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
	})
}

// TestChartBrings checks that only the kinds of crds/ folders count, including those of enabled subcharts.
func TestChartBrings(t *testing.T) {
	quiet(t)
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %[2]s}\nspec: {group: %[1]s, names: {kind: %[2]s}}\n"
	path := chartOf(t, "-- crds/a.yaml --\n"+fmt.Sprintf(definition, "ex.com", "Thing")+"---\n"+fmt.Sprintf(definition, "ex.com", "Other")+
		"-- crds/README.md --\nno manifest\n-- crds/b.json --\n{\"kind\": \"ConfigMap\", \"apiVersion\": \"v1\"}\n"+
		"-- templates/c.yaml --\n"+fmt.Sprintf(definition, "ex.com", "Templated")+
		"-- charts/on/Chart.yaml --\napiVersion: v2\nname: \"on\"\nversion: 1.0.0\n-- charts/on/crds/x.yaml --\n"+fmt.Sprintf(definition, "sub.ex.com", "Sub"))
	bothHelms(t, func(t *testing.T, four bool) {
		got, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path, o.Helm4 = path, four }))
		if err != nil {
			t.Fatal(err)
		}
		want := []schema.GroupKind{{Group: "ex.com", Kind: "Thing"}, {Group: "ex.com", Kind: "Other"}, {Group: "sub.ex.com", Kind: "Sub"}}
		if diff := cmp.Diff(want, got.Brings); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestChartSeesNewKinds checks what templates see of the kinds that the operation defines before it renders the chart.
func TestChartSeesNewKinds(t *testing.T) {
	quiet(t)
	path := chartOf(t, `-- crds/dials.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dials.ex.com}
spec:
  group: ex.com
  scope: Namespaced
  names: {plural: dials, kind: Dial}
  versions: [{name: v1, served: true}, {name: v2, served: false}, {name: v3, served: true}]
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  served: "{{ range list "ex.com/v1" "ex.com/v1/Dial" "ex.com/v2" "ex.com/v2/Dial" "ex.com/v3/Dial" }}{{ if $.Capabilities.APIVersions.Has . }} {{ . }}{{ end }}{{ end }}"
`)
	for name, tc := range map[string]struct {
		served           []string
		writes, replaces bool
		want             string
		more, less       []string
	}{
		"not written":         {nil, false, false, "", nil, nil},
		"new":                 {nil, true, false, " ex.com/v1 ex.com/v1/Dial ex.com/v3/Dial", []string{"ex.com/v1", "ex.com/v1/Dial", "ex.com/v3", "ex.com/v3/Dial"}, nil},
		"the group is served": {[]string{"ex.com/v1"}, true, false, " ex.com/v1 ex.com/v1/Dial ex.com/v3/Dial", []string{"ex.com/v1/Dial", "ex.com/v3", "ex.com/v3/Dial"}, nil},
		"left alone":          {[]string{"ex.com/v2", "ex.com/v2/Dial"}, true, false, " ex.com/v2 ex.com/v2/Dial", nil, nil},
		"replaced": {[]string{"ex.com/v3", "ex.com/v3/Dial"}, true, true, " ex.com/v1 ex.com/v1/Dial ex.com/v3/Dial",
			[]string{"ex.com/v1", "ex.com/v1/Dial"}, nil},
		"replaced by one that serves less": {
			[]string{"ex.com/v1", "ex.com/v1/Dial", "ex.com/v2", "ex.com/v2/Dial", "ex.com/v3", "ex.com/v3/Dial", "b.ex.com/v2/Dial"},
			true, true, " ex.com/v1 ex.com/v1/Dial ex.com/v3/Dial", nil, []string{"ex.com/v2", "ex.com/v2/Dial"},
		},
		"replaced by one that serves less than another kind": {
			[]string{"ex.com/v1", "ex.com/v1/Dial", "ex.com/v2", "ex.com/v2/Dial", "ex.com/v2/Other", "ex.com/v3", "ex.com/v3/Dial"},
			true, true, " ex.com/v1 ex.com/v1/Dial ex.com/v2 ex.com/v3/Dial", nil, []string{"ex.com/v2/Dial"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bothHelms(t, func(t *testing.T, four bool) {
				got, err := Chart(context.Background(), webOptions(func(o *ChartOptions) {
					o.Path, o.Helm4, o.Install = path, four, true
					o.WritesCRDs, o.ReplacesCRDs, o.Capabilities = tc.writes, tc.replaces, capabilities(append([]string{"v1"}, tc.served...)...)
				}))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(got.Manifest, `served: "`+tc.want+`"`) {
					t.Errorf("templates do not see %q:\n%s", tc.want, got.Manifest)
				}
				if !slices.Equal(got.NewVersions, tc.more) || !slices.Equal(got.LostVersions, tc.less) {
					t.Errorf("new versions %q, lost %q, want %q and %q", got.NewVersions, got.LostVersions, tc.more, tc.less)
				}
			})
		})
	}
}

func TestChartPostRender(t *testing.T) {
	quiet(t)
	o := webOptions(func(o *ChartOptions) {
		o.PostRender = func(_ context.Context, manifest []byte) ([]byte, error) {
			if strings.Contains(string(manifest), "migrate") {
				t.Error("the post-renderer saw a hook")
			}
			return []byte("posted: " + string(manifest[:4])), nil
		}
	})
	got, err := Chart(context.Background(), o)
	if err != nil || got.Manifest != "posted: ---\n" || len(got.Hooks) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	o.PostRender = func(context.Context, []byte) ([]byte, error) {
		return nil, &Error{Message: "it broke", Advice: "fix it"}
	}
	var fault *Error
	if _, err := Chart(context.Background(), o); !errors.As(err, &fault) || fault.Message != "it broke" || fault.Hint() != "fix it" {
		t.Errorf("error %v", err)
	}
}

// TestChartKeepsItsOptions checks that a template that writes into its values does not change the options.
func TestChartKeepsItsOptions(t *testing.T) {
	quiet(t)
	path := chartOf(t, "-- templates/a.yaml --\n{{ $_ := set .Values \"a\" 1 }}{{ $_ := set .Values.nested \"b\" (now | unixEpoch) }}k: {{ tpl .Values.text . | quote }}\n")
	bothHelms(t, func(t *testing.T, four bool) {
		o := webOptions(func(o *ChartOptions) { o.Path, o.Helm4, o.Values.Reuse = path, four, ReuseValues })
		fresh := func() Previous {
			return Previous{Config: map[string]any{"nested": map[string]any{}, "text": "{{ now }}"}, Values: map[string]any{"nested": map[string]any{"c": 1.0}}}
		}
		o.Previous = fresh()
		if _, err := Chart(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fresh(), o.Previous); diff != "" {
			t.Errorf("changed (-want +got):\n%s", diff)
		}
	})
}

func TestChartStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := Chart(ctx, webOptions(nil)); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

func TestOverrideCapabilities(t *testing.T) {
	given := capabilities("v1")
	given.APIVersions = append(make([]string, 0, 8), "v1")
	got, err := OverrideCapabilities(given, "1.30", []string{"ex.com/v1"})
	if err != nil || got.KubeVersion.Version != "v1.30" || got.KubeVersion.Minor != "30" || !slices.Equal(got.APIVersions, []string{"v1", "ex.com/v1"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if again, _ := OverrideCapabilities(given, "", []string{"other/v1"}); got.APIVersions[1] != "ex.com/v1" || again.KubeVersion.Version != "v1.36.3" || len(given.APIVersions) != 1 {
		t.Errorf("the given capabilities changed: %v %v %v", given, got, again)
	}
	if _, err := OverrideCapabilities(given, "newest", nil); err == nil || !strings.Contains(err.Error(), `"newest"`) {
		t.Errorf("error %v", err)
	}
}
