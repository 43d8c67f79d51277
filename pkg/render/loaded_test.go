package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestTemplatesOfDottedCharts checks where the values of templates are if names of charts have dots.
func TestTemplatesOfDottedCharts(t *testing.T) {
	dir := chartFrom(t, txtar.Parse([]byte(`
-- Chart.yaml --
apiVersion: v2
name: web.app
version: 1.0.0
-- templates/a.yaml --
-- charts/my.db/Chart.yaml --
apiVersion: v2
name: my.db
version: 1.0.0
-- charts/my.db/templates/b.yaml --
kind: {{ .Values.kind }}
-- values.yaml --
my: {db: {kind: Seen}}
my.db: {kind: NotSeen}
`)).Files)
	bothHelms(t, func(t *testing.T, four bool) {
		o := ChartOptions{Path: dir, Helm4: four, ReleaseName: "r", Namespace: "n", Capabilities: capabilities()}
		loaded, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := loaded.Prepare(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for _, template := range prepared.Templates() {
			got[template.Path] = template.Values
		}
		want := map[string][]string{"web.app/templates/a.yaml": nil, "web.app/charts/my.db/templates/b.yaml": {"my", "db"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if manifest, _, err := prepared.Render(t.Context()); err != nil || !strings.Contains(manifest, "kind: Seen") {
			t.Errorf("%v\n%s", err, manifest)
		}
	})
}

// TestHookRef checks which object a hook is.
func TestHookRef(t *testing.T) {
	opts := ParseOptions{Namespace: "n", Scope: func(gvk schema.GroupVersionKind) (namespaced, known bool) { return gvk.Kind != "ClusterRole", true }}
	ref := func(group, version, kind, namespace, name string) object.Ref {
		return object.Ref{Key: object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: version}
	}
	for name, c := range map[string]struct {
		text string
		want object.Ref
	}{
		"namespace of the release": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}", ref("", "v1", "ConfigMap", "n", "a")},
		"own namespace":            {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: b}", ref("batch", "v1", "Job", "b", "a")},
		"no namespace":             {"apiVersion: v1\nkind: ClusterRole\nmetadata: {name: a, namespace: b}", ref("", "v1", "ClusterRole", "", "a")},
		"nothing":                  {"", object.Ref{}},
		"no YAML":                  {"a: [", object.Ref{}},
		"a list":                   {"apiVersion: v1\nkind: List\nitems: [{kind: A, metadata: {name: a}}, {kind: B, metadata: {name: b}}]", object.Ref{}},
		"too many values":          {"kind: A\nmetadata: {name: a}\nspec: [" + strings.Repeat("1,", maxIndicators) + "1]", object.Ref{}},
	} {
		if diff := cmp.Diff(c.want, Hook{Text: c.text}.Object(opts).Ref); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}
