package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testOrphanRights scans a namespace with three orphans for all of them, again without each right that the scan uses. It is never exit code
// 0. With code 2 the report has all of them, and with code 1 it has an error.
func testOrphanRights(c *fleetCluster) {
	release := c.install("orphan-rights", "web", configMap("stays", "1")+configMap("first", "1"))
	upgrade := func(template string) {
		must(c.t, os.WriteFile(filepath.Join(release.dir, "chart.yaml"), []byte(template), 0o600))
		must(c.t, release.helm(false, "upgrade", "chart.yaml"))
	}
	// Helm leaves what it is asked to keep, and afterwards nothing asks for it.
	policy := func(name, value string) {
		must(c.t, release.patch("kubectl-annotate", "configmap/"+name, "{metadata: {annotations: {helm.sh/resource-policy: "+value+"}}}"))
	}
	policy("first", "keep")
	upgrade(configMap("stays", "1") + configMap("second", "1"))
	policy("second", "keep")
	upgrade(configMap("stays", "1"))
	policy("first", "null")
	policy("second", "null")
	must(c.t, c.on.create(context.Background(), `{apiVersion: v1, kind: ConfigMap, metadata: {name: third, labels: {app.kubernetes.io/managed-by: Helm},
annotations: {meta.helm.sh/release-name: gone, meta.helm.sh/release-namespace: orphan-rights}}}`, "orphan-rights", "helm"))

	scan := func() scanRun {
		c.proxy.reset(permitReads)
		out, err := c.run("diff", "-n", "orphan-rights", "-o", "json", "--fail-on", "orphan")
		must(c.t, err)
		return out
	}
	names := func(r scanRun) string {
		var out []string
		if r.Scan != nil {
			for _, o := range r.Scan.Orphans {
				out = append(out, o.Name)
			}
		}
		return strings.Join(out, " ")
	}
	full := scan()
	if full.exit != 2 || names(full) != "first second third" {
		c.t.Fatalf("exit %d: %s\n%s", full.exit, names(full), full.stderr)
	}
	defer c.proxy.deny(nil)
	requests := distinctRequests(c.proxy.recorded())
	for _, request := range requests {
		c.proxy.deny(request.matches)
		out := scan()
		isComplete := out.exit == 2 && names(out) == "first second third"
		hasError := out.exit == 1 && (len(out.Errors) > 0 || out.Scan == nil || strings.Contains(out.stdout, `"error`))
		if !isComplete && !hasError {
			c.t.Errorf("without %s: exit %d, orphans %q\n%s", request, out.exit, names(out), out.stderr)
		}
	}
	if !slices.ContainsFunc(requests, func(r apiRequest) bool { return strings.HasSuffix(r.name, "web.v2") }) {
		c.t.Errorf("the scan did not read revision 2: %v", requests)
	}
}
