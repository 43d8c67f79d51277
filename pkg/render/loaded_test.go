package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
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
