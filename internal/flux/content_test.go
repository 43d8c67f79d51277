package flux

import (
	"encoding/json"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// storedChart returns the JSON of a chart in a record.
func storedChart(t *testing.T, change func(*chart.Chart)) json.RawMessage {
	t.Helper()
	c, err := loader.Load(folder(t, map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.0\n", "values.yaml": "a: 1000000\nb: {c: 1.5}\n",
		"values.schema.json": "{}", "templates/a.yaml": "a: {{ .Values.a }}", "templates/b.yaml": "b: 1", "files/note.txt": "note",
	}))
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestIsDeployed compares a chart with that of a record.
func TestIsDeployed(t *testing.T) {
	values := map[string]any{"a": int64(2), "text": "x"}
	for name, test := range map[string]struct {
		chart  func(*chart.Chart)
		record func(*release.Loaded)
		plan   func(*Plan)
		want   bool
	}{
		"the same": {want: true},
		"other times and another order": {chart: func(c *chart.Chart) {
			c.Templates[0], c.Templates[1] = c.Templates[1], c.Templates[0]
			c.Templates[0].ModTime = time.Unix(1, 0)
		}, want: true},
		"template":         {chart: func(c *chart.Chart) { c.Templates[0].Data = []byte("a: 2") }},
		"name":             {chart: func(c *chart.Chart) { c.Templates[0].Name = "templates/c.yaml" }},
		"another template": {chart: func(c *chart.Chart) { c.Templates = c.Templates[:1] }},
		"file":             {chart: func(c *chart.Chart) { c.Files[0].Data = []byte("other") }},
		"default":          {chart: func(c *chart.Chart) { c.Values["a"] = 1000001.0 }},
		"schema":           {chart: func(c *chart.Chart) { c.Schema = []byte("[]") }},
		"metadata":         {chart: func(c *chart.Chart) { c.Metadata.AppVersion = "2" }},
		"a file that was a template": {chart: func(c *chart.Chart) {
			c.Files, c.Templates = append(c.Files, c.Templates[1]), c.Templates[:1]
		}},
		"dependencies": {chart: func(c *chart.Chart) { c.Metadata.Dependencies = []*chart.Dependency{{Name: "db"}} },
			plan: func(p *Plan) { p.content = "" }},
		"other values":     {record: func(l *release.Loaded) { l.Old.Values.Config = release.Texts{json.RawMessage(`{"a": 3, "text": "x"}`)} }},
		"no values":        {record: func(l *release.Loaded) { l.Old.Values = nil }},
		"no chart":         {record: func(l *release.Loaded) { l.Old.StoredChart = nil }},
		"a later revision": {record: func(l *release.Loaded) { l.Last = &release.Record{} }},
		"a large chart":    {chart: func(c *chart.Chart) { c.Files[0].Data = make([]byte, maxStoredChart) }},
		"unknown values":   {plan: func(p *Plan) { p.composed.Unknown = []string{"a"} }},
	} {
		t.Run(name, func(t *testing.T) {
			var source chart.Chart
			if err := json.Unmarshal(storedChart(t, func(*chart.Chart) {}), &source); err != nil {
				t.Fatal(err)
			}
			if test.chart == nil {
				test.chart = func(*chart.Chart) {}
			}
			record := &release.Record{StoredChart: storedChart(t, test.chart),
				Values: &release.Values{Config: release.Texts{json.RawMessage(`{"a": 2, "text": "x"}`)}}}
			loaded := &release.Loaded{Old: record, Last: record}
			p := &Plan{content: contentOf(&source), composed: &api.Composition{Values: values}, digest: api.Digest(values)}
			if test.record != nil {
				test.record(loaded)
			}
			if test.plan != nil {
				test.plan(p)
			}
			if got := p.isDeployed(loaded); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

// TestContentOfDependencies knows nothing of a chart with others in it, because a record lacks them.
func TestContentOfDependencies(t *testing.T) {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "web"}, Templates: []*common.File{{Name: "a"}}}
	if contentOf(c) == "" {
		t.Error("a chart has no content")
	}
	c.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: "db"}})
	if got := contentOf(c); got != "" {
		t.Errorf("a chart with a subchart has the content %s", got)
	}
}
