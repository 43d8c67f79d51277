package unknown

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestSharpen renders templates with values that are not known: text is not empty, any may be. The field f is then unknown, or the object
// is in doubt.
func TestSharpen(t *testing.T) {
	for _, tt := range []struct {
		name, template string
		// want is what f is: "unknown", or the text of it. doubt is set if the object is in doubt.
		want  string
		doubt bool
	}{
		{"no unknown value", `f: known`, "known", false},
		{"the value itself", `f: {{ .Values.text }}`, "unknown", false},
		{"a part of a text", `f: a-{{ .Values.text }}-b`, "unknown", false},
		{"encoded", `f: {{ .Values.text | b64enc }}`, "unknown", false},
		{"a hash", `f: {{ .Values.text | sha256sum }}`, "unknown", false},
		{"the beginning of a hash", `f: {{ .Values.text | sha1sum | trunc 8 | quote }}`, "unknown", false},
		{"a hash of several values", `f: {{ .Values | toJson | sha256sum }}`, "unknown", false},
		{"the beginning", `f: {{ .Values.text | trunc 5 }}`, "unknown", false},
		{"the length", `f: {{ len .Values.text | quote }}`, "unknown", false},
		{"upper case", `f: {{ .Values.text | upper }}`, "unknown", false},
		{"a number", `f: {{ len .Values.text }}`, "", true},
		{"random", `f: {{ randAlphaNum 9 }}`, "", false},
		{"if there is a text", `{{ if .Values.text }}f: known{{ end }}`, "known", false},
		{"if there is a value", `{{ if .Values.any }}f: known{{ end }}`, "known", true},
		{"unless there is a value", `{{ if not .Values.any }}f: known{{ end }}`, "", true},
		{"with a value", `{{ with .Values.any }}f: {{ . }}{{ end }}`, "unknown", false},
		{"a default", `f: {{ .Values.any | default "none" }}`, "unknown", false},
		{"a whole number", `f: {{ .Values.any | int }}`, "", true},
		{"a required value", `f: {{ required "it is needed" .Values.any }}`, "unknown", false},
		{"a refused value", `f: {{ if eq (.Values.text | trunc 4) "helm" }}{{ fail "no" }}{{ end }}known`, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"Chart.yaml":       "apiVersion: v2\nname: web\nversion: 1.0.0\n",
				"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  " + tt.template + "\n",
			} {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			q := drift.ChartRequest{
				Path: dir, Helm4: true, Install: true, ReleaseName: "web", Namespace: "shop", Capabilities: chartutil.DefaultCapabilities,
				Known: &drift.Secrets{}, Values: render.ValueOptions{Files: []string{"v"}},
				ReadFile: func(context.Context, string) ([]byte, error) {
					return []byte(`{"text":"` + Text + `","any":"` + Any + `"}`), nil
				},
			}
			answer, err := drift.RenderChart(t.Context(), q)
			if strings.Contains(tt.template, "fail") {
				answer = &drift.RenderedChart{}
			} else if err != nil {
				t.Fatal(err)
			}
			doubt, err := Sharpen(t.Context(), drift.RenderChart, q, answer)
			if err != nil {
				t.Fatal(err)
			}
			if (doubt != "") != tt.doubt {
				t.Errorf("in doubt: %q", doubt)
			}
			if tt.want == "" {
				return
			}
			data, _ := decodeNumbers(answer.Manifest[0].JSON).(map[string]any)["data"].(map[string]any)
			got := fmt.Sprint(data["f"])
			if holdsUnknown(got) {
				got = "unknown"
			}
			if got != tt.want {
				t.Errorf("f is %s, want %s", got, tt.want)
			}
		})
	}
}
