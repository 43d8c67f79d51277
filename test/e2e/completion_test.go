package e2e

import (
	"context"
	"strings"
	"testing"
)

// TestCompletion completes what only the cluster and the kubeconfig know, as the scripts for the shells ask for it.
func TestCompletion(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	must(t, c.helm(false, "upgrade", "web"))
	for _, object := range []string{
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: shop}, spec: {project: default}}",
		"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: front}, spec: {interval: 1m}}",
	} {
		must(t, c.cluster.create(context.Background(), object, c.storage, "test"))
	}
	c.env["KUBECONFIG"], c.env["HELM_NAMESPACE"] = c.proxy.kubeconfig, c.storage
	c.proxy.kubeconfig = "" // so that no flag follows the word that is completed
	for _, test := range []struct {
		args, want string
	}{
		{"diff", c.release + "\trevision 2, deployed"},
		{"list", c.release + "\trevision 2, deployed"},
		{"diff " + c.release + " --revision", "2\tdeployed\n1\tsuperseded"},
		{"diff " + c.release + " --to-revision", "2\tdeployed\n1\tsuperseded"},
		{"fix " + c.release + " --only", "Deployment/web"},
		{"fix " + c.release + " --skip", "Deployment/web"},
		{"diff no-such-release --revision", ""},
		{"diff --revision", ""},
		{"diff -n", c.ns},
		{"diff --kube-context", "test\ttest"},
		{"diff --contexts", "test\ttest"},
		{"diff --kubeconfig /nowhere -n", ""},
		{"diff app/", "app/shop"},
		{"absorb application/", "application/shop"},
		{"diff hr/", "hr/front"},
	} {
		args := append([]string{"__complete"}, strings.Fields(test.args)...)
		if !strings.HasSuffix(test.args, "/") {
			args = append(args, "")
		}
		out, err := c.binary(args...)
		must(t, err)
		if words, _, found := strings.Cut(out.stdout, ":"); !found || !strings.Contains("\n"+words, "\n"+test.want) || test.want == "" && words != "" {
			t.Errorf("%s completes to\n%s\nwant\n%s", test.args, out.stdout, test.want)
		}
	}
}
