package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// TestReadingBudget checks the cost of one comparison of 42 objects of 9 kinds: at most 20 requests, with drift and without.
func TestReadingBudget(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "many"))
	out, err := c.diff()
	must(t, err)
	want(t, out, 0, "")
	if got := out.report.Summary["objects"]; fmt.Sprint(got) != "42" {
		t.Fatalf("the release has %v objects", got)
	}
	clean := out.traffic
	must(t, c.scale("deployment/many-1", "3"))
	must(t, c.patch("kubectl-edit", "thing/many-1", "{spec: {max: 99}}"))
	out, err = c.diff()
	must(t, err)
	if out.exit != 2 {
		t.Fatalf("exit %d\n%s", out.exit, strings.Join(out.report.lines(), "\n"))
	}
	for name, passed := range map[string]traffic{"clean": clean, "drifted": out.traffic} {
		t.Logf("%s: %d requests, %d bytes", name, len(passed.requests), passed.bytes)
		if len(passed.requests) > 20 {
			t.Errorf("%s: %d requests\n%s", name, len(passed.requests), strings.Join(passed.requests, "\n"))
		}
	}
}

// TestServerSideBudget checks that a release of native kinds needs no more requests if Helm 4 applies it server-side than if it patches
// it, with drift and without.
func TestServerSideBudget(t *testing.T) {
	t.Parallel()
	spent := map[string]map[string][]string{}
	for _, side := range []string{"--server-side=false", "--server-side=true"} {
		c := newCase(t, suite.cluster)
		must(t, os.WriteFile(filepath.Join(c.dir, "native.yaml"), []byte(nativeTemplate), 0o600))
		must(t, c.helm(true, "install", side, "native.yaml"))
		spent[side] = map[string][]string{"clean": c.requests(t, 0)}
		must(t, c.scale("deployment/web-1", "3"))
		must(t, c.patch("kubectl-edit", "configmap/web-1", "{data: {k: edited}}"))
		must(t, c.patch("kubectl-edit", "service/web-2", "{spec: {selector: {tier: gold}}}"))
		must(t, c.patch("kubectl-patch", "horizontalpodautoscalers.v1.autoscaling/web-2", "{spec: {maxReplicas: 9}}"))
		spent[side]["drifted"] = c.requests(t, 2)
	}
	for state, client := range spent["--server-side=false"] {
		server := spent["--server-side=true"][state]
		t.Logf("%s: %d requests client-side, %d server-side", state, len(client), len(server))
		if len(server) > len(client) {
			t.Errorf("%s: %d requests client-side, %d server-side:\n%s", state, len(client), len(server), strings.Join(server, "\n"))
		}
	}
}

// requests returns the requests of one comparison.
func (c *Case) requests(t *testing.T, exit int) []string {
	t.Helper()
	out, err := c.diff()
	must(t, err)
	if out.exit != exit {
		t.Fatalf("exit %d\n%s", out.exit, strings.Join(out.report.lines(), "\n"))
	}
	return out.traffic.requests
}

const nativeTemplate = `{{ range $i := until 6 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web-{{ $i }}}
data: {k: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: web-{{ $i }}}
spec: {selector: {app: web-{{ $i }}}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-{{ $i }}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web-{{ $i }}}}
  template: {metadata: {labels: {app: web-{{ $i }}}}, spec: {containers: [{name: c, image: "nginx:1.25"}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web-{{ $i }}}
spec: {maxReplicas: 1, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}
{{ end }}
`

// TestFluxBudget checks that what Flux does next with many HelmReleases needs one request for each of them, for its record, and one list
// of the records of all, before and after.
func TestFluxBudget(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--next"}, {"--from", "repo/clusters"}} {
		t.Run(args[0], func(t *testing.T) {
			const few, many = 3, 9
			small, large := fluxRequests(t, few, args...), fluxRequests(t, many, args...)
			t.Logf("%d HelmReleases: %d requests, %d: %d", few, len(small), many, len(large))
			if len(large)-len(small) > many-few {
				t.Errorf("%d requests for %d HelmReleases, and %d for %d:\n%s", len(small), few, len(large), many, strings.Join(large, "\n"))
			}
			for _, list := range []string{"/helmreleases?", "/helmcharts?", "/gitrepositories?", "/version"} {
				if n := countRequests(large, list); n > 1 {
					t.Errorf("%d requests for %s:\n%s", n, list, strings.Join(large, "\n"))
				}
			}
		})
	}
}

