package render

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const helpers = `-- templates/_h.tpl --
{{- define "x" -}}
a
{{ .Values.a.b.c }}
{{- end -}}
{{- define "y" -}}
{{- include "x" . -}}
{{- end -}}
{{- define "loop" -}}
{{- include "loop" . -}}
{{- end -}}
-- values.yaml --
a: {}
-- snippet.txt --
one
{{ .Values.a.b.c }}
`

// TestErrors checks the place, the message and the hint of each error that a template can cause, with both Helms.
func TestErrors(t *testing.T) {
	quiet(t)
	const file = "web/templates/c.yaml"
	const passwords = "PASSWORDS ERROR: You must provide your current passwords when upgrading the release.\n\n    'auth.password' must not be empty, set:\n      --set auth.password=$PASSWORD"
	lookup, _ := cluster(t)
	tests := []struct {
		name, template string
		want           Error
		helm           string
		change         func(*ChartOptions)
	}{
		{name: "fail", template: "k: v\n{{ fail \"told: so\" }}", want: Error{File: file, Line: 2, Message: "told: so"}},
		{name: "required", template: "k: v\n{{ required \"need: a\" .Values.z }}", want: Error{File: file, Line: 2, Message: "need: a"}},
		{name: "required below", template: "{{ define \"r\" }}{{ required \"need\" .z }}{{ end }}\n\n{{ include \"r\" .Values }}", want: Error{File: file, Line: 3, Message: "need"}},
		{
			name: "passwords", template: "k: v\n{{ printf \"\\n%s\\n\" " + strconv.Quote(passwords) + " | fail }}",
			want:   Error{File: file, Line: 2, Message: passwords, Advice: hintPasswords},
			change: func(o *ChartOptions) { o.Lookup = lookup },
		},
		{
			name: "passwords without a cluster", template: "{{ fail \"PASSWORDS ERROR: none  \" }}",
			want: Error{File: file, Line: 1, Message: "PASSWORDS ERROR: none", Advice: hintNoLookup},
		},
		{
			name: "a value printed", template: "{{ fail (printf \"%s and %s are not\" .Values.p .Values.q) }}",
			want:   Error{File: file, Line: 1, Message: "*** and short are not"},
			change: func(o *ChartOptions) { o.Values.Set = []string{"p=hunter22", "q=short"} },
		},
		{name: "nil", template: "k: v\n{{ .Values.a.b.c }}", want: Error{File: file, Line: 2, Message: "nil pointer evaluating interface {}.c (at <.Values.a.b.c>)"}},
		{
			name: "in an included template", template: "k: v\n{{ include \"y\" . }}",
			want: Error{File: "web/templates/_h.tpl", Line: 3, Message: "nil pointer evaluating interface {}.c (at <.Values.a.b.c>, included from web/templates/c.yaml:2)"},
		},
		{name: "missing template", template: "{{ include \"nope\" . }}", want: Error{File: file, Line: 1, Message: "no template \"nope\" associated with template \"gotpl\" (at <include \"nope\" .>)"}},
		{
			name: "template without an end", template: "{{ include \"loop\" . }}",
			want: Error{File: "web/templates/_h.tpl", Line: 9, Message: "rendering template has a nested reference name: loop: unable to execute template (at <include \"loop\" .>, included from web/templates/c.yaml:1)"},
		},
		{name: "function", template: "k: v\n{{ mustRegexMatch \"(\" \"x\" }}", want: Error{File: file, Line: 2, Message: "error parsing regexp: missing closing ): `(` (at <mustRegexMatch \"(\" \"x\">)"}},
		{name: "type", template: "k: {{ 1 | trunc \"x\" }}", want: Error{File: file, Line: 1, Message: "expected integer; found \"x\" (at <\"x\">)"}},
		{name: "parse", template: "k: v\n{{ if }}", want: Error{File: file, Line: 2, Message: "missing value for if"}},
		{name: "unclosed", template: "k: v\n{{ .x ", want: Error{File: file, Line: 3, Message: "unclosed action started at web/templates/c.yaml:2"}},
		{name: "unknown function", template: "k: {{ toYamll . }}", want: Error{File: file, Line: 1, Message: "function \"toYamll\" not defined"}},
		{name: "function of Helm 4", template: "k: {{ mustToYaml . }}", want: Error{File: file, Line: 1, Message: "function \"mustToYaml\" not defined", Advice: hintHelm4}, helm: "3"},
		{
			name: "function of Helm 4 for tpl", template: "k: {{ tpl \"{{ durationDays 1 }}\" . }}",
			want: Error{File: file, Line: 1, Message: "function \"durationDays\" not defined (in a text given to tpl)", Advice: hintHelm4}, helm: "3",
		},
		{name: "tpl", template: "k: {{ tpl \"pre {{ .Values.a.b.c }} \\\"q\\\"\" . }}", want: Error{File: file, Line: 1, Message: "nil pointer evaluating interface {}.c (at <.Values.a.b.c>, in a text given to tpl)"}},
		{name: "tpl of a file", template: "\n\nk: {{ tpl (.Files.Get \"snippet.txt\") . }}", want: Error{File: file, Line: 3, Message: "nil pointer evaluating interface {}.c (at <.Values.a.b.c>, in a text given to tpl)"}},
		{name: "tpl fails", template: "k: {{ tpl \"{{ fail \\\"inner\\\" }}\" . }}", want: Error{File: file, Line: 1, Message: "inner"}},
		{name: "value that is no list", template: "{{ range .Values.text }}{{ end }}", want: Error{File: file, Line: 1, Message: "range can't iterate over this value (at <.Values.text>)"},
			change: func(o *ChartOptions) { o.Values.Set = []string{"text=plain"} }},
		{name: "rendered text", template: "k: v\n  x: y\n z", want: Error{File: file, Message: "the rendered text cannot be read as YAML: line 2: mapping values are not allowed in this context"}},
		{name: "rendered type", template: "k: v\nmetadata: x", want: Error{File: file, Message: "in the rendered text, metadata holds a value that is not a map"}},
		{
			name: "lookup forbidden", template: "\nk: {{ lookup \"v1\" \"ConfigMap\" \"prod\" \"x\" }}",
			want: Error{File: file, Line: 2, Message: "the server says no (at <lookup \"v1\" \"ConfigMap\" \"prod\" \"x\">)", Advice: hintLookup}, change: func(o *ChartOptions) { o.Lookup = lookup },
		},
		{
			name: "old Kubernetes", template: "a: b\n-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>=1.99'",
			want: Error{File: "web/Chart.yaml", Message: "chart requires kubeVersion: >=1.99 which is incompatible with Kubernetes v1.36.3", Advice: hintKubeVersion},
		},
		{
			name: "missing dependency", template: "a: b\n-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: redis, version: 1.0.0}, {name: db, version: 1.0.0}]",
			want: Error{File: "web/Chart.yaml", Message: "found in Chart.yaml, but missing in charts/ directory: redis, db", Advice: hintDependencies},
		},
		{
			name: "library installed", template: "a: b\n-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\ntype: library",
			want: Error{File: "web/Chart.yaml", Message: "library charts are not installable"}, change: func(o *ChartOptions) { o.Install = true },
		},
		{
			name: "schema", template: "a: b\n-- values.schema.json --\n{\"properties\": {\"port\": {\"type\": \"integer\"}, \"word\": {\"pattern\": \"^a\"}}}",
			want: Error{File: "web/values.schema.json", Advice: hintSchema, Message: "values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n" +
				"- at '/port': got string, want integer\n- at '/word': the value does not match pattern '^a'"},
			change: func(o *ChartOptions) { o.Values.Set = []string{"port=many", "word=it's not\\, that's it"} },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := chartOf(t, helpers+"-- templates/c.yaml --\n"+tt.template+"\n")
			bothHelms(t, func(t *testing.T, four bool) {
				if four && tt.helm == "3" {
					t.Skip("Helm 4 has it")
				}
				_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) {
					o.Path, o.Helm4 = path, four
					if tt.change != nil {
						tt.change(o)
					}
				}))
				var got *Error
				if !errors.As(err, &got) {
					t.Fatalf("error %v", err)
				}
				if diff := cmp.Diff(tt.want, *got, cmp.AllowUnexported(Error{})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestErrorText checks that an error begins with file and line, like those of compilers.
func TestErrorText(t *testing.T) {
	for want, e := range map[string]Error{
		"web/a.yaml:3: broken": {File: "web/a.yaml", Line: 3, Message: "broken"},
		"web/a.yaml: broken":   {File: "web/a.yaml", Message: "broken"},
		"broken":               {Message: "broken"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

// TestChartFailsLikeHelm checks that Chart fails where Helm fails.
func TestChartFailsLikeHelm(t *testing.T) {
	quiet(t)
	tests := map[string]func(*ChartOptions){
		"kubeVersion":    func(o *ChartOptions) { o.Capabilities.KubeVersion.Version = "v1.19.0" },
		"values schema":  func(o *ChartOptions) { o.Values.Set = []string{"replicas=many"} },
		"failing chart":  func(o *ChartOptions) { o.Values.Set = []string{"failure=told so"} },
		"template error": func(o *ChartOptions) { o.Values.Literal = []string{"motto={{ .Values.motto.deep }}"} },
		"rendered text":  func(o *ChartOptions) { o.Values.Set = []string{"badYAML=a: b: c"} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			bothHelms(t, func(t *testing.T, four bool) {
				o := webOptions(change)
				o.Helm4 = four
				if _, err := dryRun(t, o); err == nil {
					t.Error("helm renders it")
				}
				var fault *Error
				if _, err := Chart(context.Background(), o); !errors.As(err, &fault) {
					t.Errorf("error %v", err)
				}
			})
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
		{"no such chart", func(o *ChartOptions) { o.Path = "bitnami/nginx" }, []string{"bitnami/nginx", "no such file", hintNoChart}},
		{"not a chart", func(o *ChartOptions) { o.Path = "testdata" }, []string{"testdata", "Chart.yaml file is missing"}},
		{"not an archive", func(o *ChartOptions) { o.Path = "chart_test.go" }, []string{"chart_test.go", "archive"}},
		{"missing dependency", func(o *ChartOptions) { o.Path = "testdata/charts/umbrella" },
			[]string{"umbrella/Chart.yaml: found in Chart.yaml, but missing in charts/ directory: redis", "helm dependency build"}},
		{"no capabilities", func(o *ChartOptions) { o.Capabilities = nil }, []string{"capabilities"}},
		{"no such file", func(o *ChartOptions) { o.Values.Files = []string{"nope.yaml"} }, []string{"reading values", "nope.yaml"}},
		{"template place", func(o *ChartOptions) { o.Values.Set = []string{"failure=told so"} },
			[]string{"web/templates/extra.yaml:7: told so"}},
		{"endless message", func(o *ChartOptions) {
			o.Path = chartOf(t, "-- templates/c.yaml --\n{{ fail (repeat 10000 \"long \") }}\n")
		},
			[]string{"long long", " …"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Chart(context.Background(), webOptions(tt.change))
			if err == nil {
				t.Fatal("no error")
			}
			text := err.Error()
			var advice interface{ Hint() string }
			if errors.As(err, &advice) {
				text += "\n" + advice.Hint()
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("error %q lacks %q", text, want)
				}
			}
			if len(text) > maxMessage+200 {
				t.Errorf("an error of %d bytes", len(text))
			}
		})
	}
}

// TestChartErrorsQuoteNoSecrets checks that no error quotes a known secret, a rendered text, or a values file.
func TestChartErrorsQuoteNoSecrets(t *testing.T) {
	quiet(t)
	const schema = "-- values.schema.json --\n{\"properties\": {\"plain\": {\"pattern\": \"^a\", \"format\": \"ipv4\", \"enum\": [1]}, \"auth\": {\"type\": \"integer\"}}}\n"
	tests := map[string]struct {
		chart, template, values string
		set                     []string
	}{
		"rendered, syntax":       {template: "{{ .Values.x }}", values: `x: "a: canary: canary"`},
		"rendered, decode":       {template: "metadata: {{ .Values.x }}", values: `x: "{? {a: canary} : canary}"`},
		"rendered, kind":         {template: "metadata: {{ .Values.x }}", values: `x: canary`},
		"file, syntax":           {values: "a: canary: canary\n"},
		"file, decode":           {values: "{? {a: canary} : canary}\n"},
		"file, not a map":        {values: "canary\n"},
		"failure":                {template: "{{ fail .Values.auth.password }}", values: "auth: {password: canary}"},
		"failure, all values":    {template: "{{ fail (toYaml .Values) }}", values: "auth: {password: canary, tokens: [canary]}\nurl: https://me:canary@example.com"},
		"failure, encoded":       {template: "{{ fail (b64enc .Values.auth.password) }}", values: "auth: {password: canary}"},
		"failure, set":           {template: "{{ fail .Values.auth.token }}", set: []string{"auth.token=canary"}},
		"failure, env":           {template: "{{ fail (toJson .Values.env) }}", values: "env: [{name: DB_PASSWORD, value: canary}]"},
		"text for tpl":           {template: "{{ tpl .Values.x . }}", values: "x: 'canary {{ .Values.a.b.c }}'"},
		"text for tpl, syntax":   {template: "{{ tpl .Values.x . }}", values: "x: 'canary {{ if }}'"},
		"not iterable":           {template: "{{ range .Values.x }}{{ end }}", values: "x: canary"},
		"function":               {template: "{{ mustFromJson .Values.apiKey }}", values: "apiKey: canary"},
		"duration":               {template: "{{ mustDateModify .Values.secret now }}", values: "secret: canary"},
		"schema, plain":          {chart: schema, values: "plain: canary"},
		"schema, quotes":         {chart: schema, values: "plain: \"b' does not match pattern 'canary\\n- at 'x': canary\""},
		"schema, wrong type":     {chart: schema, values: "auth: {password: canary}"},
		"values of the record":   {template: "{{ fail .Values.recorded.password }}"},
		"defaults of the record": {template: "{{ fail .Values.old.password }}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := chartOf(t, tt.chart+"-- templates/c.yaml --\n"+tt.template+"\n")
			bothHelms(t, func(t *testing.T, four bool) {
				_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) {
					o.Path, o.Helm4, o.Values.Set = path, four, tt.set
					o.Previous.Config = map[string]any{"recorded": map[string]any{"password": "canary"}}
					o.Previous.Values = map[string]any{"old": map[string]any{"password": "canary"}}
					if tt.values == "" {
						o.Values.Reuse = ReuseValues
					} else {
						o.Values.Files = []string{valuesFile(t, tt.values)}
					}
				}))
				if err == nil {
					t.Fatal("no error")
				}
				for _, form := range []string{"canary", "Y2FuYXJ5"} {
					if strings.Contains(err.Error(), form) {
						t.Errorf("error %q", err)
					}
				}
				if strings.HasPrefix(name, "rendered") && !strings.Contains(err.Error(), "web/templates/c.yaml") {
					t.Errorf("error %v does not name the template", err)
				}
			})
		})
	}
}
