package render

import (
	"context"
	"slices"
	"testing"
)

// TestUndiscovered checks that an undiscovered group is reported only if a template of the chart may ask about it.
func TestUndiscovered(t *testing.T) {
	quiet(t)
	groups := []string{"dead.ex.com", "metrics.k8s.io"}
	for name, c := range map[string]struct {
		chart, given string
		want         []string
	}{
		"no template asks":             {chart: "-- templates/a.yaml --\na: dead.ex.com/v1\n"},
		"by its name":                  {chart: "-- templates/a.yaml --\na: {{ .Capabilities.APIVersions.Has \"dead.ex.com/v1\" }}\n", want: groups[:1]},
		"for another one":              {chart: "-- templates/a.yaml --\na: {{ .Capabilities.APIVersions.Has \"apps/v1\" }}\n"},
		"for the version alone":        {chart: "-- templates/a.yaml --\na: {{ .Capabilities.KubeVersion.Version }} # dead.ex.com\n"},
		"by a helper":                  {chart: "-- templates/_h.tpl --\n{{ define \"has\" }}{{ .context.Capabilities.APIVersions.Has .version }}{{ end }}\n-- templates/a.yaml --\na: {{ include \"has\" (dict \"version\" \"metrics.k8s.io/v1\" \"context\" $) }}\n", want: groups[1:]},
		"by a value":                   {chart: "-- templates/a.yaml --\na: {{ $.Capabilities.APIVersions.Has .Values.api }}\n", given: "api: dead.ex.com/v1\n", want: groups[:1]},
		"by the list":                  {chart: "-- templates/a.yaml --\na: {{ has \"x\" .Capabilities.APIVersions }}\n", want: groups},
		"by all of it":                 {chart: "-- templates/a.yaml --\n{{ $c := .Capabilities }}\na: {{ $c.KubeVersion.Version }}\n", want: groups},
		"by index":                     {chart: "-- templates/a.yaml --\na: {{ (index . \"Capabilities\").KubeVersion.Version }}\n", want: groups},
		"in a comment":                 {chart: "-- templates/a.yaml --\na: 1 {{/* .Capabilities.APIVersions, dead.ex.com */}}\n"},
		"in the notes":                 {chart: "-- templates/a.yaml --\na: 1\n-- templates/NOTES.txt --\n{{ .Capabilities.APIVersions }}\n"},
		"in a value for tpl":           {chart: "-- templates/a.yaml --\na: {{ tpl .Values.x . }}\n", given: "x: '{{ .Capabilities.APIVersions.Has \"metrics.k8s.io/v1beta1\" }}'\n", want: groups[1:]},
		"in a subchart, by its helper": {chart: "-- charts/s/Chart.yaml --\nname: s\nversion: 1.0.0\n-- charts/s/templates/a.yaml --\na: {{ .Capabilities.APIVersions.Has (printf \"%s/v1\" \"dead.ex.com\") }}\n", want: groups[:1]},
	} {
		path := chartOf(t, c.chart)
		bothHelms(t, func(t *testing.T, four bool) {
			o := webOptions(func(o *ChartOptions) { o.Path, o.Helm4, o.Previous, o.Undiscovered = path, four, Previous{}, groups })
			o.Values.Files = []string{valuesFile(t, c.given)}
			got, err := Chart(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Undiscovered, c.want) {
				t.Errorf("%s: %q, not %q", name, got.Undiscovered, c.want)
			}
		})
	}
}
