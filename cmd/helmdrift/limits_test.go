package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// deployed is the manifest of the release in these tests, and edited is the live object, which somebody changed.
const deployed = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {mode: a}
`

const edited = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: prod}
data: {mode: b}
`

// onPlane runs the program against a plane that serves a release with this manifest.
func onPlane(t *testing.T, manifest string, args ...string) (code int, r report.Report, stderr string) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	server, err := (&plane{}).start(kubeconfig, manifest, edited, "deployed")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	t.Setenv("HELM_KUBETOKEN", "hunter2")
	var out, complaints bytes.Buffer
	code = run(t.Context(), append(args, "--kubeconfig", kubeconfig, "-o", "json"), cli.Streams{In: strings.NewReader("fromStdin: s\n"), Out: &out, Err: &complaints, Env: os.Getenv})
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
	}
	return code, r, complaints.String()
}

// chartWith writes a chart with one template.
func chartWith(t *testing.T, template string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.0\n", "templates/all.yaml": template} {
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

// aliases returns a short manifest whose aliases expand it to n times 300 KB. The YAML library allows that.
func aliases(n int) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  a: &a " + strings.Repeat("x", 300_000) + "\n  b: [" +
		strings.TrimSuffix(strings.Repeat("*a, ", n), ", ") + "]\n"
}

// TestManifestOutOfBounds checks that a stored manifest that exceeds a limit is an error that names the release.
func TestManifestOutOfBounds(t *testing.T) {
	for name, test := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"many values": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: [" + strings.Repeat("{a},", 1<<20) + "]\n", []string{"--render-memory", "200Mi"},
			"Error: reading the manifest of revision 1 of web takes more memory than 200Mi\nHint: --render-memory allows more\n"},
		"many values to compare": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: [" + strings.Repeat("a,", 200_000) + "]\n", []string{"--render-memory", "200Mi"},
			"Error: comparing the manifest of revision 1 of web takes more memory than 200Mi\nHint: --render-memory allows more\n"},
		"time": {deployed + "# " + strings.Repeat("long ", 1<<20), []string{"--render-timeout", "1ns"},
			"Error: reading the manifest of revision 1 of web takes longer than 1ns\nHint: --render-timeout allows more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"diff", "fix"} {
				code, _, stderr := onPlane(t, test.manifest, append([]string{command, "web"}, test.args...)...)
				if code != cli.ExitFailure || stderr != test.want {
					t.Errorf("%s: exit %d, %s", command, code, stderr)
				}
			}
		})
	}
}

// TestAliases checks that aliases that expand a document to gigabytes are an error of that document only.
func TestAliases(t *testing.T) {
	code, r, stderr := onPlane(t, deployed+"---\n"+strings.ReplaceAll(aliases(900), "{name: web}", "{name: bomb}"), "diff", "web")
	if code != cli.ExitFailure || len(r.Releases) != 1 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	got := r.Releases[0]
	if len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "document 2 of the manifest: its aliases expand it to more than 3 MiB") {
		t.Errorf("errors %+v", got.Errors)
	}
	if len(got.Objects) != 1 || got.Objects[0].Name != "web" || !got.Objects[0].Drifted {
		t.Errorf("objects %+v", got.Objects)
	}
	if code, r, stderr = onPlane(t, strings.Replace(deployed, "{mode: a}", "{mode: a, b: &b text, c: *b}", 1), "diff", "web"); code != cli.ExitSelected || r.Releases[0].Objects[0].Name != "web" {
		t.Errorf("a few aliases: exit %d, %s", code, stderr)
	}
}

