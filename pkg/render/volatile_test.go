package render

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestVolatile has a chart for each kind of volatile value, and for texts that only look volatile. The field want has
// the lines that differ.
func TestVolatile(t *testing.T) {
	quiet(t)
	tests := []struct {
		name, chart, given string
		want               []string
	}{
		{name: "random password", chart: "-- templates/a.yaml --\na: 1\nb: {{ randAlphaNum 10 | b64enc }}\n", want: []string{"b"}},
		{name: "certificate authority", chart: "-- templates/a.yaml --\n{{ $ca := genCA \"ca\" 365 }}\na: {{ $ca.Cert | b64enc }}\nb: 1\n", want: []string{"a"}},
		{
			name: "checksum of a random template",
			chart: "-- templates/s.yaml --\np: {{ randAscii 9 | quote }}\n-- templates/t.yaml --\nq: 1\n-- templates/a.yaml --\n" +
				"sum: {{ include (print $.Template.BasePath \"/s.yaml\") . | sha256sum }}\nother: {{ include (print $.Template.BasePath \"/t.yaml\") . | sha256sum }}\n",
			want: []string{"sum", "p"},
		},
		{name: "day", chart: "-- templates/a.yaml --\nday: {{ now | date \"20060102\" | quote }}\nb: 1\n", want: []string{"day"}},
		{name: "year", chart: "-- templates/a.yaml --\nyear: {{ (now).Year }}\n", want: []string{"year"}},
		{name: "method", chart: "-- templates/a.yaml --\nunix: {{ now.Unix }}\nold: {{ (now | dateModify \"-24h\").Unix }}\n", want: []string{"unix", "old"}},
		{name: "in a condition", chart: "-- templates/a.yaml --\na: {{ if gt now.Unix 0 }}1{{ else }}{{ randAlpha 3 }}{{ end }}\n"},
		{name: "in a variable", chart: "-- templates/a.yaml --\n{{ $t := now }}{{ range $i, $d := list 1 2 }}\nk{{ $i }}: {{ $t | htmlDate }}-{{ $d }}\n{{ end }}\n", want: []string{"k0", "k1"}},
		{name: "in a defined template", chart: "-- templates/_h.tpl --\n{{ define \"x\" }}{{ with now }}{{ .Year }}{{ end }}{{ end }}\n-- templates/a.yaml --\na: {{ include \"x\" . }}\n", want: []string{"a"}},
		{name: "in a file that is included", chart: "-- templates/_f.yaml --\na: {{ now.Unix }}\n-- templates/a.yaml --\n{{ include (print $.Template.BasePath \"/_f.yaml\") . }}\n", want: []string{"a"}},
		{name: "in a file that is included by its name", chart: "-- templates/_f.yaml --\na: {{ now.Unix }}\n-- templates/a.yaml --\n{{ template \"web/templates/_f.yaml\" . }}\n", want: []string{"a"}},
		{name: "defined twice", chart: "-- templates/_f.tpl --\n{{ define \"x\" }}{{ now.Unix }}{{ end }}\n-- charts/s/Chart.yaml --\nname: s\nversion: 1.0.0\n" +
			"-- charts/s/templates/_f.tpl --\n{{ define \"x\" }}1{{ end }}\n-- templates/a.yaml --\na: {{ include \"x\" . }}\n", want: []string{"a"}},
		{name: "in a subchart", chart: "-- charts/s/Chart.yaml --\nname: s\nversion: 1.0.0\n-- charts/s/templates/a.yaml --\na: {{ uuidv4 }}\n", want: []string{"a"}},
		{name: "value for tpl", chart: "-- templates/a.yaml --\na: {{ tpl .Values.x . }}\n", given: "x: '{{ randAlphaNum 5 }}'\n", want: []string{"a"}},
		{name: "default value for tpl", chart: "-- values.yaml --\nx: [{text: '{{ now | date \"2006\" }}'}]\n-- templates/a.yaml --\na: {{ tpl (index .Values.x 0).text . }}\n", want: []string{"a"}},
		{name: "file for tpl", chart: "-- f.txt --\n{{ now | htmlDate }}\n-- templates/a.yaml --\na: {{ tpl (.Files.Get \"f.txt\") . }}\n", want: []string{"a"}},
		{name: "constant for tpl", chart: "-- templates/a.yaml --\na: {{ tpl \"{{ randNumeric 9 }}\" . }}\n", want: []string{"a"}},
		{name: "constant for tpl for tpl", chart: "-- templates/a.yaml --\na: {{ tpl \"{{ tpl \\\"{{ randNumeric 9 }}\\\" . }}\" . }}\n", want: []string{"a"}},
		{
			name:  "value that only looks like a template",
			chart: "-- templates/a.yaml --\na: {{ .Values.x | quote }}\nb: {{ tpl .Values.z . }}\nc: {{ now | htmlDate }}\n",
			given: "x: '{{ now }}'\nz: text\n", want: []string{"c"},
		},
		{name: "order of keys", chart: "-- templates/a.yaml --\na: {{ keys .Values.m | join \",\" }}\nb: {{ keys .Values.m | sortAlpha | join \",\" }}\n", given: "m: {x: 1, y: 2}\n", want: []string{"a"}},
		{name: "order of many keys", chart: "-- templates/a.yaml --\na: {{ keys .Values.m | first }}\nb: {{ keys .Values.m | len }}\n", given: "m: {a: 1, b: 2, c: 3, d: 4}\n", want: []string{"a"}},
		{name: "brace before an action", chart: "-- templates/a.yaml --\na: {{ now.Unix }}\nb: {{ if true }}{ {{- \"x\" -}} }{{ end }}\n", want: []string{"a"}},
		{name: "a clock that fails in another year", chart: "-- templates/a.yaml --\na: {{ randAlpha 9 }}\nb: {{ if ne (now | date \"2006\") .Values.year }}{{ fail \"too late\" }}{{ end }}\n",
			given: "year: '" + time.Now().Format("2006") + "'\n", want: []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := chartOf(t, tt.chart)
			bothHelms(t, func(t *testing.T, four bool) {
				o := webOptions(func(o *ChartOptions) { o.Path, o.Helm4, o.Previous = path, four, Previous{} })
				o.Values.Files = []string{valuesFile(t, tt.given)}
				got, err := Chart(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, differing(t, got)); diff != "" {
					t.Errorf("differing lines (-want +got):\n%s\n%s\n%s", diff, got.Manifest, got.Again)
				}
			})
		})
	}
}

