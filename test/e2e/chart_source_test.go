package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChartSources takes the same chart from every source that Helm accepts. The answer is always the same.
func TestChartSources(t *testing.T) {
	t.Parallel()
	s := startChartServer(t)
	c := driftedCase(t)
	c.nameRepository(t, s)
	packed := s.URL + "/repo/web-1.2.0.tgz"
	for _, args := range [][]string{
		{"oci://" + s.image(), "--version", "1.2.0", "--plain-http"},
		{"oci://" + s.image(), "--version", "^1.0.0", "--plain-http"},
		{"oci://" + s.image() + ":1.2.0", "--plain-http"},
		{"oci://" + s.image(), "--plain-http", "--helm-version", "4"},
		{packed},
		{"web", "--repo", s.URL + "/repo"},
		{"web", "--repo", s.URL + "/repo", "--version", "~1.2"},
		{"shop/web"},
		{filepath.Join(s.dir, "web-1.2.0.tgz")},
	} {
		out, err := c.diff(append(append([]string{c.release}, args...), "--set", "replicas=3")...)
		must(t, err)
		want(t, out, 2, `Deployment web: update drifted
  overwrite/both spec.replicas old=2 desired=3 live=5 by:kubectl(scale)`)
	}
}

// driftedCase installs a release with one field that drifted.
func driftedCase(t *testing.T) *Case {
	t.Helper()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	must(t, c.scale("deployment/web", "5"))
	return c
}

// nameRepository does what helm repo add and helm repo update do for a server, under the name shop.
func (c *Case) nameRepository(t *testing.T, s *chartServer) {
	t.Helper()
	config, cache := filepath.Join(c.dir, "repositories.yaml"), filepath.Join(c.dir, "cache")
	index, err := os.ReadFile(filepath.Join(s.dir, "index.yaml"))
	must(t, err)
	must(t, os.MkdirAll(cache, 0o755))
	must(t, os.WriteFile(filepath.Join(cache, "shop-index.yaml"), index, 0o644))
	must(t, os.WriteFile(config, []byte("apiVersion: \"\"\nrepositories: [{name: shop, url: \""+s.URL+"/repo\"}]\n"), 0o600))
	c.env["HELM_REPOSITORY_CONFIG"], c.env["HELM_REPOSITORY_CACHE"] = config, cache
}

// canary is a secret on the command line or in a values file; no output may contain it.
const canary = "hunter2-CANARY"