// TestChartOutOfBounds checks that the drift is reported whatever a chart does, together with the error of the chart.
func TestChartOutOfBounds(t *testing.T) {
	for name, test := range map[string]struct{ template, timeout, want string }{
		"one large text":    {`{{ repeat 3000000000 "x" }}`, "5m", "rendering the chart takes more memory than 200Mi; --render-memory allows more"},
		"one large list":    {`{{ range until 1000000000 }}{{ end }}`, "5m", "rendering the chart takes more memory than 200Mi; --render-memory allows more"},
		"many texts":        {`{{ range until 100000 }}{{ repeat 100000 "x" }}{{ end }}`, "5m", "rendering the chart takes more memory than 200Mi; --render-memory allows more"},
		"many values":       {"a: [{{ range until 1000000 }}{b},{{ end }}]", "5m", "rendering the chart takes more memory than 200Mi; --render-memory allows more"},
		"values to compare": {"kind: A\napiVersion: v1\nmetadata: {name: a}\na: [{{ range until 200000 }}b,{{ end }}]", "5m", "comparing what the chart renders takes more memory than 200Mi; --render-memory allows more"},
		"no end":            {`{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`, "1s", "rendering the chart takes longer than 1s; --render-timeout allows more"},
	} {
		t.Run(name, func(t *testing.T) {
			code, r, stderr := onPlane(t, deployed, "diff", "web", chartWith(t, test.template), "--render-memory", "200Mi", "--render-timeout", test.timeout)
			if code != cli.ExitFailure || len(r.Releases) != 1 {
				t.Fatalf("exit %d, %s", code, stderr)
			}
			got := r.Releases[0]
			if len(got.Errors) != 1 || got.Errors[0].Message != test.want {
				t.Errorf("errors %+v", got.Errors)
			}
			if !got.Drifted {
				t.Error("the drift is not told")
			}
		})
	}
}

// TestRecursion checks that for a template that calls itself, the error is the engine's, with file and line, and not the error of a
// limit.
func TestRecursion(t *testing.T) {
	chart := chartWith(t, `{{ define "again" }}{{ template "again" . }}{{ end }}{{ template "again" . }}`)
	_, r, stderr := onPlane(t, deployed, "diff", "web", chart, "--render-timeout", "5m")
	if len(r.Releases) != 1 || len(r.Releases[0].Errors) != 1 || r.Releases[0].Errors[0].File != "web/templates/all.yaml" {
		t.Errorf("%s, %+v", stderr, r.Releases)
	}
}

// TestIndexOutOfBounds checks that an index that takes many times its size in memory is an error, and that the drift is reported.
func TestIndexOutOfBounds(t *testing.T) {
	var index bytes.Buffer
	index.WriteString("apiVersion: v1\nentries:\n  web:\n")
	for i := range 120_000 { // the memory in use is far above the bound, whatever the collector does
		fmt.Fprintf(&index, "  - {name: web, version: 1.0.%d, apiVersion: v2, urls: [a, b, c]}\n", i)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(index.Bytes()) }))
	defer server.Close()
	code, r, stderr := onPlane(t, deployed, "diff", "web", "web", "--repo", server.URL, "--render-memory", "64Mi", "--render-timeout", "5m")
	if code != cli.ExitFailure || len(r.Releases) != 1 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	got := r.Releases[0]
	if len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "reading the index of the repository takes more memory than 64Mi; --render-memory allows more") {
		t.Errorf("errors %+v", got.Errors)
	}
	if !got.Drifted {
		t.Error("the drift is not told")
	}
}

// TestChartInAChild checks that a chart in a child gets what it needs from outside: values of every kind, lookups, the post-renderer.
func TestChartInAChild(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("f"), 0o600); err != nil {
		t.Fatal(err)
	}
	chart := chartWith(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  mode: {{ (lookup "v1" "ConfigMap" .Release.Namespace "web").data.mode }}-seen
  values: {{ .Values.fromStdin }}{{ .Values.fromFile }}{{ .Values.set }}{{ .Capabilities.KubeVersion.Minor }}
  token: {{ printf "%v" .Values | contains "hunter2" | quote }}
  rendered: not yet
`)
	args := []string{"diff", "web", chart, "-f", "-", "--set-file", "fromFile=" + file, "--set", "set=e", "--show-secrets",
		"--post-renderer", "sed", "--post-renderer-args", "s/not yet/twice/"}
	code, r, stderr := onPlane(t, deployed, args...)
	if code != cli.ExitClean && code != cli.ExitSelected || len(r.Releases) != 1 || len(r.Releases[0].Errors) > 0 {
		t.Fatalf("exit %d, %s, %+v", code, stderr, r)
	}
	got := map[string]string{}
	for _, f := range r.Releases[0].Objects[0].Fields {
		got[f.Path] = fmt.Sprint(f.Desired)
	}
	if got["data.values"] != "sfe36" || got["data.mode"] != "b-seen" || got["data.rendered"] != "twice" {
		t.Errorf("desired %v", got)
	}
	code, r, stderr = onPlane(t, deployed, "diff", "web", chart, "--set-file", "a="+t.TempDir())
	if code != cli.ExitFailure || len(r.Releases) != 1 || !strings.Contains(r.Releases[0].Errors[0].Message, "is a directory") {
		t.Errorf("a file that cannot be read: exit %d, %s, %+v", code, stderr, r.Releases)
	}
}