// TestAtOnce checks that a rendering with a later clock comes with another one at the time of the first.
func TestAtOnce(t *testing.T) {
	quiet(t)
	const date, password = "day: {{ now | date \"20060102\" | quote }}\n", "password: {{ randAlphaNum 30 }}\n"
	tests := map[string]struct {
		template string
		same     bool
		want     []string
	}{
		"clock alone":         {template: date, same: true},
		"clock and random":    {template: date + password, want: []string{"password"}},
		"clock and unordered": {template: date + "names: {{ keys .Values.m | join \",\" }}\n", want: []string{"names"}},
		"random alone":        {template: password},
		"clock without trace": {template: "later: {{ gt now.Unix 0 }}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := chartOf(t, "-- values.yaml --\nm: {x: 1, y: 2}\n-- templates/a.yaml --\n"+tt.template)
			bothHelms(t, func(t *testing.T, four bool) {
				got, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path, o.Helm4, o.Previous = path, four, Previous{} }))
				if err != nil {
					t.Fatal(err)
				}
				if same := got.AtOnce == got.Manifest; same != tt.same {
					t.Errorf("AtOnce is the first rendering: %v, want %v", same, tt.same)
				}
				got.Again = got.AtOnce
				if diff := cmp.Diff(tt.want, differing(t, got)); diff != "" {
					t.Errorf("differing lines (-want +got):\n%s\n%s\n%s", diff, got.Manifest, got.AtOnce)
				}
			})
		})
	}
}

// differing returns the keys of the lines that the second rendering changes.
func differing(t *testing.T, r *Rendered) []string {
	t.Helper()
	if r.Again == "" {
		return nil
	}
	var keys []string
	for i, line := range strings.Split(blank(t, r.Manifest, r), "\n") {
		before := strings.Split(r.Manifest, "\n")[i]
		if line != before {
			key, _, _ := strings.Cut(before, ":")
			keys = append(keys, key)
		}
	}
	return keys
}

