package e2e

import (
	"context"
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
