package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixedChart is a chart whose objects no value controls.
const fixedChart = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: front}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: docker.example/team/web:1.25
        env: [{name: COLOR, value: blue}, {name: MODE, value: fast}]
        ports: [{name: http, containerPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}, {name: admin, port: 81, targetPort: 81}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {app.conf: "timeout=30s\nyes: no\n", "on": "off"}
---
apiVersion: ex.com/v1
kind: Route
metadata: {name: web}
spec:
  host: web.example
  backends: [{name: a, port: 80}, {name: b, port: 80}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: before, annotations: {helm.sh/hook: pre-upgrade}}
data: {k: v}
`

// fixedObjects are the objects that the test edits.
var fixedObjects = []string{"deployment/web", "service/web", "configmap/web", "routes.v1.ex.com/web", "poddisruptionbudget/web"}

// TestAbsorbPatch edits fields that no value controls, and upgrades for real with the patches that absorb prints, the files of
// docs/absorb.md, and the commands of both majors of Helm: nothing in the cluster changes, and no drift is left.
func TestAbsorbPatch(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	must(t, os.Symlink(builtTool(t, "kubectl", "./cmd/kubectl"), filepath.Join(tools, "kubectl")))
	for _, major := range []string{"v3", "v4"} {
		t.Run(major, func(t *testing.T) {
			c := newCase(t, suite.cluster)
			c.env["PATH"] = tools + ":" + os.Getenv("PATH")
			must(t, os.WriteFile(filepath.Join(c.dir, "fixed.yaml"), []byte(fixedChart), 0o600))
			must(t, c.helm(major == "v4", "install", "fixed.yaml"))
			editFixed(t, c)
			before := stateOf(t, c)

			chart, err := c.chart("fixed.yaml")
			must(t, err)
			folder := savedPatches(t, c, chart)
			script := filepath.Join(folder, "post-render.sh")
			p := pluginRun{c: c, t: t, helm: helmProgram(t, major), data: t.TempDir(), path: tools + ":"}
			renderer := script
			if major == "v4" {
				p.mustRun(0, "plugin", "install", folder)
				renderer = "web-patches"
			}
			p.mustRun(0, "upgrade", c.release, chart, "-n", c.storage, "--kubeconfig", c.cluster.kubeconfig, "--post-renderer", renderer)

			if diff := cmp.Diff(before, stateOf(t, c)); diff != "" {
				t.Errorf("the upgrade moved (-before +after):\n%s", diff)
			}
			for _, args := range [][]string{{}, {c.release, chart, "--post-renderer", script}} {
				out, err := c.diff(append(args, "--fail-on", "effect,unmanaged")...)
				if err != nil || out.exit != 0 {
					t.Errorf("diff %s: %v, exit %d\n%s%s", args, err, out.exit, out.stdout, out.stderr)
				}
			}
		})
	}
}

// editFixed edits the objects as people do.
func editFixed(t *testing.T, c *Case) {
	t.Helper()
	must(t, c.patch("kubectl-edit", "deployment/web", `[{op: remove, path: /metadata/labels/tier},
		{op: replace, path: /spec/template/spec/containers/0/image, value: "docker.example/team/web:1.27"},
		{op: replace, path: /spec/template/spec/containers/0/env/1/value, value: slow},
		{op: add, path: /spec/template/spec/containers/0/env/1, value: {name: DEBUG, value: "1"}},
		{op: replace, path: /spec/template/spec/terminationGracePeriodSeconds, value: 60}]`))
	must(t, c.patch("kubectl-edit", "service/web", `[{op: replace, path: /spec/ports/1/port, value: 8081}]`))
	must(t, c.patch("kubectl-edit", "configmap/web", `{data: {app.conf: "timeout=60s\nyes: no\n"}}`))
	must(t, c.patch("kubectl-edit", "routes.v1.ex.com/web", `[{op: replace, path: /spec/backends/1/port, value: 8080}]`))
	must(t, c.cluster.delete(context.Background(), must1(c.ref("poddisruptionbudget/web"))(t)))
}

// must1 returns a value, or ends the test if there is an error.
func must1[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// stateOf returns the objects with their generations, which count the changes of what controllers act on.
func stateOf(t *testing.T, c *Case) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, name := range fixedObjects {
		if obj, err := c.cluster.get(t.Context(), must1(c.ref(name))(t)); err == nil {
			out[name], out[name+" generation"] = withoutServerFields(obj.Object), obj.GetGeneration()
		}
	}
	return out
}

// savedPatches saves what absorb prints in a folder, with the files that docs/absorb.md has for it.
func savedPatches(t *testing.T, c *Case, chart string) string {
	t.Helper()
	folder := filepath.Join(c.dir, "web-patches")
	must(t, os.Mkdir(folder, 0o755))
	out, err := c.binary("absorb", c.release, chart, "--unmanaged", "-o", "kustomize")
	if err != nil || out.exit != 2 || strings.Contains(out.stdout, "have no patch") {
		t.Fatalf("absorb: %v, exit %d\n%s%s", err, out.exit, out.stdout, out.stderr)
	}
	must(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(out.stdout), 0o600))
	page, err := os.ReadFile("../../docs/absorb.md")
	must(t, err)
	files := regexp.MustCompile("(?ms)^```\\w+\n((?:#![^\n]*\n)?# web-patches/(\\S+)\n.*?)^```$").FindAllStringSubmatch(string(page), -1)
	for _, file := range files {
		must(t, os.WriteFile(filepath.Join(folder, file[2]), []byte(file[1]), 0o755))
	}
	if len(files) != 2 {
		t.Fatalf("docs/absorb.md has %d files of web-patches", len(files))
	}
	return folder
}
