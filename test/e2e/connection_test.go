package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSeveralKubeconfigs sets KUBECONFIG to two files. One has the cluster and the other the context.
func TestSeveralKubeconfigs(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	must(t, c.scale("deployment/web", "5"))
	first, second := filepath.Join(c.dir, "first"), filepath.Join(c.dir, "second")
	must(t, os.WriteFile(first, []byte("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: far, user: \"\", namespace: "+c.ns+"}}]\n"), 0o600))
	must(t, os.WriteFile(second, []byte("apiVersion: v1\nkind: Config\ncurrent-context: b\nclusters: [{name: far, cluster: {server: \""+c.proxy.server.URL+"\"}}]\n"), 0o600))
	c.env["KUBECONFIG"] = strings.Join([]string{first, second}, string(filepath.ListSeparator))
	c.proxy.kubeconfig = "" // so that no flag names one
	out, err := c.diff()
	must(t, err)
	want(t, out, 2, `Deployment web: update drifted
  overwrite/drift spec.replicas old=2 desired=2 live=5 by:kubectl(scale)`)
}

// TestUnavailableAPIService has an API server of its own, because one unavailable APIService breaks discovery and the deletion of
// namespaces for everybody. The group of the APIService cannot be compared; everything else is, and another release stays clean. Helm
// patches an APIService like a custom resource.
func TestUnavailableAPIService(t *testing.T) {
	if os.Getenv(kubeconfigEnv) != "" {
		t.Skip("would break the cluster that " + kubeconfigEnv + " names")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p, err := startPlane(ctx, allComponents...)
	must(t, err)
	t.Cleanup(p.Stop)
	on, err := newCluster(p.Kubeconfig)
	must(t, err)
	must(t, on.installCRDs(ctx))
	c := newCase(t, on)
	must(t, c.helm(false, "install", "apiservice"))
	must(t, on.waitFor(ctx, ref{resource: "apiservice", name: "v1.dead.ex.com"}, "Available=False", isUnavailable))
	out, err := c.diff(c.release, "--fail-on", "drift,unmanaged,effect")
	must(t, err)
	want(t, out, 0, "")
	checkPreviewsOfUnavailableAPI(t, c)
	must(t, c.patch("kubectl-edit", "configmap/beside", "{data: {k: changed}}"))
	must(t, c.patch("kubectl-edit", "apiservice/v1.dead.ex.com", "[{op: replace, path: /spec/versionPriority, value: 99}]"))
	out, err = c.diff()
	must(t, err)
	want(t, out, 2, `ConfigMap beside: update drifted
  overwrite/drift data.k old="1" desired="1" live="changed" by:kubectl-edit
APIService v1.dead.ex.com: none drifted
  ignore/drift spec.versionPriority old=15 desired=15 live=99 by:kubectl-edit`)
}

// checkPreviewsOfUnavailableAPI checks that a group without discovery causes one warning of a preview, and only for a chart that asks for
// the group.
func checkPreviewsOfUnavailableAPI(t *testing.T, c *Case) {
	t.Helper()
	const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside}\n" +
		"data: {k: \"1\"} # {{ with .Values.asks }}{{ $.Capabilities.APIVersions.Has . }}{{ end }}\n"
	must(t, os.WriteFile(filepath.Join(c.dir, "asks.yaml"), []byte(template), 0o600))
	chart, err := c.chart("asks.yaml")
	must(t, err)
	const beginning = "discovery of group dead.ex.com failed: "
	for version, warns := range map[string]bool{"": false, "apps/v1": false, "dead.ex.com/v1": true} {
		out, err := c.diff(c.release, chart, "--set", "asks="+version)
		must(t, err)
		if got := strings.Count(out.stdout, beginning); got > 1 || (got == 1) != warns {
			t.Errorf("asking for %q there are %d warnings:\n%s", version, got, out.stdout)
		}
	}
}

func isUnavailable(service *unstructured.Unstructured) bool {
	return hasCondition(service, "Available", "False")
}
