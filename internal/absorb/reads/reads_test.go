package reads

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestReads follows templates to the values that they read.
func TestReads(t *testing.T) {
	for text, want := range map[string]string{
		`{{ .Values.a.b }}{{ $.Values.c }}`:                                           "a.b c",
		`{{ with .Values.a }}{{ .b }}{{ end }}`:                                       "a.b a?",
		`{{ $v := .Values.a }}{{ if $v.on }}{{ $v.x | quote }}{{ end }}`:              "a.on? a.x",
		`{{ range $k, $v := .Values.m }}{{ $k }}={{ $v.x }}{{ end }}`:                 "m m.*.x m?",
		`{{ include "part" . }}`:                                                      "p.q",
		`{{ include "arg" (dict "value" .Values.z.y "context" $) }}`:                  "own z.y z.y?",
		`{{ toYaml (default .Values.d .Values.e) | nindent 2 }}`:                      "d e",
		`{{ index .Values "k-1" "x" }}{{ get .Values.g "h" }}`:                        "g.h k-1.x",
		`{{ dig "a" "b" "none" .Values.deep }}`:                                       "deep.a.b",
		`{{ range list .Values.a .Values.b }}{{ .x }}{{ end }}`:                       "a.x b.x",
		`{{ tpl .Values.text . }}`:                                                    "text",
		`{{ $d := dict }}{{ $_ := set $d "k" .Values.s }}{{ $d.k.t }}`:                "s.t",
		`{{ $x := "" }}{{ if true }}{{ $x = .Values.y }}{{ end }}{{ $x }}`:            "y",
		`{{ (.Values.a | default dict).b }}{{ if and .Values.p .Values.q }}{{ end }}`: "a.b p? q?",
	} {
		templates := []render.Template{
			{Path: "web/templates/x.yaml", Text: text},
			{Path: "web/templates/_h.tpl", Text: `{{ define "part" }}{{ .Values.p.q }}{{ end }}
{{ define "arg" }}{{ if .value }}{{ .value }}{{ end }}{{ .context.Values.own }}{{ end }}`},
		}
		var got []string
		for _, read := range Of(templates)["web/templates/x.yaml"].Values {
			name := nameOf(read)
			if read.OnlyTested {
				name += "?"
			}
			got = append(got, name)
		}
		slices.Sort(got)
		if shown := strings.Join(got, " "); shown != want {
			t.Errorf("%s reads %q, want %q", text, shown, want)
		}
	}
}

// TestReadsOfSubcharts follows a template of a subchart, whose values are below its name, and whose globals are those of the whole chart.
func TestReadsOfSubcharts(t *testing.T) {
	templates := []render.Template{{
		Path: "web/charts/db/templates/x.yaml", Values: []string{"db"}, Text: `{{ .Values.size }}{{ .Values.global.zone }}`,
	}}
	var got []string
	for _, read := range Of(templates)["web/charts/db/templates/x.yaml"].Values {
		got = append(got, nameOf(read))
	}
	if shown := strings.Join(got, " "); shown != "db.global.zone db.size global.zone" {
		t.Error(shown)
	}
}

// TestReadsOfAStar checks that a key called * is one key, and not any key.
func TestReadsOfAStar(t *testing.T) {
	templates := []render.Template{{
		Path: "web/templates/x.yaml", Text: `{{ index .Values "*" "x" }}{{ range .Values.m }}{{ .y }}{{ end }}{{ (dict "*" .Values.s).other }}`,
	}}
	var got []string
	for _, read := range Of(templates)["web/templates/x.yaml"].Values {
		for _, key := range read.Path {
			if key.Name == "*" || key.Any {
				got = append(got, fmt.Sprintf("%s %v", nameOf(read), key.Any))
			}
		}
	}
	if shown := strings.Join(got, ", "); shown != "*.x false, m.*.y true" {
		t.Error(shown)
	}
}

// nameOf returns the path of a read, with * for any key.
func nameOf(read Value) string {
	var names []string
	for _, key := range read.Path {
		if key.Any {
			key.Name = "*"
		}
		names = append(names, key.Name)
	}
	return strings.Join(names, ".")
}