// TestRenderedOnce counts the lookups of charts, which happen as often as the chart is rendered.
func TestRenderedOnce(t *testing.T) {
	quiet(t)
	const look = "{{ lookup \"v1\" \"Secret\" .Release.Namespace \"shop\" | toJson | quote }}\n"
	tests := map[string]struct {
		chart string
		want  int32
	}{
		"stable":             {"-- templates/a.yaml --\na: " + look + "b: {{ .Values.x | default \"y\" | sha256sum }}\n", 1},
		"name in a comment":  {"-- templates/a.yaml --\na: " + look + "{{/* randAlphaNum 10 and now */}}\n# now, uuidv4\n", 1},
		"name in a constant": {"-- templates/a.yaml --\na: " + look + "b: {{ \"now {{ randAlphaNum\" | quote }}\n", 1},
		"name of a field":    {"-- templates/a.yaml --\na: " + look + "b: {{ .Values.now }}{{ $now := 1 }}{{ $now }}\n", 1},
		"value without tpl":  {"-- values.yaml --\nx: '{{ randAlpha 3 }}'\n-- templates/a.yaml --\na: " + look, 1},
		"subchart that is off": {"-- charts/s/Chart.yaml --\nname: s\nversion: 1.0.0\n-- charts/s/templates/a.yaml --\na: {{ uuidv4 }}\n" +
			"-- requirements.yaml --\ndependencies: [{name: s, version: 1.0.0, condition: s.lit}]\n-- values.yaml --\ns: {lit: false}\n-- templates/a.yaml --\na: " + look, 1},
		"helper that nobody includes": {"-- templates/_h.tpl --\n{{ define \"r\" }}{{ now }}{{ end }}{{ define \"s\" }}s{{ end }}\n-- templates/a.yaml --\na: " + look +
			"b: {{ include \"s\" . }}\nc: {{ include (print $.Template.BasePath \"/b.yaml\") . | sha256sum }}\n-- templates/b.yaml --\n", 1},
		"helper that may be included": {"-- templates/_h.tpl --\n{{ define \"r\" }}{{ now }}{{ end }}{{ define \"s\" }}s{{ end }}\n-- templates/a.yaml --\na: " + look +
			"b: {{ include (.Values.x | default \"s\") . }}\n", 2},
		"helper of a helper": {"-- templates/_h.tpl --\n{{ define \"r\" }}{{ if false }}{{ now }}{{ end }}{{ end }}{{ define \"s\" }}{{ template \"r\" }}{{ end }}\n-- templates/a.yaml --\na: " + look +
			"b: {{ include \"s\" . | quote }}\n", 2},
		"random":       {"-- templates/a.yaml --\na: " + look + "b: {{ randAlphaNum 5 }}\n", 2},
		"random kept":  {"-- templates/a.yaml --\na: " + look + "b: {{ if false }}{{ randAlphaNum 5 }}{{ end }}\n", 2},
		"host, no DNS": {"-- templates/a.yaml --\na: " + look + "b: {{ getHostByName \"localhost\" }}\n", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bothHelms(t, func(t *testing.T, four bool) {
				config, asked := cluster(t)
				o := webOptions(func(o *ChartOptions) { o.Path, o.Helm4, o.Lookup = chartOf(t, tt.chart), four, config })
				got, err := Chart(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				if asked.Load() != tt.want || !strings.Contains(got.Manifest, "a2VwdA==") {
					t.Errorf("%d lookups, want %d, in\n%s", asked.Load(), tt.want, got.Manifest)
				}
			})
		})
	}
}

// TestPrintedTemplatesRenderAlike checks that a changed template, which is printed from its parse trees, renders the
// same text.
func TestPrintedTemplatesRenderAlike(t *testing.T) {
	quiet(t)
	names, err := filepath.Glob("testdata/rendered/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	lookup, _ := cluster(t)
	options := map[string]ChartOptions{"web": webOptions(nil)}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(archive.Comment), "volatile") {
			continue
		}
		o := webOptions(func(o *ChartOptions) { o.Helm4, o.Lookup, o.Previous = true, lookup, Previous{} })
		o.Path, o.Values.Files = unpack(t, archive)
		options[name] = o
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			values, _, err := options[name].Values.chooseValues(options[name].Previous)
			if err != nil {
				t.Fatal(err)
			}
			r := renderer{ChartOptions: options[name], values: values}
			var manifests [2]string
			for i := range manifests {
				p, err := r.prepare()
				if err != nil {
					t.Fatal(err)
				}
				if i == 1 {
					printAll(t, p)
				}
				if manifests[i], _, err = r.render(context.Background(), p); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(manifests[0], manifests[1]); diff != "" {
				t.Errorf("(-as written +as printed):\n%s", diff)
			}
		})
	}
}

func printAll(t *testing.T, p prepared) {
	t.Helper()
	templates, _ := p.chart.tree().sources()
	for _, source := range templates {
		trees, err := parseTemplate(string(*source.data))
		if err != nil {
			t.Fatal(err)
		}
		for _, tree := range trees {
			walkNode(tree.Root, func(parse.Node) {})
		}
		*source.data = []byte(printTemplate(trees))
	}
}