// fluxRequests returns the requests of diff about so many HelmReleases, whose charts are in a tree. The tree changes the values of each.
func fluxRequests(t *testing.T, n int, args ...string) []string {
	t.Helper()
	c := newCase(t, suite.cluster)
	files := map[string]string{
		".git/config":                 "[remote \"origin\"]\n\turl = https://git.example.com/shop\n",
		"charts/web/Chart.yaml":       "{apiVersion: v2, name: web, version: 1.0.0}",
		"charts/web/templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Release.Name }}}, data: {k: {{ .Values.k | default 1 | quote }}}}",
		"clusters/apps.yaml": fmt.Sprintf("{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps, namespace: %s},\n"+
			"spec: {path: ./apps, sourceRef: {kind: GitRepository, name: git}}}", c.ns),
	}
	const source = "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: git}, spec: {url: 'https://git.example.com/shop'}}"
	must(t, c.cluster.create(t.Context(), source, c.ns, "flux"))
	for i := range n {
		name := fmt.Sprintf("web-%d", i)
		files["apps/"+name+".yaml"] = fmt.Sprintf("{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: %s, namespace: %s},\n"+
			"spec: {chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: git}}}, values: {k: 2}}}", name, c.ns)
	}
	for name, text := range files {
		file := filepath.Join(c.dir, "repo", name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
	}
	for i := range n {
		c.release = fmt.Sprintf("web-%d", i)
		must(t, c.helm(true, "install", "repo/charts/web"))
		must(t, c.cluster.create(t.Context(), files["apps/"+c.release+".yaml"], c.ns, "kustomize-controller"))
		made := fmt.Sprintf("{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: %s-%s}, spec: {chart: charts/web, version: '*',\n"+
			"sourceRef: {kind: GitRepository, name: git}, reconcileStrategy: ChartVersion}, status: {observedGeneration: 1, artifact: {revision: 1.0.0}}}",
			c.ns, c.release)
		must(t, c.cluster.create(t.Context(), made, c.ns, "flux"))
	}
	out, err := c.binary(append([]string{"diff", "-o", "json"}, args...)...)
	must(t, err)
	if got := strings.Count(out.stdout, `"action": "upgrade"`); got < n {
		t.Fatalf("%d upgrades, exit %d\n%s%s", got, out.exit, out.stdout, out.stderr)
	}
	return out.traffic.requests
}

// countRequests counts the requests that contain a text.
func countRequests(all []string, part string) (n int) {
	for _, request := range all {
		if strings.Contains(request+"?", part) {
			n++
		}
	}
	return n
}

// TestForeignObjects creates 5,000 other ConfigMaps next to the release, half of them with Helm's label. They must not multiply what is
// read.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "many"))
	before, err := c.diff()
	must(t, err)
	must(t, c.createConfigMaps(5000))
	after, err := c.diff()
	must(t, err)
	want(t, after, 0, "")
	t.Logf("alone: %d requests, %d bytes; next to 5,000 others: %d requests, %d bytes", len(before.traffic.requests), before.traffic.bytes,
		len(after.traffic.requests), after.traffic.bytes)
	if after.traffic.bytes > 2*before.traffic.bytes {
		t.Errorf("%d bytes became %d", before.traffic.bytes, after.traffic.bytes)
	}
	if len(after.traffic.requests) > len(before.traffic.requests)+10 {
		t.Errorf("%d requests became %d:\n%s", len(before.traffic.requests), len(after.traffic.requests), strings.Join(after.traffic.requests, "\n"))
	}
}

// createConfigMaps creates n ConfigMaps. Every other one has the label that lists select.
func (c *Case) createConfigMaps(n int) error {
	text := strings.Repeat("x", 500)
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(32)
	var made atomic.Int64
	for range n {
		group.Go(func() error {
			i := made.Add(1)
			labels := "{}"
			if i%2 == 0 {
				labels = "{app.kubernetes.io/managed-by: Helm}"
			}
			// The names sort before and after those of the release.
			name := fmt.Sprintf("%c-%d", 'a'+rune(i%26), i)
			return c.cluster.create(ctx, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: %s}, data: {k: %s}}", name, labels, text), c.ns, "other")
		})
	}
	return group.Wait()
}