// TestChartSourceFaults checks that every fault of a chart source is reported clearly and within its time limit, that the drift is
// reported nevertheless, and that no secret of the command line is shown.
func TestChartSourceFaults(t *testing.T) {
	t.Parallel()
	s := startChartServer(t)
	c := driftedCase(t)
	c.nameRepository(t, s)
	must(t, os.WriteFile(filepath.Join(c.dir, "secret.yaml"), []byte("password: "+canary+"\nbroken: {"+canary+": 1}\n"), 0o600))
	traversal := filepath.Join(c.dir, "traversal.tgz")
	must(t, packTraversal(traversal))
	oci := "oci://" + s.image()
	for _, test := range []struct {
		name    string
		args    []string
		trouble sourceFault
		// say lists words that the error must contain.
		say []string
	}{
		{"registry: wrong digest", []string{oci, "--version", "1.2.0", "--plain-http"}, corruptBlobs, []string{"charts/web", "digest"}},
		{"registry: 401", []string{oci, "--version", "1.2.0", "--plain-http"}, respondWith(401, "/v2/"), []string{"charts/web", "401"}},
		{"registry: 403", []string{oci, "--plain-http"}, respondWith(403, "/v2/"), []string{"charts/web", "403"}},
		{"registry: no TLS", []string{oci, "--version", "1.2.0"}, nil, []string{"charts/web", "without TLS", "--plain-http"}},
		{"registry: no such tag", []string{oci, "--version", "9.9.9", "--plain-http"}, nil, []string{"charts/web", "9.9.9"}},
		{"registry: no such chart", []string{oci + "-missing", "--version", "1.2.0", "--plain-http"}, nil, []string{"web-missing", "not found"}},
		{"registry: no answer", []string{oci, "--version", "1.2.0", "--plain-http", "--render-timeout", "1s"}, neverRespond("/v2/"), []string{"1s"}},
		{"registry: broken", []string{oci, "--version", "1.2.0", "--plain-http", "--render-timeout", "3s"}, respondWith(500, "/v2/"), nil},
		{"repository: 401", []string{"web", "--repo", s.URL + "/repo"}, respondWith(401, "/index.yaml"), []string{"repository", "401"}},
		{"repository: 404", []string{"web", "--repo", s.URL + "/none"}, nil, []string{"/none", "404"}},
		{"repository: no such chart", []string{"missing", "--repo", s.URL + "/repo"}, nil, []string{"/repo", "no chart missing"}},
		{"repository: no such version", []string{"web", "--repo", s.URL + "/repo", "--version", "9.9.9"}, nil, []string{"/repo", "web", "9.9.9"}},
		{"repository: no answer", []string{"web", "--repo", s.URL + "/repo", "--render-timeout", "1s"}, neverRespond("/index.yaml"), []string{"1s"}},
		{"repository: chart gone", []string{"web", "--repo", s.URL + "/repo"}, respondWith(404, ".tgz"), []string{"web-1.2.0.tgz", "404"}},
		{"repository: chart hangs", []string{"shop/web", "--render-timeout", "1s"}, neverRespond(".tgz"), []string{"1s"}},
		{"repository: no provenance", []string{"shop/web", "--verify"}, nil, []string{".prov"}},
		{"url: not a chart", []string{s.URL + "/repo/index.yaml"}, nil, []string{"index.yaml"}},
		{"archive: path traversal", []string{traversal}, nil, []string{"traversal.tgz"}},
		{"values: broken expression", []string{oci, "--version", "1.2.0", "--plain-http", "--set", "a[" + canary + "=1"}, nil, []string{"--set"}},
		{"values: broken JSON", []string{oci, "--version", "1.2.0", "--plain-http", "--set-json", "a={" + canary}, nil, []string{"--set-json"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.withFault(test.trouble, func() { c.checkSourceFault(t, test.args, test.say) })
		})
	}
	// What is mistyped fails before anything is compared.
	for word, args := range map[string][]string{
		"repo nobody not found": {"nobody/web"},
		"missing-values.yaml":   {oci, "--version", "1.2.0", "--plain-http", "-f", "missing-values.yaml"},
	} {
		out, err := c.binary(append([]string{"diff", c.release, "--set", "password=" + canary}, args...)...)
		must(t, err)
		if out.exit != 1 || out.stdout != "" || !strings.Contains(out.stderr, word) || strings.Contains(out.stderr, canary) {
			t.Errorf("%v: exit %d\n%s%s", args, out.exit, out.stdout, out.stderr)
		}
	}
	if exists(filepath.Join(filepath.Dir(c.dir), "escaped.yaml")) {
		t.Error("the archive wrote outside of its folder")
	}
}

// checkSourceFault runs a diff that cannot get its chart, with JSON and with text output.
func (c *Case) checkSourceFault(t *testing.T, args, wantWords []string) {
	t.Helper()
	all := append([]string{c.release}, args...)
	all = append(all, "--username", "somebody", "--password", canary, "--set", "password="+canary, "-f", "secret.yaml")
	out, err := c.diff(all...)
	must(t, err)
	want(t, out, 1, `error render
Deployment web: update drifted
  overwrite/drift spec.replicas old=2 desired=2 live=5 by:kubectl(scale)`)
	errorText := out.report.Releases[0].Errors[0].Message
	t.Log(errorText)
	for _, word := range wantWords {
		if !strings.Contains(errorText, word) {
			t.Errorf("%q is not in: %s", word, errorText)
		}
	}
	text, err := c.binary(append([]string{"diff", "-o", "text", "--debug"}, all...)...)
	must(t, err)
	if text.exit != 1 || !strings.Contains(text.stdout, "replicas") {
		t.Errorf("exit %d\n%s%s", text.exit, text.stdout, text.stderr)
	}
	outputs := out.stdout + out.stderr + text.stdout + text.stderr
	if strings.Contains(outputs, canary) {
		t.Errorf("a secret is shown:\n%s", outputs)
	}
}
